# SPDX-License-Identifier: MIT
"""Tests lanebloom_parquet() with record keys of Apache Hudi. The files are those of
bindings/python/tests/test_hudi.py."""

import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import refused

sys.path.append(os.path.join(os.path.dirname(__file__), "../../python/tests"))
from test_hudi import COLUMN, MANY_PROBES, TEXT, VECTORS, vectors, write  # noqa: E402

FILTER = {"org.apache.hudi.bloomfilter": TEXT}  # it has the key 2, and neither 20 nor 200


def listed(db, path, keys, more=""):
    """Returns the names and row groups of the chunks that may have any of the keys."""
    sql = f"SELECT path, row_group, column_name FROM lanebloom_parquet('{path}', hudi := $1{more})"
    rows = db.execute(sql, [keys]).fetchall()
    assert all(row[2] == COLUMN for row in rows)
    return [(os.path.basename(name), group) for name, group, _ in rows]


def test_files_with_hudis_filters(db):
    folder = VECTORS / "hudi"
    for keys, names in [
        (["DxAaqa"], ["rows", "simple"]),
        (["gFDy"], ["rows"]),
        (["500E"], ["simple"]),
        (["absent1", None, "gFDy", "500E"], ["rows", "simple"]),
        (["ké65"], ["rows", "simple"]),
        (["absent1", "absent3"], []),
        ([None], []),
        ([], []),
    ]:
        assert listed(db, folder, keys) == [(f"{name}.parquet", 0) for name in names], keys
    for name in "rows", "simple":
        path = folder / f"{name}.parquet"
        keys = pq.read_table(path)[COLUMN].to_pylist()
        for more in ["", ", bounds := 'all'", ", bounds := 'none'"]:
            for key in keys:
                assert listed(db, path, [key], more) == [(f"{name}.parquet", 0)]
            assert listed(db, path, keys, more) == [(f"{name}.parquet", 0)]
    db.execute(f"SET VARIABLE keys = (SELECT list({COLUMN}) FROM '{folder}/rows.parquet')")
    sql = f"SELECT count(*) FROM lanebloom_parquet('{folder}', hudi := getvariable('keys'))"
    assert db.execute(sql).fetchall() == [(2,)]


def test_stored_answers_of_hudi(db, tmp_path):
    path = tmp_path / "x.parquet"
    nfilters = 0
    for type_, text, keys, queries, answers in vectors():
        metadata = {"org.apache.hudi.bloomfilter": text, "hoodie_bloom_filter_type_code": type_}
        write(path, keys, metadata)
        for query, answer in zip(queries, answers, strict=True):
            assert bool(listed(db, path, [query.decode()])) == (answer == "1"), (text, query)
        nfilters += 1
    assert nfilters == 8


def test_row_groups_are_those_of_filters_and_statistics(db, tmp_path):
    path = tmp_path / "x.parquet"
    write(path, ["0", "1", "2", "3"], FILTER, row_group_size=2, write_statistics=True)
    for keys, groups in [(["2"], [1]), (["20"], []), (["20", "2"], [1]), (["20", "200"], [])]:
        assert listed(db, path, keys) == [("x.parquet", group) for group in groups], keys
    none = ", bounds := 'none'"
    assert listed(db, path, ["2", "20"], none) == [("x.parquet", 0), ("x.parquet", 1)]


def test_what_is_not_certain_is_not_absent(db, tmp_path):
    path = tmp_path / "x.parquet"
    (name,) = FILTER
    for metadata in [
        {},
        {name: TEXT, "hoodie_bloom_filter_type_code": "DYNAMIC_V1"},
        {name: TEXT, "com.uber.hoodie.bloomfilter": TEXT},
        {name: TEXT[:-2]},
        {"hoodie_min_record_key": "b"},
        {name: MANY_PROBES},
        {name: MANY_PROBES, "hoodie_min_record_key": "2", "hoodie_max_record_key": "3"},
    ]:
        write(path, ["2"], metadata)
        assert listed(db, path, ["20"]) == [("x.parquet", 0)], metadata
    assert listed(db, path, ["1"]) == []  # the range is used although the filter cannot be
    many = tmp_path / "many.parquet"
    write(many, [str(i) for i in range(5000)], {}, row_group_size=1)  # more than one chunk's rows
    assert len(listed(db, many, ["20"])) == 5000


def row_of(path):
    return (str(path), 0, COLUMN, "string", 1, None, False, None, None)


def test_what_is_refused(db, tmp_path):
    path = write(tmp_path / "x.parquet", ["2"], FILTER)
    sql = f"FROM lanebloom_parquet('{path}', hudi := {{}})"
    refused(
        db, sql.format("NULL"),
        "lanebloom_parquet: hudi: expected a list of VARCHAR, found NULL",
    )  # fmt: skip
    refused(db, sql.format("getvariable('none')"), "hudi: expected a list of VARCHAR, found NULL")
    for value in ["'2'", "2", "['2']::VARCHAR[1]"]:
        refused(db, sql.format(value), "hudi: expected a list of VARCHAR, found another type")
    for value in ["[2]", "['2'::BLOB]", "[['2']]", "['2'::ENUM('2')]", "[true]", "[uuid()]"]:
        refused(db, sql.format(value), "expected a list of VARCHAR, found elements of another type")
    for before, after in [("", ""), ("2", ""), ("2", "0"), ("", "x" * 99), ("]", ""),
                          ("\"''\\" * 99, ""), ("2, 2]", "")]:  # fmt: skip
        value = f"'{before}' || chr(0) || '{after}'"
        refused(db, sql.format(f"[NULL, '2', {value}]"), "expected texts without a 0 byte")
    for value in ["''", "'null'", "'NULL'", "repeat('\"''\\', 99)", "'[2, '", "'2, 2]'", "'é'"]:
        assert db.execute(sql.format(f"[{value}]")).fetchall() in ([], [row_of(path)]), value
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"id": ["2"]}), other)
    refused(
        db, f"FROM lanebloom_parquet('{tmp_path}', hudi := ['20'])",
        f'{other}: expected one column "_hoodie_record_key", found none',
    )  # fmt: skip
    numbers = pa.table({COLUMN: [2]}).replace_schema_metadata(FILTER)
    pq.write_table(numbers, other)
    refused(db, f"FROM lanebloom_parquet('{other}', hudi := ['20'])", f"{other}: ")


@pytest.mark.parametrize("key", ["2", "it's", '"', "\\", "a, b", "[]", "", " ", "NULL", "é\n"])
def test_keys_of_any_characters_are_found(db, tmp_path, key):
    path = tmp_path / "x.parquet"
    metadata = {"hoodie_min_record_key": key, "hoodie_max_record_key": key}
    write(path, [key], metadata, write_statistics=True)
    assert listed(db, path, [key]) == [("x.parquet", 0)]
    assert listed(db, path, [f"{key}x"]) == []
