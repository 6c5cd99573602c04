# SPDX-License-Identifier: MIT
"""Tests keys of every type, in every kind of vector. The results must equal the Python package's
results for the Arrow array from which the column was made. LANEBLOOM_ROWS: the number of rows."""

import os
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import ROWS, connect, one, refused

from lanebloom import Filter

sys.path.append(os.path.join(os.path.dirname(__file__), "../../python/tests"))
from test_forms import PARTS, container  # noqa: E402


def cast(type_):
    return lambda h: pa.array(h.astype(type_))


def texts(h, prefix=""):
    return pc.binary_join_element_wise(prefix, pa.array(h).cast(pa.string()), "")


def wide(h, type_):
    """Makes an array of 128-bit numbers below 10^38."""
    both = np.stack([h, h >> np.uint64(2)], axis=1)
    return pa.Array.from_buffers(type_, len(h), [None, pa.py_buffer(both.tobytes())])


def stamps(unit):
    return lambda h: pa.array((h >> np.uint64(20)).view(np.int64)).cast(pa.timestamp(unit))


# For each type of SQL, there is a function that makes an Arrow array from one random 64-bit number
# per row, and an expression with which SQL makes a column of this type from the array.
TYPES = {
    "VARCHAR": (texts, "k"),
    "VARCHAR of at most 12 bytes": (lambda h: texts(h % np.uint64(10**9), "k"), "k"),
    "VARCHAR in a dictionary": (lambda h: texts(h % np.uint64(50), "a long text "), "k"),
    "BLOB": (lambda h: texts(h).cast(pa.binary()), "k"),
    "TINYINT": (cast(np.int8), "k"),
    "SMALLINT": (cast(np.int16), "k"),
    "INTEGER": (cast(np.int32), "k"),
    "BIGINT": (cast(np.int64), "k"),
    "UTINYINT": (cast(np.uint8), "k"),
    "USMALLINT": (cast(np.uint16), "k"),
    "UINTEGER": (cast(np.uint32), "k"),
    "UBIGINT": (cast(np.uint64), "k"),
    "HUGEINT": (lambda h: wide(h, pa.decimal128(38, 0)), "k::HUGEINT"),
    "UHUGEINT": (lambda h: wide(h, pa.decimal128(38, 0)), "k::UHUGEINT"),
    "UUID": (lambda h: wide(h, pa.binary(16)), "hex(k)::UUID"),
    "DATE": (lambda h: pa.array((h % np.uint64(10**6)).astype(np.int32)).cast(pa.date32()), "k"),
    "TIMESTAMP": (stamps("us"), "k"),
    "TIMESTAMP_S": (lambda h: stamps("s")(h >> np.uint64(20)), "k"),
    "TIMESTAMP_MS": (stamps("ms"), "k"),
    "TIMESTAMP_NS": (stamps("ns"), "k"),
}


def column(make, nrows):
    """Makes a column in which some rows are null."""
    h = np.random.default_rng(7).integers(0, 2**64, nrows, np.uint64, endpoint=False)
    h %= np.uint64(10**38 >> 64)
    keys = make(h)
    return pc.if_else(pa.array(h % np.uint64(7) != 0), keys, pa.nulls(nrows, keys.type))


def numbers_of(rows):
    """Turns true into 1, false into 0, and NULL into -1."""
    answers = rows["a"]
    return np.ma.filled(np.ma.asarray(answers).astype(np.int8), -1)


