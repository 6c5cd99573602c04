# SPDX-License-Identifier: MIT
"""Names of filters: each database has its own names, which its threads share."""

import gc
import os
import random
import resource
import threading

import duckdb
import numpy as np
import pytest
from conftest import connect, one, refused

from lanebloom import Filter

SEED = int(os.environ.get("LANEBLOOM_TEST_SEED", "0")) or random.SystemRandom().getrandbits(32)
NBLOBS = int(os.environ.get("LANEBLOOM_BLOBS", "3000"))


def test_list(db):
    assert db.execute("FROM lanebloom_filters()").fetchall() == []
    db.execute("SELECT lanebloom_register('b', lanebloom_build(k)) FROM range(1000) t(k)")
    db.execute("SELECT lanebloom_register('a', lanebloom_build('x' || k, 8)) FROM range(9) t(k)")
    rows = db.execute("FROM lanebloom_filters()")
    assert [column[0] for column in rows.description] == [
        "name", "format", "form", "nkeys", "bits_per_key", "model_rate", "nbytes", "path",
    ]  # fmt: skip
    a, b = rows.fetchall()
    assert a[:5] == ("a", "rocksdb-local", "bytes", 9, 8.0) and a[7] is None
    info = Filter.build(np.arange(1000)).info
    assert b[:6] == ("b", "rocksdb-local", "int64", 1000, 10.0, info.rate)
    for i in range(5000):  # more rows than one chunk has
        db.execute(f"SELECT lanebloom_register('{i:04}', lanebloom_build(1))")
    names = [row[0] for row in db.execute("SELECT name FROM lanebloom_filters()").fetchall()]
    assert names == sorted(names) and len(names) == 5002


def test_replaced_and_taken_away(db):
    ask = "SELECT lanebloom_may_contain('f', 1::BIGINT)"
    refused(
        db, ask,
        "lanebloom_may_contain: no filter is named 'f'; name one: CALL lanebloom_load('f', FILE), "
        "or SELECT lanebloom_register('f', BLOB)",
    )  # fmt: skip
    db.execute("SELECT lanebloom_register('f', lanebloom_build(1::BIGINT))")
    assert one(db, ask) is True
    db.execute("SELECT lanebloom_register('f', lanebloom_build(2::BIGINT))")
    assert one(db, ask) is False
    assert one(db, "SELECT lanebloom_unload('f')") is True
    assert one(db, "SELECT lanebloom_unload('f')") is False
    assert one(db, "SELECT lanebloom_unload(NULL)") is None
    refused(db, ask, "no filter is named 'f'")
    refused(db, "SELECT lanebloom_register(NULL, lanebloom_build(1))", "found NULL")
    refused(db, "SELECT lanebloom_register('f', NULL)", "found NULL")
    refused(db, "SELECT lanebloom_register('a' || chr(0), lanebloom_build(1))", "without a 0 byte")
    refused(db, "SELECT lanebloom_may_contain('f' || chr(0), 1::BIGINT)", "no filter is named")


def test_prepared_statements_ask_anew(db):
    """Each execution queries again, even for constants. Indexes must not store results."""
    db.execute("SELECT lanebloom_register('f', lanebloom_build(2::BIGINT))")
    db.execute("PREPARE asked AS SELECT lanebloom_may_contain('f', 1::BIGINT)")
    assert db.execute("EXECUTE asked").fetchone() == (False,)
    db.execute("SELECT lanebloom_register('f', lanebloom_build(1::BIGINT))")
    assert db.execute("EXECUTE asked").fetchone() == (True,)
    db.execute("CREATE TABLE t AS SELECT 1::BIGINT AS k")
    with pytest.raises(duckdb.Error):
        db.execute("CREATE INDEX i ON t (lanebloom_may_contain('f', k))")


