# SPDX-License-Identifier: MIT
"""audit() finds nothing in correct files, and finds every wrong statistic and filter."""

import base64
import gzip
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_files import write

import lanebloom
from lanebloom.parquet import audit

LEAST, GREATEST = 0x11223344, 0x55667788


def as_(dtype):
    return lambda value: np.array(value, dtype).tobytes()


def text(value):
    return value.encode()


def big_endian(size):
    return lambda value: int(value * 100).to_bytes(size, "big", signed=True)


# Each entry has a type, a smaller and a larger value of this type, and a function that returns the
# bytes that Parquet stores for a value.
TYPES = [
    (pa.int8(), -0x13, 0x57, as_("<i4")),
    (pa.int32(), -LEAST, GREATEST, as_("<i4")),
    (pa.uint32(), LEAST, GREATEST + 2**31, as_("<u4")),
    (pa.int64(), -LEAST << 28, GREATEST << 28, as_("<i8")),
    (pa.uint64(), LEAST, GREATEST + 2**63, as_("<u8")),
    (pa.float32(), -1.234, 5.678, as_("<f4")),
    (pa.float64(), -1.234, 5.678, as_("<f8")),
    (pa.date32(), -0x1234, 0x5678, as_("<i4")),
    (pa.date64(), 0x1234 * 86400000, 0x5678 * 86400000, lambda v: as_("<i4")(v // 86400000)),
    (pa.time32("ms"), 0x11223, 0x55667, as_("<i4")),
    (pa.time64("us"), LEAST, GREATEST, as_("<i8")),
    (pa.timestamp("ms"), -LEAST << 12, GREATEST << 12, as_("<i8")),
    (pa.timestamp("us", "UTC"), -LEAST << 12, GREATEST << 12, as_("<i8")),
    (pa.timestamp("ns"), -LEAST << 12, GREATEST << 12, as_("<i8")),
    (pa.duration("us"), LEAST << 12, GREATEST << 12, as_("<i8")),
    (pa.string(), "least", "mos\u00e9", text),
    (pa.large_string(), "least", "mos\u00e9", text),
    (pa.string_view(), "least", "mos\u00e9", text),
    (pa.dictionary(pa.int32(), pa.string()), "least", "mos\u00e9", text),
    (pa.binary(), b"least", b"mos\xff\x80", bytes),
    (pa.binary_view(), b"least", b"mos\xff\x80", bytes),
    (pa.binary(3), b"abc", b"\xfezy", bytes),
    (pa.uuid(), b"least...........", b"\xfe" * 16, bytes),
    (pa.decimal128(9, 2), Decimal("-1234.56"), Decimal("7890.12"), big_endian(4)),
    (pa.decimal128(38, 2), Decimal("-1234.56"), Decimal("7890.12"), big_endian(16)),
    (pa.decimal256(30, 2), Decimal("-1234.56"), Decimal("7890.12"), big_endian(13)),
]  # fmt: skip
NAMES = [str(type_) for type_, *_ in TYPES]


def replace_in_footer(path, old, new):
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert old in content[footer:] and len(old) == len(new)
    path.write_bytes(content[:footer] + content[footer:].replace(old, new))


def clear_filters(path):
    content = bytearray(path.read_bytes())
    metadata = pq.read_metadata(path)
    for i in range(metadata.num_row_groups * metadata.num_columns):
        chunk = metadata.row_group(i // metadata.num_columns).column(i % metadata.num_columns)
        if chunk.bloom_filter_offset is None:
            continue
        end = chunk.bloom_filter_offset + chunk.bloom_filter_length
        nbytes = chunk.bloom_filter_length // 32 * 32  # the header has fewer than 32 bytes
        content[end - nbytes : end] = bytes(nbytes)
    path.write_bytes(content)


def kinds(audited):
    return [(finding.row_group, finding.kind) for finding in audited.findings]


@pytest.mark.parametrize("type_, least, greatest, store", TYPES, ids=NAMES)
def test_types(tmp_path, type_, least, greatest, store):
    path = tmp_path / "x.parquet"
    array = pa.array([greatest, None, least, least], type_)
    write(path, array)
    assert audit(path, "id") == ([], 1, 1, 3, 1, 1)
    clear_filters(path)
    assert kinds(audit(path, "id", bounds="none")) == [(0, "filter")]
    assert kinds(audit(path, "id")) == [(0, "filter")]  # the bounds are right
    write(path, array)
    replace_in_footer(path, store(greatest), store(least))
    (finding,), *_ = audit([path], "id")
    assert finding[:2] == (path, 0) and finding.kind == "bounds"
    assert finding.writer.startswith("parquet-cpp-arrow version ")
    assert audit(path, "id", bounds="none") == ([], 1, 1, 3, 0, 1)
    replace_in_footer(path, b"parquet-cpp-arrow", b"parquet-cpp-other")
    assert audit(path, "id") == ([], 1, 1, 3, 0, 1)
    assert kinds(audit(path, "id", bounds="all")) == [(0, "bounds")]


def test_right_files(tmp_path, monkeypatch):
    monkeypatch.setattr(lanebloom.parquet, "_BATCH_NROWS", 100)
    path, values = tmp_path / "x.parquet", np.arange(-1000, 1500, dtype="int16")
    write(path, values)
    assert audit([path, path], "id") == ([], 2, 10, 5000, 10, 10)
    nan = float("nan")
    write(path, [-0.0, 0.0, nan, None, float("-inf")])
    assert audit(path, "id") == ([], 1, 1, 4, 1, 1)
    write(path, [nan])
    assert audit(path, "id") == ([], 1, 1, 1, 0, 1)
    write(path, [None, None], pa.int64())
    assert audit(path, "id") == ([], 1, 1, 0, 0, 1)
    write(path, [], pa.int64())
    assert audit(path, "id").nvalues == 0
    assert audit([], "id") == ([], 0, 0, 0, 0, 0)
    stamps = pa.array([10**18, None, -(10**18)], pa.timestamp("ns"))
    pq.write_table(
        pa.table({"id": stamps}), path, bloom_filter_options={"id": True},
        use_deprecated_int96_timestamps=True,
    )  # fmt: skip
    assert audit(path, "id") == ([], 1, 1, 2, 0, 1)


def test_every_batch_is_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(lanebloom.parquet, "_BATCH_NROWS", 10)
    path = tmp_path / "x.parquet"
    values = np.arange(1000)
    values[777] = GREATEST << 28
    write(path, values)
    replace_in_footer(path, as_("<i8")(GREATEST << 28), as_("<i8")(998))
    (finding,), *_ = audit(path, "id")
    assert (finding.row_group, finding.kind, finding.value.as_py()) == (1, "bounds", values[777])


NESTED = {
    "id.a": pa.array([{"a": 5, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 6, "b": "z"}]),
    "id.list.element": pa.array([[5, None], None, [], [6, 7]]),
    "id.list.element.a": pa.array([[{"a": 5, "b": "x"}, None], None, [{"a": 6, "b": "y"}]]),
    "id.key_value.value": pa.array([[("k", 5), ("l", None)], None, []], pa.map_(pa.string(), "i8")),
}


@pytest.mark.parametrize("column", NESTED)
def test_nested_columns(tmp_path, column):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"id": NESTED[column]}), path, bloom_filter_options={column: True})
    audited = audit(path, column)
    assert audited.findings == [] and audited.nvalues > 0 and audited.nfilters == 1
    clear_filters(path)
    assert kinds(audit(path, column)) == [(0, "filter")]