@pytest.mark.parametrize("name", TYPES)
def test_answers_of_every_row(db, name):
    make, sql = TYPES[name]
    keys = column(make, ROWS)
    arrow = pa.table({"k": keys, "i": pa.array(np.arange(ROWS))})
    db.register("arrow", arrow)
    db.execute(f"CREATE TABLE t AS SELECT {sql} AS k, i FROM arrow")
    declared = one(db, "SELECT data_type FROM duckdb_columns() WHERE table_name = 't' LIMIT 1")
    assert declared == name.split(" of ")[0].split(" in ")[0]

    built = one(db, f"SELECT lanebloom_build(k, 8.0, {ROWS}) FROM t WHERE i % 2 = 0")
    f = Filter.parse(built)
    even = keys.take(pa.array(np.arange(0, ROWS, 2)))
    by_arrow = Filter.build(even, 8, expected=ROWS, form=f.form)
    assert bytes(built) == by_arrow.to_bytes()

    expected = np.where(np.asarray(keys.is_null()), -1, f.screen(keys).astype(np.int8))
    db.execute("SELECT lanebloom_register('f', ?)", [built])
    found = numbers_of(db.execute("SELECT lanebloom_may_contain('f', k) a FROM t").fetchnumpy())
    assert (found == expected).all()
    added = np.zeros(ROWS, bool)
    added[::2] = True
    assert (found[added & (expected >= 0)] == 1).all()


def test_every_kind_of_vector(db):
    """Vectors are constants, sequences, dictionaries or selections, anywhere in a chunk."""
    db.execute("CREATE TABLE s AS SELECT range k FROM range(0, 10000, 3)")
    f = Filter.parse(one(db, "SELECT lanebloom_build(k) FROM s"))
    db.execute("SELECT lanebloom_register('f', lanebloom_build(k)) FROM s")
    all_rows = f.screen(np.arange(20000))
    ask = "lanebloom_may_contain('f', "
    assert one(db, f"SELECT count(*) FROM range(20000) t(i) WHERE {ask}i)") == all_rows.sum()
    assert one(db, f"SELECT count(*) FROM range(20000) WHERE {ask}6::BIGINT)") == 20000
    some = f.screen(np.arange(1, 20000, 5)).sum()
    assert one(db, f"SELECT count(*) FROM range(20000) t(i) WHERE i % 5 = 1 AND {ask}i)") == some
    joined = f"SELECT count(*) FROM range(20000) t(i) JOIN s ON s.k = i // 2 WHERE {ask}s.k)"
    assert one(db, joined) == 6668
    assert one(db, f"SELECT count(*) FROM s WHERE k < 0 AND {ask}k)") == 0
    assert one(db, f"SELECT count({ask}k)) FROM (SELECT NULL::BIGINT k FROM range(3000))") == 0
    assert one(db, f"SELECT {ask}NULL::BIGINT)") is None
    assert one(db, f"SELECT {ask}NULL)") is None
    assert one(db, "SELECT lanebloom_may_contain(NULL, 6::BIGINT)") is None
    listed = db.execute(f"SELECT [{ask}x) FOR x IN [0::BIGINT, 3, NULL]]").fetchone()[0]
    assert listed == [True, True, None]
    db.execute("PREPARE asked AS SELECT lanebloom_may_contain($1, $2::BIGINT)")
    assert db.execute("EXECUTE asked('f', 3)").fetchone() == (True,)


def test_stored_columns(tmp_path):
    """The columns are in a file, and DuckDB compresses each of them by another method."""
    db = connect(str(tmp_path / "d.duckdb"), threads="2")
    db.execute(
        "CREATE TABLE t AS SELECT i, 'text ' || (i % 10) few, 'some longer text ' || i AS many, "
        "if(i % 3 = 0, NULL, i) AS odd, 7::BIGINT AS same FROM range(300000) r(i)"
    )
    db.execute("CHECKPOINT")
    for name in ["few", "many", "odd", "same"]:
        db.execute(f"SELECT lanebloom_register('f', lanebloom_build({name})) FROM t WHERE i < 1000")
        f = Filter.parse(one(db, f"SELECT lanebloom_build({name}) FROM t WHERE i < 1000"))
        rows = db.execute(f"SELECT lanebloom_may_contain('f', {name}) a FROM t").fetchnumpy()
        values = pa.table(db.sql(f"SELECT {name} FROM t")).column(0)
        nulls = np.asarray(values.combine_chunks().is_null())
        expected = np.where(nulls, -1, f.screen(values).astype(np.int8))
        assert (numbers_of(rows) == expected).all()
    db.close()


