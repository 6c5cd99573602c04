# SPDX-License-Identifier: MIT
"""lanebloom_build(): groups, threads and arguments."""

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROWS, VERSION, connect, one, refused

from lanebloom import Filter

N = max(ROWS, 300000)  # enough rows for more row groups than threads


@pytest.mark.parametrize("sql", ["lanebloom_build(k)", f"lanebloom_build(k, 12.5, {N})"])
@pytest.mark.parametrize("key", ["i", "'a text of some length ' || i"])
def test_threads_build_what_one_thread_builds(db, key, sql):
    """The keys are distinct, because the size for duplicates depends on their order."""
    db.execute(f"CREATE TABLE t AS SELECT {key} AS k FROM range({N}) r(i)")
    parallel = one(db, f"SELECT {sql} FROM t")
    serial = connect(threads="1")
    serial.execute(f"CREATE TABLE t AS SELECT {key} AS k FROM range({N}) r(i)")
    assert parallel == one(serial, f"SELECT {sql} FROM t")
    serial.close()


def test_bytes_of_the_python_package(db):
    made = Filter.build(np.arange(1000), 12.5)
    assert one(db, "SELECT lanebloom_build(range, 12.5) FROM range(1000)") == made.to_bytes()
    made = Filter.build(np.arange(1000))
    assert one(db, "SELECT lanebloom_build(range) FROM range(1000)") == made.to_bytes()
    assert one(db, "SELECT lanebloom_build(range, NULL) FROM range(1000)") == made.to_bytes()
    assert one(db, "SELECT lanebloom_build(range, 10, NULL) FROM range(1000)") == made.to_bytes()


@pytest.mark.parametrize("ngroups", [1, 7, 5000])
@pytest.mark.parametrize("order", ["i % {}", "i // (100000 // {} + 1)", "hash(i) % {}"])
def test_groups(db, ngroups, order):
    """Each group has its own filter. Groups alternate, follow each other or are random."""
    db.execute(
        f"CREATE TABLE t AS SELECT {order.format(ngroups)} AS g, if(i % 11 = 0, NULL, i) AS k "
        "FROM range(100000) r(i)"
    )
    db.execute("CREATE TABLE f AS SELECT g, lanebloom_build(k, 14.0) AS f FROM t GROUP BY g")
    rows = db.execute("SELECT g, list(k ORDER BY k) FROM t GROUP BY g").fetchall()
    filters = dict(db.execute("SELECT g, f FROM f").fetchall())
    assert len(rows) == len(filters) > ngroups // 2
    for g, keys in rows:
        keys = np.array([k for k in keys if k is not None])
        assert Filter.parse(filters[g]).to_bytes() == Filter.build(keys, 14).to_bytes()
    lost = "SELECT count(*) FROM t JOIN f USING (g) WHERE NOT lanebloom_may_contain(f, k)"
    if ngroups > 1:
        assert one(db, lost) == 0


def test_no_keys(db):
    """A filter of no rows, or of rows that are all NULL, has no keys."""
    for sql in ["SELECT lanebloom_build(range) FROM range(0)",
                "SELECT lanebloom_build(NULL::BIGINT) FROM range(9)"]:  # fmt: skip
        blob = one(db, sql)
        assert Filter.parse(blob).count(np.arange(1000)) == 0
        db.execute("SELECT lanebloom_register('none', ?)", [blob])
        found = "SELECT count(*) FROM range(99) WHERE lanebloom_may_contain('none', range)"
        assert one(db, found) == 0
    sized = Filter.parse(one(db, "SELECT lanebloom_build(NULL::BIGINT, 10, 1000) FROM range(9)"))
    assert len(sized.bytes) == len(Filter.build(np.arange(1000)).bytes)


def test_modifiers_of_aggregates(db):
    f = Filter.build(np.arange(0, 1000, 2)).to_bytes()
    assert one(db, "SELECT lanebloom_build(k) FILTER (k % 2 = 0) FROM range(1000) t(k)") == f
    distinct = "SELECT lanebloom_build(DISTINCT k // 2 * 2) FROM range(1000) t(k)"
    assert one(db, distinct) == f


