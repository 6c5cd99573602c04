# SPDX-License-Identifier: MIT
"""Tests lanebloom_load(), lanebloom_tables(), lanebloom_parquet(), and when files stay closed."""

import os
import subprocess
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ASKS, DATABASES, EXTENSION, connect, one, refused

from lanebloom import Filter

sys.path.append(os.path.join(os.path.dirname(__file__), "../../python/tests"))
from test_changing import CC, KEY, LIMIT_SECONDS, compile_shim, make, masked_crc32c  # noqa: E402
from test_folders import make_folder  # noqa: E402


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
    """The loaded filter does not change."""
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
    """The setting at the time when a query runs decides, even if the query was prepared before."""
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
    """From DuckDB 1.5 on, some settings can be left unlocked."""
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
    """Locked settings cannot change, so files may be opened in every version of DuckDB."""
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
    wide = pa.table({f"c{i}": [1] for i in range(5000)})  # more rows than one chunk has
    pq.write_table(wide, tmp_path / "wide.parquet")
    assert one(db, f"SELECT count(*) FROM lanebloom_parquet('{tmp_path}/wide.parquet')") == 5000
    refused(db, f"FROM lanebloom_parquet('{tmp_path}/no*')", "found none of this name")
    refused(db, f"FROM lanebloom_parquet('{tmp_path}/none')", "found none of this name")
    (tmp_path / "[a].parquet").write_bytes((tmp_path / "0.parquet").read_bytes())
    assert one(db, f"SELECT count(*) FROM lanebloom_parquet('{tmp_path}/[a].parquet')") == 6
    (tmp_path / "x.parquet").write_bytes(b"no Parquet file at all")
    refused(db, f"FROM lanebloom_parquet('{tmp_path}/*.parquet')", "x.parquet: ")


def test_parquet_in_folders(db, tmp_path):
    """Uses the folders of bindings/python/tests/test_folders.py."""
    names = make_folder(tmp_path / "d")
    listed = db.execute(f"SELECT path FROM lanebloom_parquet('{tmp_path}/d')").fetchall()
    assert listed == [(f"{tmp_path}/d/{name}",) for name in names]
    assert db.execute(f"SELECT path FROM lanebloom_parquet('{tmp_path}/?')").fetchall() == listed
    assert one(db, f"SELECT count(*) FROM lanebloom_parquet('{tmp_path}/d/.hidden')") == 1
    for name in ["e", "e/_f"]:
        (tmp_path / name).mkdir()
        refused(
            db, f"FROM lanebloom_parquet('{tmp_path}/e')",
            f"{tmp_path}/e: expected a folder with Parquet files, found none in it",
        )  # fmt: skip
    (tmp_path / "d/cut").write_bytes(b"PAR1 and no more")
    refused(db, f"FROM lanebloom_parquet('{tmp_path}/d')", f"{tmp_path}/d/cut: ")


def test_bounds_of_parquet(db, tmp_path):
    path = tmp_path / "b.parquet"
    pq.write_table(pa.table({"k": [1, 2], "t": ["a", "b"], "none": pa.nulls(2, pa.int64())}), path)
    sql = f"SELECT bounds FROM lanebloom_parquet('{path}'{{}}) ORDER BY column_name"

    def bounds(option=""):
        return [row[0] for row in db.execute(sql.format(option)).fetchall()]

    for option in ["", ", bounds := 'known'", ", bounds := 'all'", ", bounds := NULL"]:
        assert bounds(option) == ["used", None, "used"], option
    assert bounds(", bounds := 'none'") == ["not-asked-for", None, "not-asked-for"]
    path.write_bytes(path.read_bytes().replace(b"parquet-cpp-arrow", b"parquet-cpp-other"))
    assert bounds() == ["writer-untried", None, "writer-untried"]
    assert bounds(", bounds := 'all'") == ["used", None, "used"]
    refused(
        db, sql.format(", bounds := 'some'"),
        "lanebloom_parquet: bounds: expected 'known', 'all' or 'none', found 'some'",
    )  # fmt: skip


@pytest.mark.parametrize("found", [b"\xff\xc3\xc3", b"\xed\xa0\x80", b"\xe0\x80\x80"])
def test_names_that_are_not_utf8(db, tmp_path, found):
    """Such names become UTF-8, because reverse() of DuckDB 1.3 never ends on other bytes."""
    path = tmp_path / "names.parquet"
    pq.write_table(pa.table({"naXYZe": [1]}), path)
    path.write_bytes(path.read_bytes().replace(b"XYZ", found))
    assert one(db, f"SELECT column_name FROM lanebloom_parquet('{path}')") == "na???e"
    assert one(db, f"SELECT reverse(column_name) FROM lanebloom_parquet('{path}')") == "e???an"


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