def test_other_types_are_refused(db):
    db.execute("SELECT lanebloom_register('f', lanebloom_build(range)) FROM range(10)")
    refused(
        db, "SELECT lanebloom_may_contain('f', 'x')",
        "lanebloom_may_contain: keys of the filter: int64; the column is VARCHAR, whose keys are "
        "bytes: cast it to BIGINT",
    )  # fmt: skip
    refused(
        db, "SELECT lanebloom_may_contain('f', 7)",
        "keys of the filter: int64; the column is INTEGER, whose keys are int32: cast it to BIGINT",
    )  # fmt: skip
    refused(db, "SELECT lanebloom_may_contain('f', now())", "No function matches")
    refused(db, "SELECT lanebloom_build(now())", "No function matches")
    with pytest.raises(duckdb.Error) as error:
        db.execute("SELECT lanebloom_may_contain('f', DATE '2020-01-01')").fetchall()
    assert str(error.value).endswith("the column is DATE, whose keys are date32")
    for type_ in ["INTEGER", "UINTEGER", "UBIGINT", "HUGEINT", "DATE", "TIMESTAMP", "UUID"]:
        value = {"DATE": "'2020-01-01'", "TIMESTAMP": "'2020-01-01'", "UUID": "uuid()"}
        built = f"lanebloom_build({value.get(type_, '1')}::{type_})"
        db.execute(f"SELECT lanebloom_register('g', {built})")
        refused(db, "SELECT lanebloom_may_contain('g', 'x')", f": cast it to {type_}")
    refused(db, "SELECT lanebloom_may_contain('f', 7.5)", "No function matches")
    refused(db, "SELECT lanebloom_may_contain('f', 7::DOUBLE)", "No function matches")
    refused(db, "SELECT lanebloom_may_contain('f', [7])", "No function matches")
    refused(db, "SELECT lanebloom_build(k) FROM (SELECT 7.5 k)", "No function matches")


@pytest.mark.parametrize("form, text, function", [("hex", "c3A9", "unhex"),
                                                  ("base64", "w6k=", "from_base64")])  # fmt: skip
def test_a_key_form_that_sql_does_not_make(db, form, text, function):
    """The keys of such a filter are the decoded bytes, not the bytes of the text."""
    decoded = Filter.build([b"\xc3\xa9"], form=form)
    db.execute("SELECT lanebloom_register('f', ?)", [decoded.to_bytes()])
    refused(
        db, f"SELECT lanebloom_may_contain('f', '{text}')",
        f"keys of the filter: {form}; the column is VARCHAR, whose keys are bytes: decode it with "
        f"{function}()",
    )  # fmt: skip
    assert one(db, f"SELECT lanebloom_may_contain('f', {function}('{text}'))") is True
    refused(db, "SELECT lanebloom_may_contain('f', 7)", "whose keys are int32")


@pytest.mark.parametrize("form", PARTS)
def test_text_is_not_prepared_so_such_filters_are_refused(db, tmp_path, form):
    """The filters are those of bindings/python/tests/test_forms.py. If they took keys as they are,
    every key would be reported as absent."""
    path = tmp_path / "f.lbf"
    path.write_bytes(container(form))
    nbytes = len(Filter.parse(container(form)).bytes)
    db.execute("SELECT lanebloom_register('given', ?)", [container(form)])
    assert db.execute(f"CALL lanebloom_load('loaded', '{path}')").fetchall() == [
        ("loaded", form, nbytes)
    ]
    assert db.execute("SELECT form FROM lanebloom_filters()").fetchall() == [(form,), (form,)]
    for key in ["'a'", "'A'", "'a'::BLOB", "unhex('aa')", "1::BIGINT", "uuid()"]:
        for f in ["'given'", "'loaded'", f"(SELECT content FROM read_blob('{path}'))"]:
            sql = f"SELECT lanebloom_may_contain({f}, {key})"
            refused(db, sql, f"keys of the filter: {form}; ")
