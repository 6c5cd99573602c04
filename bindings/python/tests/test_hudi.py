# SPDX-License-Identifier: MIT
"""Parquet files with the filters of Apache Hudi in their footers. The filters are Hudi's own, from
tests/vectors/, which says who wrote them."""

import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lanebloom

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "tests" / "vectors"
COLUMN = "_hoodie_record_key"
# A filter that has the key 2, and neither 20 nor 200.
TEXT = "/////wAAAAcBAAAAYHRq2pIPJXbnOeZn5Q=="
MANY_PROBES = "/////wAAAQABAAAAAQE="  # 256, and the limit is 255


def vectors():
    """Yields the type, the text, the keys, the queries and the answers of filters of Hudi."""
    for line in (VECTORS / "hudi.txt").read_text().splitlines():
        kind, *columns = line.split(" ")
        if kind == "F":
            type_, _, _, _, text, keys, queries, answers = columns
            yield type_, text, unhex(keys), unhex(queries), answers


def unhex(keys):
    return [bytes.fromhex(key.strip("-")) for key in keys.split(",") if key != "."]


def write(path, keys, metadata, **options):
    type_ = pa.binary() if keys and isinstance(keys[0], bytes) else pa.string()
    table = pa.table({COLUMN: pa.array(keys, type_), "row": range(len(keys))})
    options = {"write_statistics": False, **options}
    pq.write_table(table.replace_schema_metadata(metadata), path, **options)
    return path


def may_have(paths, key, **options):
    files = lanebloom.parquet.prune(paths, COLUMN, [key], **options)
    return [path.name for path in files]


def test_files_with_hudis_filters():
    """The command's tests/cli/hudi.bats has the same keys and files. The key 500E is not in
    simple.parquet, whose filter has four times as many keys as it was planned for."""
    rows, simple = (VECTORS / "hudi" / f"{name}.parquet" for name in ["rows", "simple"])
    for key, names in [
        ("DxAaqa", ["rows.parquet", "simple.parquet"]),
        ("gFDy", ["rows.parquet"]),
        ("500E", ["simple.parquet"]),
        ("ké65", ["rows.parquet", "simple.parquet"]),
        ("absent1", []),
        ("absent3", []),
    ]:
        for given in key, key.encode():
            assert may_have([rows, simple], given, hudi=True) == names, key
        assert may_have([rows, simple], key) == ["rows.parquet", "simple.parquet"]
    for path in rows, simple:
        keys = pq.read_table(path)[COLUMN]
        for each in keys.to_pylist():
            assert may_have(path, each, hudi=True, bounds="all") == [path.name]
        found = lanebloom.parquet.row_groups(path, COLUMN, keys, hudi=True)
        assert found == [(path, list(range(pq.ParquetFile(path).num_row_groups)))]
        assert lanebloom.parquet.prune(path, COLUMN, ["absent1", None], hudi=True) == []
        assert lanebloom.parquet.prune(path, COLUMN, [], hudi=True) == []
        several = pa.chunked_array([["absent1", None], ["DxAaqa"]]).dictionary_encode()
        assert lanebloom.parquet.prune(path, COLUMN, several, hudi=True) == [path]


def test_stored_answers_of_hudi(tmp_path):
    path = tmp_path / "x.parquet"
    nfilters = 0
    for type_, text, keys, queries, answers in vectors():
        metadata = {"org.apache.hudi.bloomfilter": text, "hoodie_bloom_filter_type_code": type_}
        write(path, keys, metadata)
        for query, answer in zip(queries, answers, strict=True):
            assert bool(may_have(path, query, hudi=True)) == (answer == "1"), (text, query)
        nfilters += 1
    assert nfilters == 8


def test_row_groups_are_those_of_filters_and_statistics(tmp_path):
    """Hudi's filter is for a whole file, and the statistics are for one row group each."""
    path = tmp_path / "x.parquet"
    metadata = {"org.apache.hudi.bloomfilter": TEXT}
    write(path, ["0", "1", "2", "3"], metadata, row_group_size=2, write_statistics=True)
    for keys, with_hudi, without in [
        (["2"], [1], [1]),
        (["20"], [], [1]),  # between the bounds 2 and 3
        (["20", "2"], [1], [1]),
        (["20", "200"], [], [1]),
    ]:
        for hudi, groups in [(True, with_hudi), (False, without)]:
            found = lanebloom.parquet.row_groups(path, COLUMN, keys, hudi=hudi)
            assert found == ([(path, groups)] if groups else []), (keys, hudi)
    found = lanebloom.parquet.row_groups(path, COLUMN, ["2", "20"], hudi=True, bounds="none")
    assert found == [(path, [0, 1])]


def test_the_range_of_record_keys(tmp_path):
    """It rules out only keys of ASCII characters. It is used although a filter cannot be."""
    path = tmp_path / "x.parquet"
    bounds = {"hoodie_min_record_key": "b", "hoodie_max_record_key": "d"}
    for more in {}, {"org.apache.hudi.bloomfilter": MANY_PROBES}:
        write(path, ["b", "d"], bounds | more)
        for key, there in [("a", 0), ("b", 1), ("c", 1), ("d", 1), ("d0", 0), ("é", 1), ("", 0)]:
            assert bool(may_have(path, key, hudi=True)) == bool(there), (more, key)


def test_what_is_not_certain_is_not_absent(tmp_path):
    path = tmp_path / "x.parquet"
    name = "org.apache.hudi.bloomfilter"
    for metadata in [
        {},
        {"com.example.bloomfilter": TEXT},
        {name: TEXT, "hoodie_bloom_filter_type_code": "DYNAMIC_V1"},
        {name: TEXT, "com.uber.hoodie.bloomfilter": TEXT},
        {name: TEXT[:-2]},
        {name: "no filter at all"},
        {name: MANY_PROBES},
        {"hoodie_min_record_key": "b"},
        {"hoodie_min_record_key": "d", "hoodie_max_record_key": "b"},
    ]:
        write(path, ["2"], metadata)
        assert may_have(path, "20", hudi=True), metadata


def test_other_columns_do_not_use_the_filter(tmp_path):
    path = write(tmp_path / "x.parquet", ["2"], {"org.apache.hudi.bloomfilter": TEXT})
    for call in lanebloom.parquet.prune, lanebloom.parquet.row_groups:
        with pytest.raises(ValueError, match="hudi: expected the column '_hoodie_.*', found 'row'"):
            call(path, "row", [1], hudi=True)
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"id": ["2"]}), other)
    with pytest.raises(ValueError, match='expected one column "_hoodie_record_key", found none'):
        lanebloom.parquet.prune([path, other], COLUMN, ["20"], hudi=True)
    numbers = pa.table({COLUMN: [2]})
    metadata = {"org.apache.hudi.bloomfilter": TEXT}
    pq.write_table(numbers.replace_schema_metadata(metadata), other, write_statistics=False)
    assert may_have(other, 20, hudi=True)  # the filter has texts


def test_an_audit_does_not_use_the_filter(tmp_path):
    """The filter of other rows, as a program leaves it that copies the footer's metadata."""
    path = write(tmp_path / "x.parquet", ["20"], {"org.apache.hudi.bloomfilter": TEXT})
    assert may_have(path, "20") and not may_have(path, "20", hudi=True)
    assert lanebloom.parquet.audit(path, COLUMN).findings == []