def test_a_database_that_changes_at_every_look(tmp_path):
    """The query ends, like lanebloom.Database() in bindings/python/tests/test_changing.py."""
    if not CC:
        pytest.skip("there is no C compiler")
    shim, nbytes = compile_shim(tmp_path), make(tmp_path / "db")
    code = (
        "import conftest, sys\n"
        "try: conftest.connect(lock_configuration='true').execute(sys.argv[1]).fetchall()\n"
        "except conftest.duckdb.Error as error: print(error)"
    )
    preload = f"{os.environ.get('LD_PRELOAD', '')} {shim}"
    done = subprocess.run(
        [sys.executable, "-c", code, f"FROM lanebloom_tables('{tmp_path / 'db'}')"],
        cwd=os.path.dirname(__file__), env={**os.environ, "LD_PRELOAD": preload},
        capture_output=True, text=True, timeout=LIMIT_SECONDS,
    )  # fmt: skip
    assert "being written: expected tables that stay, found that they changed 100" in done.stdout
    assert (tmp_path / "db" / "MANIFEST-000002").stat().st_size - nbytes == 102


def test_errors_name_a_path_once(db, tmp_path):
    missing, damaged, log, cut = (tmp_path / name for name in ["missing", "damaged", "log", "cut"])
    for folder in missing, damaged, log:
        make(folder)
    (damaged / "000005.ldb").write_bytes(bytes(100))
    (log / "000003.log").mkdir()
    cut.write_bytes(b"PAR1 and no more")
    (tmp_path / "empty").mkdir()
    for sql, path, says in [
        ("FROM lanebloom_tables", missing, "000005.ldb: expected a table of the database"),
        ("FROM lanebloom_tables", damaged, "000005.ldb: not a table"),
        ("FROM lanebloom_tables", log, "000003.log: expected a regular file"),
        ("FROM lanebloom_tables", cut, "not a table"),
        ("FROM lanebloom_tables", tmp_path / "empty", "expected a database"),
        ("FROM lanebloom_tables", tmp_path / "none", "No such file or directory"),
        ("FROM lanebloom_parquet", cut, ""),
        ("FROM lanebloom_parquet", tmp_path / "empty", "expected a folder with Parquet files"),
        ("FROM lanebloom_parquet", tmp_path / "none", "expected"),
        ("CALL lanebloom_load", cut, "not a lanebloom container"),
        ("CALL lanebloom_load", tmp_path / "none", "No such file or directory"),
    ]:
        name = "'f', " if "load" in sql else ""
        with pytest.raises(duckdb.Error) as error:
            db.execute(f"{sql}({name}'{path}')").fetchall()
        message = str(error.value)
        assert f"{sql.split()[1]}: {path}: {says}" in message
        assert message.count(str(path)) == 1, message


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def write_table(path, filter_nbytes):
    """Writes a table of LevelDB with one key and a filter of zeros."""
    contents = b""

    def add(block):  # returns the handle of the block
        nonlocal contents
        handle = varint(len(contents)) + varint(len(block))
        contents += block + b"\0" + masked_crc32c(block + b"\0")
        return handle

    def entry(key, value):  # returns a block with this entry alone
        return bytes([0, len(key), len(value)]) + key + value + bytes(4) + bytes([1, 0, 0, 0])

    bits = bytes(filter_nbytes - 1) + b"\6"
    filters = add(bits + bytes(4) + len(bits).to_bytes(4, "little") + bytes([11]))
    data = add(entry(KEY, b""))
    metaindex = add(entry(b"filter.leveldb.BuiltinBloomFilter2", filters))
    footer = (metaindex + add(entry(KEY, data))).ljust(40, b"\0")
    path.write_bytes(contents + footer + (0xDB4775248B80FB57).to_bytes(8, "little"))


def test_tables_need_not_fit_in_memory(tmp_path):
    """Only one table is open at a time, because all filters together take 400 MB."""
    ntables, filter_nbytes = 100, 4_000_000
    make(tmp_path / "db", ntables)
    write_table(tmp_path / "db" / "000005.ldb", filter_nbytes)
    for number in range(6, 5 + ntables):
        os.link(tmp_path / "db" / "000005.ldb", tmp_path / "db" / f"{number:06}.ldb")
    code = (
        "import conftest, sys\n"
        "def peak(): return int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
        "db = conftest.connect(lock_configuration='true')\n"
        "before = peak()\n"
        "print(*db.execute(sys.argv[1]).fetchone(), peak() - before)"
    )
    sql = f"SELECT count(*), sum(filter_nbytes) FROM lanebloom_tables('{tmp_path / 'db'}')"
    done = subprocess.run(
        [sys.executable, "-c", code, sql], cwd=os.path.dirname(__file__),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    count, nbytes, kib = map(int, done.stdout.split()[-3:])  # a progress bar may be before them
    assert count == ntables and nbytes >= ntables * filter_nbytes
    assert kib < 100_000 or os.environ.get("LD_PRELOAD"), kib  # sanitizers keep freed memory
