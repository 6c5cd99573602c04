# SPDX-License-Identifier: MIT
"""Tests databases and Parquet files. DATABASES: a program in which real engines write databases."""

import datetime
import os
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_changing import make

import lanebloom

DATABASES = os.environ.get("DATABASES")


@pytest.mark.skipif(not DATABASES, reason="DATABASES does not name the program that writes them")
@pytest.mark.parametrize("engine", ["leveldb", "rocksdb"])
def test_databases(tmp_path, engine):
    folder = tmp_path / engine
    writer = subprocess.Popen(
        [DATABASES, "write", engine, folder], stdout=subprocess.PIPE, text=True
    )
    keys = [writer.stdout.readline().strip() for _ in range(20000)]
    writer.kill()
    writer.communicate()
    database = lanebloom.Database(folder)
    assert database.screen(keys).all()
    assert database.screen(pa.array(keys, pa.string_view())).all()
    assert database.screen(pa.array(keys).dictionary_encode()).all()
    absent = [f"x{key}" for key in keys]
    assert database.screen(absent).mean() < 0.05
    assert database.screen([keys[0], None, "x"]).tolist() == [True, False, False]
    assert engine in repr(database)
    with pytest.raises(TypeError, match="keys of the database: bytes; the array has int64"):
        database.screen([1])


def test_what_is_no_database(tmp_path):
    with pytest.raises(FileNotFoundError):
        lanebloom.Database(tmp_path / "none")
    with pytest.raises((OSError, lanebloom.Error)):
        lanebloom.Database(tmp_path)
    with pytest.raises(ValueError, match="writer"):
        lanebloom.Database(tmp_path, writer="me")


def test_errors_of_databases_name_the_file(tmp_path):
    missing, damaged, log = (tmp_path / name for name in ["missing", "damaged", "log"])
    for folder in missing, damaged, log:
        make(folder)
    (damaged / "000005.ldb").write_bytes(bytes(100))
    (log / "000003.log").mkdir()
    for folder, exception, says in [
        (missing, FileNotFoundError, "000005.ldb: expected a table of the database, found none"),
        (damaged, lanebloom.Error, "000005.ldb: not a table"),
        (log, lanebloom.Error, "000003.log: expected a regular file"),
    ]:
        with pytest.raises(exception) as error:
            lanebloom.Database(folder)
        assert says in str(error.value)
        assert str(error.value).count(str(folder)) == 1, error.value
        assert exception is not FileNotFoundError or error.value.filename == str(folder)


def test_a_warning_of_a_damaged_log_names_the_file(tmp_path):
    make(tmp_path / "db", 0)
    (tmp_path / "db" / "000003.log").write_bytes(b"sums" + bytes([10, 0, 1]) + bytes(10))
    with pytest.warns(RuntimeWarning) as warned:
        lanebloom.Database(tmp_path / "db")
    message = str(warned[0].message)
    assert message.startswith(f"{tmp_path}/db/000003.log: damaged at 0: ")
    assert message.count(str(tmp_path)) == 1 and message.endswith("; keys may be missing")


def write(path, values, type_=None, column="id", **options):
    filters = {"bloom_filter_options": {column: {"ndv": 1000, "fpp": 0.001}}, **options}
    if "bloom_filter_options" not in pq.write_table.__doc__:
        pytest.skip("this pyarrow writes no Bloom filters")
    pq.write_table(pa.table({column: pa.array(values, type_)}), path, row_group_size=500, **filters)


def test_parquet(tmp_path):
    # The keys of the files are interleaved, so the bounds of each file include all keys. Only
    # filters distinguish the files.
    paths = [tmp_path / f"{i}.parquet" for i in range(8)]
    for i, path in enumerate(paths):
        write(path, np.arange(i, 8000, 8))
    assert lanebloom.parquet.prune(paths, "id", [16, 17]) == [paths[0], paths[1]]
    found = lanebloom.parquet.row_groups(paths, "id", [16, 7999])
    assert found == [(paths[0], [0]), (paths[7], [1])]
    assert lanebloom.parquet.prune(iter(paths), "id", iter([16, None])) == [paths[0]]
    assert lanebloom.parquet.prune(paths[3], "id", np.array([3, 9000])) == [paths[3]]
    assert lanebloom.parquet.prune(paths, "id", []) == []
    with pytest.raises(TypeError, match='keys of the column "id": int64; the array has int32'):
        lanebloom.parquet.prune(paths, "id", np.array([1], dtype="int32"))
    with pytest.raises(TypeError, match="int64; the array has bytes"):
        lanebloom.parquet.prune(paths, "id", ["1"])
    with pytest.raises(ValueError, match="no column|column"):
        lanebloom.parquet.prune(paths, "none", [1])
    with pytest.raises(FileNotFoundError):
        lanebloom.parquet.prune(tmp_path / "none", "id", [1])
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(lanebloom.Error, match="bad: "):
        lanebloom.parquet.prune(tmp_path / "bad", "id", [1])


