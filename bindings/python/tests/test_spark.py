# SPDX-License-Identifier: MIT
"""Tests lanebloom.spark on two executors, which are processes of this machine."""

import os
import pathlib
import shutil
import signal

import numpy as np
import pyarrow as pa
import pytest
from conftest import need
from test_forms import PARTS, container

import lanebloom
from lanebloom import Filter

pytestmark = pytest.mark.skipif(not shutil.which("java"), reason="no java runs here")

N = 100_000


@pytest.fixture(scope="module")
def spark():
    need("pyspark")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "Europe/Vienna")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def processes(name):
    """Finds processes whose command line has this name."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if name in (folder / "cmdline").read_text():
                yield int(folder.name)
        except OSError:
            pass  # the process has ended


def keys_of(df):
    return df.toArrow().column(0)


@pytest.mark.parametrize(
    "key, arguments",
    [
        ("id", {}),
        ("int(id)", {"rate": 0.01}),
        ("smallint(id % 1000)", {}),
        ("string(id)", {"bits_per_key": 15}),
        ("binary(string(id))", {"format": "leveldb"}),
        ("double(id)", {"format": "rocksdb-legacy", "bits_per_key": 9.8765}),
        ("cast(id as decimal(20, 0))", {"bits_per_key": 200}),
        ("date_add(date'1969-01-01', int(id))", {"format": "parquet"}),
        ("timestamp_seconds(id)", {"format": "spark-v1"}),
        ("cast(timestamp_seconds(id) as timestamp_ntz)", {}),
        ("if(id % 3 = 0, null, id)", {"format": "spark-v2"}),
        ("id", {"format": "cassandra", "rate": 0.001}),
        ("string(id)", {"format": "guava-64", "rate": 0.03}),
        ("if(id < 60000, null, id)", {}),
    ],
)
def test_build_is_the_filter_of_all_rows(spark, key, arguments):
    import lanebloom.spark

    df = spark.range(0, N, 1, 8).selectExpr(f"{key} as key")
    keys = keys_of(df)
    nkeys = len(keys) - keys.null_count
    at_once = Filter.build(keys, expected=nkeys, **arguments)
    assert lanebloom.spark.build(df, "key", expected=nkeys, **arguments) == at_once
    assert lanebloom.spark.build(df, "key", **arguments).to_bytes() == at_once.to_bytes()


def test_build_of_no_keys(spark):
    import lanebloom.spark

    nulls = spark.range(100).selectExpr("cast(null as string) as key")
    assert lanebloom.spark.build(nulls, "key") == Filter.build([])
    sized = lanebloom.spark.build(nulls.where("false"), "key", expected=1000)
    assert sized.info.nkeys == 0 and sized.form == "bytes" and sized.count(["a", "b"]) == 0
    one = lanebloom.spark.build(spark.range(1), "id", expected=1000)
    assert one == Filter.build(np.array([0]), expected=1000)


def test_build_in_many_slices_and_many_partitions(spark):
    import lanebloom.spark

    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    at_once = Filter.build(np.arange(N), expected=N)
    for value in "1000000", "13", "0":
        spark.conf.set(name, value)
        assert lanebloom.spark.build(spark.range(0, N, 1, 40), "id", expected=N) == at_once
    spark.conf.unset(name)


@pytest.mark.parametrize("invert", [False, True])
def test_screen_keeps_the_rows_that_the_filter_keeps(spark, invert, tmp_path):
    import lanebloom.spark

    df = spark.range(0, N, 1, 5).selectExpr(
        "id", "if(id % 7 = 0, null, concat('user-', id)) as user", "array(id) as `an array`"
    )
    table = df.toArrow()
    seen = Filter.build([f"user-{i}" for i in range(0, N, 10)])
    seen.save(tmp_path / "seen.lbf")
    expected = table.filter(pa.array(seen.screen(table["user"]) != invert))
    assert 0 < expected.num_rows < N
    for filter in seen, tmp_path / "seen.lbf":
        found = lanebloom.spark.screen(df, "user", filter, invert=invert)
        assert found.schema == df.schema
        assert found.orderBy("id").toArrow().equals(expected)


def test_screen_sends_a_filter_once(spark):
    import lanebloom.spark

    df, seen = spark.range(10), Filter.build([3, 4])
    before = len(spark.sparkContext.listFiles)
    for filter in seen, Filter.parse(seen.to_bytes()), seen:
        assert [row.id for row in lanebloom.spark.screen(df, "id", filter).collect()] == [3, 4]
    assert len(spark.sparkContext.listFiles) == before + 1


def test_screen_takes_filters_of_spark(spark):
    import lanebloom.spark

    df = spark.range(0, 3000, 3)
    filter = df._jdf.stat().bloomFilter("id", 1000, 0.01)
    stream = spark._jvm.java.io.ByteArrayOutputStream()
    filter.writeTo(stream)
    written = bytes(stream.toByteArray())
    version = int.from_bytes(written[:4], "big")
    seen = Filter.parse_raw(written, f"spark-v{version}", form="int64")
    left = lanebloom.spark.screen(spark.range(3000), "id", seen).toArrow()["id"].to_pylist()
    assert left == [i for i in range(3000) if filter.mightContainLong(i)]
    assert 1000 < len(left) < 1100


def test_what_cannot_be_done_is_said_at_the_driver(spark, tmp_path):
    import lanebloom.spark

    df = spark.range(10).selectExpr("id", "array(id) as list", "string(id) as `a.b`")
    numbers = Filter.build(np.arange(3))
    with pytest.raises(ValueError, match="column: expected one of id, list, a.b; found 'key'"):
        lanebloom.spark.build(df, "key")
    with pytest.raises(ValueError, match="column: expected one of id, list, a.b; found 'key'"):
        lanebloom.spark.screen(df, "key", numbers)
    with pytest.raises(TypeError, match="found list"):
        lanebloom.spark.build(df, "list")
    with pytest.raises(TypeError, match="keys of the filter: int64; the array has text"):
        lanebloom.spark.screen(df, "a.b", numbers)
    for form in PARTS:
        with pytest.raises(TypeError, match=f"{form}, but keys of arrays are not changed"):
            lanebloom.spark.screen(df, "a.b", Filter.parse(container(form)))
    with pytest.raises(ValueError, match="rate: expected a number between 0 and 1"):
        lanebloom.spark.build(df, "id", rate=2)
    with pytest.raises(ValueError, match="rocksdb-ribbon can be read but not built"):
        lanebloom.spark.build(df, "id", format="rocksdb-ribbon")
    for rows in df, df.where("false"):
        with pytest.raises(ValueError, match="bitwise or, found 'dcso', which also counts"):
            lanebloom.spark.build(rows, "id", format="dcso")
    with pytest.raises(ValueError, match="expected: expected at least 1 key, found 0"):
        lanebloom.spark.build(df, "id", expected=0)
    with pytest.raises(FileNotFoundError):
        lanebloom.spark.screen(df, "id", tmp_path / "none.lbf")


def test_columns_may_have_any_names(spark):
    import lanebloom.spark

    df = spark.range(10).selectExpr("id as `a.b`", "string(id) as `a``b`", "1 as c", "2 as c")
    assert lanebloom.spark.build(df, "a.b") == Filter.build(np.arange(10))
    left = lanebloom.spark.screen(df, "a`b", Filter.build(["7"]))
    assert [tuple(row) for row in left.collect()] == [(7, "7", 1, 2)]
    with pytest.raises(ValueError, match="found 'c'"):
        lanebloom.spark.build(df, "c")


# ---- Executors that are killed ----


def kill_the_executor(once):
    """Makes a step that ends its executor in the middle of a partition, but only once."""

    def step(batches):
        for i, batch in enumerate(batches):
            if i == 1 and batch.column(0)[0].as_py() > N // 2:
                try:
                    os.close(os.open(once, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    stat = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text()
                    os.kill(int(stat.rsplit(")")[-1].split()[1]), signal.SIGKILL)
            yield batch

    return step


def test_build_and_screen_where_an_executor_is_killed(spark, tmp_path):
    import lanebloom.spark

    def rows(once):
        df = spark.range(0, 2 * N, 1, 8)
        return df.mapInArrow(kill_the_executor(once), df.schema)

    seen = Filter.build(np.arange(0, 2 * N), expected=2 * N)
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    assert lanebloom.spark.build(rows(first), "id", expected=2 * N) == seen
    assert os.path.exists(first)
    some = Filter.build(np.arange(0, 2 * N, 9))
    found = lanebloom.spark.screen(rows(second), "id", some).orderBy("id").toArrow()
    assert os.path.exists(second)
    assert found["id"].to_pylist() == some.select(np.arange(2 * N)).tolist()


def test_build_where_executors_lose_what_they_united(spark, monkeypatch):
    import lanebloom.spark
    from pyspark.sql.classic.dataframe import DataFrame

    application = spark.sparkContext.applicationId
    to_local_iterator = DataFrame.toLocalIterator
    killed = []

    def kill_them_first(self, **named):
        for pid in processes("CoarseGrainedExecutorBackend"):
            if application in pathlib.Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        return to_local_iterator(self, **named)

    monkeypatch.setattr(DataFrame, "toLocalIterator", kill_them_first)
    made = lanebloom.spark.build(spark.range(0, N, 1, 8), "id", expected=N)
    assert len(killed) == 2 and made == Filter.build(np.arange(N), expected=N)