def test_rows_that_where_excludes_are_not_asked(tmp_path):
    """The dictionary has names that none of the remaining rows has."""
    db = connect(str(tmp_path / "d.duckdb"), threads="2")
    db.execute("SELECT lanebloom_register('aaa', lanebloom_build(1::BIGINT))")
    db.execute(
        "CREATE TABLE t AS SELECT if(i % 1000 = 0, 'bbb', 'aaa') || '' AS n, 1::BIGINT AS k "
        "FROM range(300000) r(i)"
    )
    db.execute("CHECKPOINT")
    ask = "lanebloom_may_contain(n, k)"
    assert one(db, f"SELECT count({ask}) FROM t WHERE n = 'aaa'") == 299700
    assert one(db, f"SELECT count(*) FROM t WHERE n = 'aaa' AND {ask}") == 299700
    guarded = f"SELECT count(*) FROM t WHERE CASE WHEN n = 'aaa' THEN {ask} END"
    assert one(db, guarded) == 299700
    refused(db, f"SELECT count(*) FROM t WHERE {ask}", "no filter is named 'bbb'")
    db.close()


def test_long_names_in_messages(db):
    for name in ["x" + "é" * 99, "漢字" * 300, "🦆" * 200]:
        asked = f"SELECT lanebloom_may_contain('{name}', 1)"
        refused(db, asked, f"no filter is named '{name[:20]}")


def test_names_of_rows(db):
    """A column of names selects among many filters."""
    db.execute(
        "SELECT lanebloom_register('part ' || p, f) FROM "
        "(SELECT k % 9 AS p, lanebloom_build(k, 16.0) AS f FROM range(90000) t(k) GROUP BY p)"
    )
    asked = "SELECT count(*) FROM range(90000) t(k) WHERE lanebloom_may_contain('part ' || {}, k)"
    assert one(db, asked.format("k % 9")) == 90000
    assert one(db, asked.format("(k + 1) % 9")) < 300


@pytest.mark.parametrize("begin", ["", "a long name of part "])
@pytest.mark.parametrize("nparts", [1, 2, 9, 3000])
@pytest.mark.parametrize("run", [1, 3, 2000])
def test_names_and_keys_in_any_order(db, begin, nparts, run):
    """Part p has the filter of the keys whose remainder is p. Some names and keys are NULL."""
    db.execute(
        f"CREATE OR REPLACE TABLE keys AS SELECT k, (k // {run} * 7919) % {nparts} AS p, "
        f"if(k % 11 = 5, NULL, '{begin}' || p) AS name, if(k % 13 = 3, NULL, k::VARCHAR) AS text "
        "FROM range(20000) t(k)"
    )
    db.execute(
        f"SELECT count(lanebloom_register('{begin}' || p, f)) FROM "
        "(SELECT p, lanebloom_build(text, 20.0) AS f "
        f"FROM range({nparts}) q(p) LEFT JOIN keys USING (p) GROUP BY p)"
    ).fetchall()
    asked = "SELECT name, text, {} AS found FROM keys ORDER BY k"
    rows = db.execute(asked.format("lanebloom_may_contain(name, text)")).fetchall()
    for name, text, found in rows:
        assert found is (None if name is None or text is None else True)
    others = f"lanebloom_may_contain('{begin}' || (p + 1) % {nparts}, text)"
    found = [row[2] for row in db.execute(asked.format(others)).fetchall()]
    assert found.count(None) == 1539
    assert nparts == 1 or found.count(True) < 50
    with pytest.raises(duckdb.Error, match="no filter is named 'none'"):
        db.execute(asked.format("lanebloom_may_contain(if(k = 19999, 'none', name), text)"))
    with pytest.raises(duckdb.Error, match="no filter is named 'none 7'"):
        one(db, asked.format("lanebloom_may_contain(if(k > 6, 'none ' || k, name), text)"))


def test_blobs_in_rows(db):
    small = Filter.build(np.arange(40000)).to_bytes()
    large = Filter.build(np.arange(60000)).to_bytes()
    assert len(small) < 65536 < len(large)
    rows = "SELECT count(*) FROM range(50000) t(k) WHERE lanebloom_may_contain($1::BLOB, k)"
    assert 40000 <= one(db, rows, small) < 40200
    with pytest.raises(duckdb.Error) as error:
        one(db, rows, large)
    assert (
        "lanebloom_may_contain: expected a filter of at most 65536 bytes in a row, "
        f"found {len(large)}; name it once: SELECT lanebloom_register('seen', BLOB), then call "
        "lanebloom_may_contain('seen', key)"
    ) in str(error.value)