@pytest.mark.parametrize("arguments", ["k", "k, 10, 100"])
@pytest.mark.parametrize(
    "frame",
    [
        "ORDER BY k ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
        "ORDER BY k ROWS BETWEEN 100 PRECEDING AND CURRENT ROW",
        "ORDER BY k",
        "ROWS UNBOUNDED PRECEDING",
    ],
)
@pytest.mark.parametrize("call", ["build({})", "build(DISTINCT {})", "build({}) FILTER (k >= 0)"])
def test_windows(db, call, frame, arguments):
    """Each row's filter has the keys of its frame. DuckDB combines and finishes groups often."""
    if VERSION < (1, 4) and frame.startswith("ROWS"):
        pytest.skip("DuckDB below 1.4 passes the first row's key for all rows of this frame")
    if "DISTINCT" in call and frame.startswith("ROWS"):
        pytest.skip("DuckDB does not order the rows of this frame")
    db.execute("CREATE TABLE t AS SELECT range k FROM range(3000)")
    rows = db.execute(
        f"SELECT k, lanebloom_{call.format(arguments)} OVER ({frame}) FROM t ORDER BY k"
    ).fetchall()
    width = 3 if "3 P" in frame else 100 if "100 P" in frame else 3000
    assert [k for k, _ in rows] == list(range(3000))
    for k, blob in rows:
        assert Filter.parse(blob).screen(np.arange(max(k - width, 0), k + 1)).all(), k


@pytest.mark.skipif(VERSION < (2, 0), reason="DuckDB below 2.0 crashes here: duckdb#21537")
def test_one_state_for_many_rows(db):
    """All rows share a state if DuckDB sorts them, or if each row has the whole partition."""
    f = Filter.build(np.arange(0, 1000, 2)).to_bytes()
    ordered = "SELECT lanebloom_build(k ORDER BY k DESC) FROM range(0, 1000, 2) t(k)"
    assert one(db, ordered) == f
    whole = "SELECT lanebloom_build(k) OVER () FROM range(0, 1000, 2) t(k)"
    assert db.execute(whole).fetchall() == [(f,)] * 500


def test_wishes_are_checked(db):
    def build(arguments):
        return f"SELECT lanebloom_build(k, {arguments}) FROM range(1000) t(k)"

    for bits in ["0.1", "-1", "100.5", "'nan'::DOUBLE", "'inf'::DOUBLE"]:
        refused(db, build(bits), "lanebloom_build: bits_per_key: expected 0.5 to 100, found")
    refused(db, build("10, 0"), "expected: expected at least 1 key, found 0")
    refused(db, build("10, -5"), "expected: expected at least 1 key, found -5")
    bits = "lanebloom_build: bits_per_key: expected 1"
    expected = "lanebloom_build: expected: expected 1"
    refused(db, build("10 + k % 2"), bits)
    refused(db, build("10 + k % 2"), ", as in another row of the group, found 1")
    refused(db, build("10, 1 + k % 2"), "expected: expected 1, as in another row of the group")
    refused(db, build("10 + k // 999"), bits)
    # Each thread sees only one of two values, so the difference is found when groups are combined.
    # For the two values, the filters have different sizes or the same size.
    db.execute("CREATE TABLE t AS SELECT range k FROM range(491520)")
    for wish, difference in [
        ("10 + k // 245760", bits),
        ("10, 1000 + k // 245760", expected),
        ("10, 1000000 + k // 245760", expected),
    ]:
        refused(db, f"SELECT lanebloom_build(k, {wish}) FROM t", difference)
    most = "lanebloom_build: expected a filter that fits into a BLOB of 4 GiB"
    refused(db, build("10, 3500000000"), most)
    refused(db, build("100, 400000000"), most)
    refused(db, build("10, 9000000000000000000"), most)


def test_more_keys_than_were_expected(db):
    f = Filter.parse(one(db, "SELECT lanebloom_build(k, 10, 10) FROM range(100000) t(k)"))
    assert f.screen(np.arange(100000)).all() and len(f.bytes) < 200


def test_keys_of_engines(db):
    """Texts are screened by a filter that the package made from RocksDB's own bytes."""
    f = Filter.parse_raw(bytes(Filter.build(["a", "b"]).bytes), "rocksdb")
    db.execute("SELECT lanebloom_register('f', ?)", [f.to_bytes()])
    keys = "SELECT list(k) FROM (VALUES ('a'), ('b'), ('c'), ('d')) t(k)"
    assert one(db, f"{keys} WHERE lanebloom_may_contain('f', k)") == ["a", "b"]
    assert f.count(pa.array(["a", "b", "c", "d"])) == 2
