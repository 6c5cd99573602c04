# SPDX-License-Identifier: MIT
"""Files: lanebloom_load(), lanebloom_tables(), lanebloom_parquet(), and when they stay closed."""

import os
import subprocess

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ASKS, DATABASES, EXTENSION, connect, one, refused

from lanebloom import Filter


def test_load(db, tmp_path):
    path = tmp_path / "it's here.lbf"
    f = Filter.build(np.arange(100000))
    f.save(path)
    quoted = str(path).replace("'", "''")
    row = db.execute(f"CALL lanebloom_load('seen', '{quoted}')").fetchall()
    assert row == [("seen", "int64", len(f.bytes))]
    assert db.execute(f"FROM lanebloom_load('seen', '{quoted}')").fetchall() == row
    count = "SELECT count(*) FROM range(100000) t(k) WHERE lanebloom_may_contain('seen', k)"
    assert one(db, count) == 100000
    assert one(db, "SELECT path FROM lanebloom_filters()") == str(path)
    db.execute(f"SELECT lanebloom_register('read', content) FROM read_blob('{quoted}')")
    assert one(db, count.replace("seen", "read")) == 100000

    missing = str(tmp_path / "missing")
    refused(db, f"CALL lanebloom_load('x', '{missing}')", f"{missing}: No such file or directory")
    refused(db, "CALL lanebloom_load('x', NULL)", "lanebloom_load: expected a text, found NULL")
    other = tmp_path / "other"
    other.write_bytes(b"some other file, which is not a container")
    refused(db, f"CALL lanebloom_load('x', '{other}')", f"{other}: not a lanebloom container")
    assert one(db, "SELECT count(*) FROM lanebloom_filters() WHERE name = 'x'") == 0


def test_a_file_that_is_replaced(db, tmp_path):
    """The one that was loaded stays as it was."""
    path = tmp_path / "f.lbf"
    Filter.build(np.arange(10)).save(path)
    db.execute(f"CALL lanebloom_load('f', '{path}')")
    Filter.build(np.arange(10, 20)).save(path)
    first = "SELECT bool_and(lanebloom_may_contain('f', k)) FROM range(10) t(k)"
    assert one(db, first) is True
    db.execute(f"CALL lanebloom_load('f', '{path}')")
    assert one(db, first) is False


FILES = [
    "CALL lanebloom_load('f', '{}/f.lbf')",
    "FROM lanebloom_tables('{}')",
    "FROM lanebloom_parquet('{}/*.parquet')",
]


@pytest.mark.parametrize("sql", FILES)
def test_external_access(open_db, tmp_path, sql):
    """Prepared before or after: it is the setting while a query runs that counts."""
    Filter.build(np.arange(10)).save(tmp_path / "f.lbf")
    pq.write_table(pa.table({"k": [1]}), tmp_path / "k.parquet")
    sql = sql.format(tmp_path)
    if not ASKS:
        refused(open_db, sql, "this DuckDB does not say whether files may be opened")
        open_db.execute(
            f"SELECT lanebloom_register('f', content) FROM read_blob('{tmp_path}/f.lbf')"
        )
    elif "tables" in sql:
        refused(open_db, sql, "expected a database of LevelDB, RocksDB or Pebble")
    else:
        open_db.execute(f"PREPARE before AS {sql.replace('CALL', 'FROM', 1)}")
        assert open_db.execute("EXECUTE before").fetchall()
        assert open_db.execute(sql).fetchall()
    open_db.execute("SET enable_external_access = false")
    says = "enable_external_access is false" if ASKS else "does not say whether files may be"
    refused(open_db, sql, says)
    if ASKS and "tables" not in sql:
        refused(open_db, "EXECUTE before", says)


def test_settings_that_are_not_locked(tmp_path):
    """From 1.5 on, some can be left open."""
    if not ASKS:
        pytest.skip("this DuckDB has no allowed_configs")
    Filter.build(np.arange(10)).save(tmp_path / "f.lbf")
    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    db.execute("SET allowed_configs = ['enable_external_access']")
    db.execute("SET lock_configuration = true")
    db.execute(f"LOAD '{EXTENSION}'")
    db.execute("SET enable_external_access = false")
    load = f"CALL lanebloom_load('f', '{tmp_path}/f.lbf')"
    refused(db, load, "enable_external_access is false")
    db.close()


