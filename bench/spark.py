#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times filters and semi-joins on Apache Spark, by lanebloom.spark and by Spark's own joins.

    bench/spark.py [-n ROWS] [-r ROUNDS] [-m MASTER] [-b ROWS] FOLDER

Builds a filter in many partitions, and selects the rows of a large table whose key a small table
has. FOLDER receives the tables as Parquet files, unless an earlier run wrote them. Needs lanebloom,
pyspark and Java. The two executors are processes of this machine. Prints seconds."""

import argparse
import os
import sys
import time

import numpy as np
from pyspark.sql import SparkSession

import lanebloom
import lanebloom.spark

NPARTITIONS = 8
RUNTIME_FILTER = "spark.sql.optimizer.runtime.bloomFilter."


def timed(function):
    begin = time.perf_counter()
    result = function()
    return time.perf_counter() - begin, result


def table(spark, folder, n, step):
    """Makes a table with a random key for each multiple of step below n."""
    path = os.path.join(folder, f"{n}-{step}")
    if not os.path.exists(os.path.join(path, "_SUCCESS")):
        keys = spark.range(0, n, step, NPARTITIONS).selectExpr("xxhash64(id) key", "id value")
        keys.write.mode("overwrite").parquet(path)
    return spark.read.parquet(path)


def build(spark, n):
    lanebloom.spark.build(spark.range(0, 1000, 1, NPARTITIONS), "id")  # once, to start everything
    spent, made = timed(
        lambda: lanebloom.spark.build(spark.range(0, n, 1, NPARTITIONS), "id", expected=n)
    )
    builder = lanebloom.Builder(expected=n)
    for start in range(0, n, 1 << 20):
        builder.add(np.arange(start, min(start + (1 << 20), n)))
    is_same = made.to_bytes() == builder.finish().to_bytes()
    print(f"build: {n} keys in {NPARTITIONS} partitions: {spent:.1f} s, equal: {is_same}")
    return is_same


def semi_join(rows, keys):
    return rows.join(keys.where("value >= 0"), "key", "left_semi").count()


def with_runtime_filter(spark, rows, keys):
    """Runs semi_join() with Spark's own runtime filter, of the largest size. Returns None if Spark
    made no filter, for example because it broadcasts the keys when they are few."""
    settings = {
        "enabled": "true",
        "applicationSideScanSizeThreshold": "0",
        "creationSideThreshold": "1GB",
        "expectedNumItems": "4000000",
        "maxNumItems": "4000000",
        "maxNumBits": "67108864",
    }
    for name, value in settings.items():
        spark.conf.set(RUNTIME_FILTER + name, value)
    joined = rows.join(keys.where("value >= 0"), "key", "left_semi")
    plan = joined._jdf.queryExecution().optimizedPlan().toString()
    n = joined.count() if "might_contain" in plan else None
    for name in settings:
        spark.conf.unset(RUNTIME_FILTER + name)
    spark.conf.set(RUNTIME_FILTER + "enabled", "false")
    return n


def screen(spark, rows, keys, nkeys, rounds):
    spark.conf.set(RUNTIME_FILTER + "enabled", "false")
    ways = {
        "build": lambda: lanebloom.spark.build(keys, "key", expected=nkeys),
        "screen": lambda: lanebloom.spark.screen(rows, "key", made).count(),
        "screen, then left semi join": lambda: semi_join(
            lanebloom.spark.screen(rows, "key", made), keys
        ),
        "left semi join": lambda: semi_join(rows, keys),
        "left semi join, runtime filter": lambda: with_runtime_filter(spark, rows, keys),
    }
    made = ways["build"]()
    spent = {name: [] for name in ways}
    left = {}
    for _ in range(rounds):
        for name, way in ways.items():
            seconds, left[name] = timed(way)
            spent[name].append(seconds)
    for name, seconds in spent.items():
        n = "" if name == "build" else f"  {left[name]} rows"
        print(f"{name:31} {min(seconds):6.1f} s{n}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=float, default=1e8, help="rows and keys (1e8)")
    parser.add_argument("-r", type=int, default=2, help="rounds; the best counts (2)")
    parser.add_argument("-m", default="local-cluster[2,1,1024]", help="Spark's master")
    parser.add_argument("-b", default="100000", help="rows per batch of Arrow (100000)")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": arguments.b,
    }
    spark = SparkSession.builder.master(arguments.m).config(map=settings).getOrCreate()
    n, folder = int(arguments.n), os.path.abspath(arguments.folder)
    is_same = build(spark, n)
    rows = table(spark, folder, n, 1)
    for step in 100, 10:
        keys = table(spark, folder, n, step)
        print(f"{n} rows, {n // step} keys")
        screen(spark, rows, keys, n // step, arguments.r)
    spark.stop()
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