def test_each_database_has_its_names(tmp_path):
    first, second = connect(), connect()
    first.execute("SELECT lanebloom_register('f', lanebloom_build(1::BIGINT))")
    assert one(first, "SELECT count(*) FROM lanebloom_filters()") == 1
    assert one(first.cursor(), "SELECT count(*) FROM lanebloom_filters()") == 1
    assert one(second, "SELECT count(*) FROM lanebloom_filters()") == 0
    first.close(), second.close()
    path = str(tmp_path / "d.duckdb")
    db = connect(path)
    db.execute("SELECT lanebloom_register('f', lanebloom_build(1::BIGINT))")
    db.close()
    db = connect(path)  # works only if nothing has kept the first database open
    assert one(db, "SELECT count(*) FROM lanebloom_filters()") == 0
    db.close()


def test_a_database_frees_its_filters():
    def rss():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    blob = Filter.build(np.arange(4000000)).to_bytes()  # 5 MB
    before = 0
    for i in range(24):
        db = connect(threads="1")
        db.execute("SELECT lanebloom_register('f', ?)", [blob])
        db.execute("SELECT lanebloom_register('f', ?)", [blob])
        db.close()
        del db
        gc.collect()
        if i == 7:
            before = rss()
    assert rss() < before + 16 * len(blob) // 4


def test_a_hundred_connections(db):
    """The connections probe a filter while a thread replaces it and loads and unloads another."""
    db.execute("SELECT lanebloom_register('f', lanebloom_build(k)) FROM range(100000) t(k)")
    blob = one(db, "SELECT lanebloom_build(k) FROM range(100000) t(k)")
    wrong, done = [], threading.Event()

    def ask(connection):
        try:
            for _ in range(5):
                n = one(connection, "SELECT count(*) FROM range(100000) t(k) WHERE "
                        "lanebloom_may_contain('f', k)")  # fmt: skip
                if n != 100000:
                    wrong.append(n)
        except duckdb.Error as error:
            wrong.append(str(error))

    def replace(connection):
        while not done.is_set():
            connection.execute("SELECT lanebloom_register('f', ?)", [blob])
            connection.execute("SELECT lanebloom_register('g', ?)", [blob])
            connection.execute("SELECT lanebloom_unload('g')")
            connection.execute("SELECT count(*) FROM lanebloom_filters()").fetchall()

    replacing = threading.Thread(target=replace, args=(db.cursor(),))
    replacing.start()
    asking = [threading.Thread(target=ask, args=(db.cursor(),)) for _ in range(100)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    done.set()
    replacing.join()
    assert wrong == []


def test_damaged_blobs(db):
    """Any bytes are either refused with a message or give the filter's results."""
    rng = random.Random(SEED)
    whole = [
        Filter.build(np.arange(n), format=format).to_bytes()
        for n in (0, 1, 100, 3000)
        for format in ("rocksdb-local", "leveldb", "parquet")
    ]
    nrefused = 0
    for _ in range(NBLOBS):
        blob = bytearray(rng.choice(whole))
        for _ in range(rng.randrange(1, 4)):
            kind, at = rng.randrange(4), rng.randrange(len(blob) + 1)
            if kind == 0:
                del blob[at:]
            elif kind == 1:
                blob[at:at] = rng.randbytes(rng.randrange(9))
            elif at < len(blob):
                blob[at] = rng.randrange(256) if kind == 2 else blob[at] ^ 1 << rng.randrange(8)
            if not blob:
                break
        blob = bytes(blob)
        for sql in ["SELECT lanebloom_register('f', $1::BLOB)",
                    "SELECT lanebloom_may_contain($1::BLOB, 7::BIGINT)"]:  # fmt: skip
            try:
                answer = one(db, sql, blob)
                assert answer is True or blob in whole, f"seed {SEED}: {blob.hex()}"
            except duckdb.Error as error:
                assert "expected a BLOB from lanebloom_build(), or the bytes of" in str(error)
                nrefused += 1
    assert nrefused > NBLOBS
    refused(db, "SELECT lanebloom_may_contain(''::BLOB, 7)", "file: not a lanebloom container: ")