def test_locked_settings(db, tmp_path):
    """They cannot be changed any more, so files may be opened, whichever DuckDB it is."""
    with pytest.raises(duckdb.Error):
        db.execute("SET enable_external_access = false")
    Filter.build(np.arange(10)).save(tmp_path / "f.lbf")
    db.execute(f"CALL lanebloom_load('f', '{tmp_path}/f.lbf')")


@pytest.mark.parametrize("kind", ["leveldb-tables", "rocksdb-small"])
def test_tables(db, tmp_path, kind):
    if not DATABASES:
        pytest.skip("the program that makes databases was not built")
    engine, path = kind.split("-")[0], tmp_path / kind
    subprocess.run([DATABASES, "make", kind, path], check=True, capture_output=True)
    rows = db.execute(
        "SELECT engine, filter, format, sum(nentries), min(smallest), max(largest), count(path), "
        f"max(model_rate) < 0.05, bool_and(has_whole_keys) FROM lanebloom_tables('{path}') "
        "GROUP BY ALL"
    ).fetchall()
    assert len(rows) == 1 and rows[0][0] == engine
    entries, smallest, largest, ntables, is_good, has_keys = rows[0][3:]
    assert ntables > 0 and smallest < largest and is_good and has_keys
    assert entries is None if engine == "leveldb" else entries > 0
    table = one(db, f"SELECT path FROM lanebloom_tables('{path}') LIMIT 1")
    by_file = db.execute(f"SELECT path, family, engine FROM lanebloom_tables('{table}')").fetchall()
    assert by_file == [(table, None, engine)]
    refused(db, "FROM lanebloom_tables('/nowhere/at/all')", "No such file or directory")
    refused(db, f"FROM lanebloom_tables('{tmp_path}')", "found a folder without CURRENT")
    refused(db, f"FROM lanebloom_tables('{__file__}')", f"{__file__}: ")


def test_parquet(db, tmp_path):
    keys = pa.table({"id": np.arange(30000), "name": [f"n{i}" for i in range(30000)]})
    for i in range(3):
        pq.write_table(
            keys, tmp_path / f"{i}.parquet", row_group_size=10000,
            bloom_filter_options={"id": {"ndv": 10000, "fpp": 0.01}},
        )  # fmt: skip
    rows = db.execute(
        "SELECT path, row_group, column_name, type, nrows, nnulls, has_filter, "
        f"filter_nbytes > 10000 FROM lanebloom_parquet('{tmp_path}/*.parquet')"
    ).fetchall()
    assert rows == [
        (str(tmp_path / f"{i}.parquet"), group, *chunk)
        for i in range(3)
        for group in range(3)
        for chunk in [("id", "int64", 10000, 0, True, True),
                      ("name", "string", 10000, 0, False, None)]
    ]  # fmt: skip
    refused(db, f"FROM lanebloom_parquet('{tmp_path}/**/*.parquet')", "found **")
    wide = pa.table({f"c{i}": [1] for i in range(5000)})  # more than one chunk of rows
    pq.write_table(wide, tmp_path / "wide.parquet")
    assert one(db, f"SELECT count(*) FROM lanebloom_parquet('{tmp_path}/wide.parquet')") == 5000
    refused(db, f"FROM lanebloom_parquet('{tmp_path}/no*')", "No such file or directory")
    refused(db, f"FROM lanebloom_parquet('{tmp_path}/none')", "No such file or directory")
    (tmp_path / "[a].parquet").write_bytes((tmp_path / "0.parquet").read_bytes())
    assert one(db, f"SELECT count(*) FROM lanebloom_parquet('{tmp_path}/[a].parquet')") == 6
    (tmp_path / "x.parquet").write_bytes(b"no Parquet file at all")
    refused(db, f"FROM lanebloom_parquet('{tmp_path}/*.parquet')", "x.parquet: ")


def test_the_connection_that_loaded_may_close(tmp_path):
    Filter.build(np.arange(10)).save(tmp_path / "f.lbf")
    path = str(tmp_path / "d.duckdb")
    db = connect(path)
    other = duckdb.connect(path, config={"allow_unsigned_extensions": "true"})
    db.close()
    other.execute(f"SELECT lanebloom_register('f', content) FROM read_blob('{tmp_path}/f.lbf')")
    assert one(other, "SELECT count(*) FROM lanebloom_filters()") == 1
    if ASKS:
        other.execute(f"CALL lanebloom_load('g', '{tmp_path}/f.lbf')")
    other.close()