def test_counts_of_nulls(tmp_path):
    path = tmp_path / "x.parquet"
    write(path, ["a", None])
    assert audit(path, "id", bounds="all") == ([], 1, 1, 1, 1, 1)
    # The count of nulls becomes 2. The fields of the bounds, which follow it, get numbers that
    # readers do not know, so that the file has no bounds.
    replace_in_footer(path, bytes([0x36, 2, 0x28]), bytes([0x36, 4, 0x78]))
    for bounds in "known", "all":
        (finding,), *_ = audit(path, "id", bounds=bounds)
        assert (finding.kind, finding.value.as_py()) == ("counts", "a")
    assert audit(path, "id", bounds="none").findings == []
    # If a count of nulls is too high, but less than the number of rows, it denies no value. With
    # "all", the count is reported nevertheless.
    write(path, ["a", "b", None])
    replace_in_footer(path, bytes([0x36, 2, 0x28]), bytes([0x36, 4, 0x28]))
    assert audit(path, "id").findings == []
    (finding,), *_ = audit(path, "id", bounds="all")
    assert (finding.kind, finding.value) == ("counts", None)


def test_what_cannot_be_audited(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"id": [True]}), path)
    with pytest.raises(ValueError, match='"id": expected values that can be keys, found the type'):
        audit(path, "id")
    with pytest.raises(ValueError, match="bounds: expected 'known', 'all' or 'none', found 'any'"):
        audit(path, "id", bounds="any")
    with pytest.raises(ValueError, match="column"):
        audit(path, "none")
    with pytest.raises(FileNotFoundError):
        audit(tmp_path / "none", "id")