def test_parquet_bounds(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"id": [1, 3]}), path)

    def may_have(key, **bounds):
        groups = lanebloom.parquet.row_groups(path, "id", [key], **bounds)
        files = lanebloom.parquet.prune(path, "id", [key], **bounds)
        assert groups in ([], [(path, [0])]) and files == [path for path, _ in groups]
        return bool(groups)

    for bounds in "known", "all", "none":
        assert may_have(3, bounds=bounds)
    assert not may_have(4) and not may_have(4, bounds="known") and not may_have(4, bounds="all")
    assert may_have(4, bounds="none")
    path.write_bytes(path.read_bytes().replace(b"parquet-cpp-arrow", b"parquet-cpp-other"))
    assert may_have(4) and may_have(4, bounds="known") and may_have(4, bounds="none")
    assert not may_have(4, bounds="all")
    for call in lanebloom.parquet.row_groups, lanebloom.parquet.prune:
        with pytest.raises(ValueError, match="expected 'known', 'all' or 'none', found 'some'"):
            call(path, "id", [1], bounds="some")


def test_parquet_types(tmp_path):
    path = tmp_path / "types.parquet"
    for values, type_, absent in [
        (["a", "b"], pa.string(), "ab"),
        ([b"a", b"c"], pa.binary(), b"b"),
        ([1, 3], pa.int8(), 2),
        ([1, 3], pa.uint32(), 2),
        ([1.5, 3.5], pa.float64(), 2.5),
        ([1, 3], pa.timestamp("us"), 2),
    ]:
        write(path, values, type_)
        assert lanebloom.parquet.prune(path, "id", pa.array(values, type_)) == [path]
        assert lanebloom.parquet.prune(path, "id", pa.array([absent], type_)) == []


def test_parquet_int96(tmp_path):
    """Some years do not fit in 64 bits as nanoseconds, but all fit in the other units."""
    path = tmp_path / "int96.parquet"
    years = [1, 1582, 1677, 1969, 2262, 2263, 9999]
    times = [datetime.datetime(year, 12, 31, 1, 2, 3) for year in years]
    write(path, times, pa.timestamp("us"), use_deprecated_int96_timestamps=True)
    for unit in "s", "ms", "us":
        for time in times:
            there = pa.array([time], pa.timestamp(unit))
            absent = pa.array([time.replace(second=4)], pa.timestamp(unit))
            assert lanebloom.parquet.prune(path, "id", there) == [path]
            assert lanebloom.parquet.prune(path, "id", absent) == []
            assert lanebloom.parquet.prune(path, "id", np.array([time], f"M8[{unit}]")) == [path]
    near = pa.array([times[3], None], pa.timestamp("ns"))
    assert lanebloom.parquet.prune(path, "id", near) == [path]
    with pytest.raises(ValueError, match="key 1: expected a value that a column of type timestamp"):
        lanebloom.parquet.prune(path, "id", pa.array([0, 2**62], pa.timestamp("s")))
    with pytest.raises(TypeError, match="timestamp-ns; the array has int64"):
        lanebloom.parquet.prune(path, "id", [0])
    with pytest.raises(TypeError, match="found <class 'datetime.datetime'>"):
        lanebloom.parquet.prune(path, "id", times)


def test_bare_bytes_of_which_all_is_said_are_the_filter():
    f = lanebloom.Filter.build(["a", "b"], 12.5)
    raw = bytes(f.bytes)
    said = lanebloom.Filter.parse_raw(raw, "rocksdb", nkeys=2, bits_per_key=12.5)
    assert said.to_bytes() == f.to_bytes()
    assert lanebloom.Filter.parse_raw(raw, "rocksdb").info.nkeys is None
    empty = lanebloom.Filter.build([], 0, format="leveldb", form="int64")
    said = lanebloom.Filter.parse_raw(empty.bytes, "leveldb", form="int64", nkeys=0, bits_per_key=0)
    assert said == empty and said.to_bytes() == empty.to_bytes() and said.info.nkeys == 0
    assert lanebloom.Filter.parse(empty.to_bytes(), form="int64") == empty
    with pytest.raises(ValueError, match="bits per key: expected 0 to 2147483647, found -1"):
        lanebloom.Filter.parse_raw(raw, "rocksdb", bits_per_key=-1)
    with pytest.raises(ValueError, match="nkeys: expected a whole number, found 0.5"):
        lanebloom.Filter.parse_raw(raw, "rocksdb", nkeys=0.5)
