#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times semi-joins of a large and a small table in DuckDB, with lanebloom's extension and without.

    bench/sql.py [-n ROWS] [-r ROUNDS] [-t THREADS] EXTENSION FOLDER

Prints nanoseconds per row, the best of several rounds that alternate. FOLDER receives the tables,
unless an earlier run wrote them. A tenth of the small table's keys are in the large one. The rows
of the large table whose key is in the small one are counted in these ways:

scan           only reads the column
may_contain    probes the filter: also counts 1 % of the other rows
then join      probes the filter and joins the remaining rows; the count is exact
semi join      DuckDB's own join, which can send nothing to the scan
pushdown       DuckDB's own join, which sends what it knows of the small table to the scan"""

import argparse
import os
import sys
import time

import duckdb

COLUMNS = {"BIGINT": "n", "VARCHAR": "k"}
SCAN = {"n": "n & 1 = 5", "k": "strlen(k) = 0"}  # conditions that no row meets
SIZES = {"100 k": 100_000, "10 M": 10_000_000}


def connect(path, extension, nthreads):
    settings = {"allow_unsigned_extensions": "true", "threads": str(nthreads)}
    db = duckdb.connect(path, config=settings)
    db.execute(f"LOAD '{extension}'")
    return db


def make_tables(db, nrows):
    key = "hash({})::HUGEINT - 9223372036854775808"
    done = {row[0] for row in db.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    for name, n in {"t": nrows, **{f"s{n}": n for n in SIZES.values()}}.items():
        if name in done:
            continue
        # In a small table, every tenth number is also in the large one.
        i = "i" if name == "t" else f"if(i % 10 = 0, i * {max(nrows // n, 1)}, -1 - i)"
        db.execute(
            f"CREATE TABLE {name} AS SELECT ({key.format(i)})::BIGINT AS n, "
            f"right(printf('%016x', hash({i})), 12) AS k, i FROM range({n}) r(i)"
        )
    db.execute("CHECKPOINT")


def ways(column, table):
    """Returns the queries to time. In the last one, DuckDB cannot foresee which rows of the small
    table meet the condition, so it filters the scan by the keys that it finds in this table."""
    maybe = f"SELECT {column} FROM t WHERE lanebloom_may_contain('f', {column})"
    filtered = f"(SELECT {column} FROM {table} WHERE i >= 0 AND i % 1000003 <> 7)"
    return {
        "scan": f"SELECT count(*) FROM t WHERE {SCAN[column]}",
        "may_contain": f"SELECT count(*) FROM t WHERE lanebloom_may_contain('f', {column})",
        "then join": f"SELECT count(*) FROM ({maybe}) SEMI JOIN {table} USING ({column})",
        "semi join": f"SELECT count(*) FROM t SEMI JOIN {table} USING ({column})",
        "pushdown": f"SELECT count(*) FROM t SEMI JOIN {filtered} USING ({column})",
    }


def measure(db, nrows, nrounds, type_, size):
    column, table = COLUMNS[type_], f"s{SIZES[size]}"
    built = f"lanebloom_build({column}, 10, {SIZES[size]})"
    db.execute(f"SELECT lanebloom_register('f', {built}) FROM {table}")
    timed = {name: [] for name in ways(column, table)}
    counts = {}
    for _ in range(nrounds):
        for name, sql in ways(column, table).items():
            begin = time.perf_counter()
            counts[name] = db.execute(sql).fetchone()[0]
            timed[name].append(time.perf_counter() - begin)
    assert counts["then join"] == counts["semi join"] <= counts["may_contain"], counts
    return {name: min(seconds) / nrows * 1e9 for name, seconds in timed.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=float, default=5e7, help="rows of the large table (5e7)")
    parser.add_argument("-r", type=int, default=3, help="rounds; the best counts (3)")
    parser.add_argument("-t", type=int, nargs="*", default=[1, 2], help="threads (1 2)")
    parser.add_argument("extension")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    nrows = int(arguments.n)
    path = os.path.join(arguments.folder, f"bench-{duckdb.__version__}-{nrows}.duckdb")
    print(f"DuckDB {duckdb.__version__}, {nrows} rows, ns per row")
    names = list(ways("n", "s"))
    ratios = ["semi / may", "semi / exact", "push / exact"]
    print("| " + " | ".join(["column", "keys", "threads", *names, *ratios]) + " |")
    print("|---" * (len(names) + 6) + "|")
    for nthreads in arguments.t:
        db = connect(path, arguments.extension, nthreads)
        make_tables(db, nrows)
        for type_ in COLUMNS:
            for size in SIZES:
                spent = measure(db, nrows, arguments.r, type_, size)
                cells = [f"{spent[name]:.1f}" for name in names]
                ratios = [
                    spent["semi join"] / spent["may_contain"],
                    spent["semi join"] / spent["then join"],
                    spent["pushdown"] / spent["then join"],
                ]
                cells += [f"{ratio:.2f}" for ratio in ratios]
                print("| " + " | ".join([type_, size, str(nthreads), *cells]) + " |", flush=True)
        db.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