def test_a_filter_of_another_kind_is_like_none(tmp_path):
    path = tmp_path / "x.parquet"
    write(path, [1, 3])
    content = bytearray(path.read_bytes())
    offset = pq.read_metadata(path).row_group(0).column(0).bloom_filter_offset
    at = content.index(bytes([0x1C, 0x1C]), offset)  # a union of Thrift: member 1 becomes 2
    content[at + 1] = 0x2C
    path.write_bytes(content)
    assert audit(path, "id") == ([], 1, 1, 2, 1, 0)
    assert lanebloom.parquet.row_groups(path, "id", [2]) == [(path, [0])]
    assert lanebloom.parquet.row_groups(path, "id", [4]) == []


# polars 1.44.2 wrote these files. Their statistics are wrong.
POLARS = {
    "an unsigned order of decimals": ("bounds", """
H4sIAAAAAAACA6VSwUoDMRCdpOuySCk9OGEDOeihS8EFEUGLeJlqcYsFt0UQwUsRWQ+WQiu2eJR+i/QjxKNfJeokSHHdgoJDMpnM
m/eSCUmpt42AHezE6HHgo292oV6FnIk4rH7k7L3MacnTE0uAHPV3+dIs/JGRzwv5JUCOihVdA1+HYoqgAvUmeUTBwV9P0RtS6nqh
u0KlLr5JQR9BRxzoWAX4IhSAehU28ABQ6jjxRsPhHUrACq6j5BvXVvlVOvGl9UxUgTbaRLOS+WdTar6CdfXo4ZMASw4iq7HGVzNh
mXq90/P98dXN9aAfzsWWtZ0LYmtZ17jn/bT7tXepE6IxHbq1S5sp45OJzbeJsu91zu1Z/MHlnTsmByVkyc02Nd3asnpsTocoPWNS
Y0ALVkZHTi+z1URJRhD66fC2PxprY7jNLn+MlD/vJ9ZHwY7BAgAA
    """),
    "nulls counted once per page": ("counts", """
H4sIAAAAAAACA41RwUoDMRCdTMPSw1L24IQN5FKwi+CCWLAWb1NZa7HgdkE8F5G2qCy0YtWjX+En+DF+i58gTqKHetIhM5N5700m
JCVX+6QpoWRMSACgxW8W6wUBtaiVC5hQRJHr4Y72eBqiiFC8ASA6af5DhwoaFNsDiBKbqjmB0eZdycq6WdP19O8W20a031AIm3sC
myGCzU2XSgNgXhRVRmYQ2vxUL+v6nhAo7qDM6cDYyXSjrbMu+1Tu/3cwH0jb5g3pBLxKZ01JW3I3l8ZcVeeXR6ur+fXdNH1Ve966
NYsVPvQfpH6c/NQBOmNe8XHIE94thV+vPT5inm3qQjj0/FPgAznkQF2wbx6MeBBy4c8TCzrm8lma+oWn/OLhjCGNyvp2ulxZ51+h
rQBK+e0vkVIT6vIBAAA=
    """),
    "bounds beside NaN": ("bounds", """
H4sIAAAAAAACA5VSwUrDQBCdXUMIxaOzZGEvig0FA6KIFrHoRINWD6a5iMciUg9qIJW2eNCbX+HBTxK/w6MHj85um6CIB4fszJs3
+2Z2l2SUryFgjHGMHgMffbMJrQCcfT6GNWIneXliSiztVQVWGTQxyl/y192wRjO5FBWBDd0EX4digqB89S74i4Kdv9R6UUjdElBT
PxIEHTHQsQrwQQGoJ4G3ygNAqeMjryyKO5SAjabkeTxOG22iD2H+eQj1PIfL6k3iMdi9fhRwWOC5JpynPD892x5eXF3e9MMXsWpt
fYPYUuvaI84nvVnuqBOiIe272KOVjOvjseW7RIPv+5zbsvV7i6bFQwfTA7LipEuJi6ntx+b6EGUli9pMnVMyqPolfKhOB0I/K677
5VAbw7fjx4SM/4UvbGaZVRACAAA=
    """),
}  # fmt: skip


@pytest.mark.parametrize("name", POLARS)
def test_files_of_polars(tmp_path, name):
    kind, content = POLARS[name]
    path = tmp_path / "x.parquet"
    path.write_bytes(gzip.decompress(base64.b64decode(content)))
    column = pq.read_schema(path).names[0]
    assert audit(path, column).findings == []  # these statistics are not used
    (finding,), *_ = audit(path, column, bounds="all")
    assert (finding.writer, finding.kind) == ("Polars", kind)
