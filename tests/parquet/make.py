#!/usr/bin/env python3
"""Writes small Parquet files with pyarrow and DuckDB, and the results to expect from such files:

    make.py write FOLDER      writes the files
    make.py answers FOLDER    writes FOLDER/answers.txt for all its files, whoever wrote them

Needs pyarrow, duckdb and xxhash from PyPI. Pyarrow reads the rows, which are the truth. The filters
are probed as the few lines below define the format; DuckDB's own probe must agree.

SPDX-License-Identifier: MIT"""

import datetime
import decimal
import pathlib
import struct
import sys
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

N = 24  # the rows of a row group
GROUPS = 2
EPOCH = datetime.date(1970, 1, 1)
JULIAN_EPOCH, DAY_NS = 2440588, 86400 * 10**9


# ---- Files ----


def number(i):
    """Makes a 64-bit number that looks random."""
    return xxhash.xxh64_intdigest(struct.pack("<Q", i), 1)


def signed(i, bits):
    value = number(i) & ((1 << bits) - 1)
    return value - (1 << bits) if value >> (bits - 1) else value


def columns():
    """Lists columns: name, type of pyarrow, values. Some rows are null."""
    rows = range(N * GROUPS)

    def some(values):
        return [None if i % 11 == 5 else v for i, v in enumerate(values)]

    def of(bits):
        return some(signed(i, bits) for i in rows)

    def unsigned(bits):
        return some(number(i) >> (64 - bits) for i in rows)

    def decimals(digits, scale):
        with decimal.localcontext() as context:
            context.prec = 60
            return some(
                decimal.Decimal((signed(i, 64) * number(i)) % 10**digits * (-1) ** i).scaleb(-scale)
                for i in rows
            )

    floats = [signed(i, 32) / 256 for i in rows]
    floats[3], floats[4], floats[N + 7], floats[N + 8] = 0.0, float("inf"), -0.0, float("nan")
    return [
        ("text", pa.string(), some(f"key {number(i) % 1000} of {i}" for i in rows)),
        ("binary", pa.binary(), some(number(i).to_bytes(8, "big")[: i % 9] for i in rows)),
        ("int8", pa.int8(), of(8)),
        ("int16", pa.int16(), of(16)),
        ("int32", pa.int32(), of(32)),
        ("int64", pa.int64(), of(64)),
        ("uint8", pa.uint8(), unsigned(8)),
        ("uint16", pa.uint16(), unsigned(16)),
        ("uint32", pa.uint32(), unsigned(32)),
        ("uint64", pa.uint64(), unsigned(64)),
        ("float32", pa.float32(), some(floats)),
        ("float64", pa.float64(), some(floats)),
        ("date", pa.date32(), some(EPOCH + datetime.timedelta(signed(i, 16)) for i in rows)),
        ("ms", pa.timestamp("ms"), some(signed(i, 40) for i in rows)),
        ("us", pa.timestamp("us", "UTC"), some(signed(i, 50) for i in rows)),
        ("ns", pa.timestamp("ns"), some(signed(i, 60) for i in rows)),
        ("decimal9", pa.decimal128(9, 2), decimals(9, 2)),
        ("decimal18", pa.decimal128(18, 3), decimals(18, 3)),
        ("decimal38", pa.decimal128(38, 10), decimals(38, 10)),
        ("uuid", pa.uuid(), some(number(i).to_bytes(16, "little") for i in rows)),
        ("fixed", pa.binary(5), some(number(i).to_bytes(8, "big")[:5] for i in rows)),
        ("tags", pa.list_(pa.string()), some([f"tag {number(i) % 9}"] * (i % 4) for i in rows)),
        (
            "user",
            pa.struct([("id", pa.int64()), ("name", pa.string())]),
            some({"id": signed(i, 33), "name": f"user {i}"} for i in rows),
        ),
        ("counts", pa.map_(pa.string(), pa.int32()), some([(f"word {i % 7}", i)] for i in rows)),
        ("nothing", pa.string(), [None] * len(rows)),
        ("half", pa.string(), [f"half {i}" if i < N else None for i in rows]),
        ("flag", pa.bool_(), some(i % 3 == 0 for i in rows)),
    ]


def times():
    """Microseconds since 1970 in all years of text; nanoseconds have 64 bits from 1677 to 2262."""
    texts = ["0001-01-01", "9999-12-31 23:59:59.999999", "1582-10-04", "1582-10-15 12:00"]
    texts += ["1677-09-21 00:12:43.145224", "1677-09-21 00:12:43.145225", "1969-12-31 23:59:59"]
    texts += ["2262-04-11 23:47:16.854775", "2262-04-11 23:47:16.854776", "2263-01-01"]
    texts += ["9999-12-31", "0001-01-01 00:00:00.000001"]
    near = [
        (datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1))
        // datetime.timedelta(microseconds=1)
        for text in texts
    ]
    least, most = near[:2]
    return near + [least + number(i) % (most - least) for i in range(N * GROUPS - len(near))]


def leaves(schema):
    """Lists the paths of the columns that can have filters."""
    for field in schema:
        if pa.types.is_boolean(field.type):
            continue
        if pa.types.is_list(field.type):
            yield f"{field.name}.list.element"
        elif pa.types.is_struct(field.type):
            for i in range(field.type.num_fields):
                yield f"{field.name}.{field.type.field(i).name}"
        elif pa.types.is_map(field.type):
            yield f"{field.name}.key_value.key"
            yield f"{field.name}.key_value.value"
        else:
            yield field.name


def write_pyarrow(folder):
    named = columns()
    schema = pa.schema([(name, type) for name, type, _ in named])
    table = pa.table([pa.array(values, type) for _, type, values in named], schema)
    options = {"row_group_size": N, "compression": "none", "store_schema": False}
    filters = {path: {"ndv": N, "fpp": 0.02} for path in leaves(schema)}
    pq.write_table(
        table,
        folder / "pyarrow.parquet",
        bloom_filter_options=filters,
        store_decimal_as_integer=True,
        **options,
    )
    few = table.select(["text", "int64", "uint32", "float64", "decimal38", "uuid", "tags", "user"])
    pq.write_table(few, folder / "pyarrow_without_filters.parquet", **options)
    pq.write_table(
        few,
        folder / "pyarrow_without_statistics.parquet",
        write_statistics=False,
        bloom_filter_options={path: filters[path] for path in leaves(few.schema)},
        **options,
    )
    pq.write_table(
        table.select(["ns", "us"]),
        folder / "pyarrow_int96.parquet",
        use_deprecated_int96_timestamps=True,
        bloom_filter_options={"ns": filters["ns"], "us": filters["us"]},
        **options,
    )
    pq.write_table(
        pa.table({"time": pa.array(times(), pa.timestamp("us"))}),
        folder / "pyarrow_int96_years.parquet",
        use_deprecated_int96_timestamps=True,
        bloom_filter_options={"time": {"ndv": N, "fpp": 0.02}},
        **options,
    )
    pq.write_table(few.slice(0, 0), folder / "pyarrow_no_rows.parquet", **options)


def write_duckdb(folder):
    """DuckDB writes filters for chunks with a dictionary, and row groups of at least 2048 rows."""
    nrows = 2048
    connection = duckdb.connect()
    connection.execute(
        f"""create table t as
        select case when i % 11 <> 5 then v end as n from (
          select i, (i % 12 + 12 * (i // {nrows}))::bigint as v
          from range({nrows * GROUPS}) as r(i))"""
    )
    connection.execute(
        f"""copy (
          select 'key ' || n as text, n::varchar::blob as binary,
            (n * 7 - 90)::tinyint as int8, (n * 700 - 9000)::smallint as int16,
            (n * 90000007 - 1000000000)::integer as int32,
            (n::hugeint * 400000000000000007 - 5000000000000000000)::bigint as int64,
            (n * 10)::utinyint as uint8, (n * 2700)::usmallint as uint16,
            (n * 170000000)::uinteger as uint32,
            (n::hugeint * 700000000000000000)::ubigint as uint64,
            (n / 8 - 1)::float as float32, n / 10 - 1 as float64,
            date '1969-12-20' + n::integer as date,
            timestamp_ms '1969-12-31' + to_hours(n) as ms,
            timestamp '1969-12-31' + to_seconds(n * 9999) as us,
            timestamp_ns '1969-12-31' + to_hours(n) as ns,
            (n * 10 - 99.5)::decimal(9, 2) as decimal9, (n - 9.125)::decimal(18, 3) as decimal18,
            (n * 1e20 - 99)::decimal(38, 10) as decimal38,
            md5(n::varchar)::uuid as uuid,
            ['tag ' || n] as tags, {{'id': n * 3, 'name': 'user ' || n}} as user,
            'one' as constant
          from t
        ) to '{folder}/duckdb.parquet' (format parquet, row_group_size {nrows},
          compression 'zstd', bloom_filter_false_positive_ratio 0.02)"""
    )


# ---- What to expect ----

SALT = (
    0x47B6137B,
    0x44974D91,
    0x8824AD5B,
    0xA2B7289D,
    0x705495C7,
    0x2DF1424B,
    0x9EFC4947,
    0x5C6BFB31,
)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def bits_of(data, offset):
    """Returns the bits after a header of the only kind that is defined so far."""
    assert data[offset] == 0x15
    zigzag, at = varint(data, offset + 1)
    rest = bytes.fromhex("1c1c00001c1c00001c1c000000")
    assert data[at : at + len(rest)] == rest
    return data[at + len(rest) : at + len(rest) + zigzag // 2]


def may_have(bits, stored):
    hash = xxhash.xxh64_intdigest(stored)
    block = ((hash >> 32) * (len(bits) // 32) >> 32) * 32
    low = hash & 0xFFFFFFFF
    return all(
        bits[block + 4 * word + bit // 8] >> bit % 8 & 1
        for word, salt in enumerate(SALT)
        for bit in [(low * salt & 0xFFFFFFFF) >> 27]
    )


class Kind:
    """Turns a column's values into keys, and keys into the bytes that are hashed."""

    def __init__(self, arrow, physical):
        self.arrow, self.physical = arrow, physical
        types = pa.types
        self.decimal = types.is_decimal(arrow)
        self.float = types.is_floating(arrow)
        self.wide = physical == "INT96" and arrow.unit == "us"
        name = str(arrow)
        if isinstance(arrow, pa.UuidType):
            self.encoding = "uuid"
        elif types.is_timestamp(arrow):
            self.encoding = f"timestamp-{arrow.unit}"
        elif types.is_date(arrow):
            self.encoding = "date32"
        elif self.decimal:
            self.encoding = "decimal128"
        elif types.is_integer(arrow):
            bits = arrow.bit_width
            self.encoding = ("u" if name[0] == "u" else "") + f"int{max(bits, 32)}"
        elif self.float:
            self.encoding = f"float{arrow.bit_width}"
        else:
            self.encoding = "bytes"

    def key(self, value):
        form = {
            "int32": "<i",
            "uint32": "<I",
            "date32": "<i",
            "int64": "<q",
            "uint64": "<Q",
            "float32": "<f",
            "float64": "<d",
        }
        if self.encoding == "uuid":
            return value.bytes
        if self.encoding == "bytes":
            return value.encode() if isinstance(value, str) else value
        if self.encoding == "decimal128":
            with decimal.localcontext() as context:
                context.prec = 60
                return int(value.scaleb(self.arrow.scale)).to_bytes(16, "little", signed=True)
        if self.encoding == "date32":
            value = (value - EPOCH).days
        if self.wide:
            return (value * 1000).to_bytes(16, "little", signed=True)
        return struct.pack(form.get(self.encoding, "<q"), value)

    def stored(self, key):
        if self.physical == "INT96":
            ns = int.from_bytes(key, "little", signed=True)
            return struct.pack("<qi", ns % DAY_NS, JULIAN_EPOCH + ns // DAY_NS)
        if not self.decimal:
            return key
        value = int.from_bytes(key, "little", signed=True)
        size = {"INT32": 4, "INT64": 8}.get(self.physical)
        if size:
            return value.to_bytes(size, "little", signed=True)
        return value.to_bytes(self.fixed_size, "big", signed=True)

    def absent(self, i):
        """Makes a key that the files above probably do not have."""
        drawn = number(1000 + i).to_bytes(8, "little") + number(2000 + i).to_bytes(8, "little")
        sizes = {"int32": 4, "uint32": 4, "float32": 4, "date32": 4, "uuid": 16}
        narrow = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2}.get(str(self.arrow))
        if narrow:
            value = int.from_bytes(drawn[:narrow], "little", signed=str(self.arrow)[0] == "i")
            return value.to_bytes(4, "little", signed=str(self.arrow)[0] == "i")
        if self.decimal:
            digits = number(1000 + i) * number(2000 + i) % 10**self.arrow.precision
            return (digits * (-1) ** i).to_bytes(16, "little", signed=True)
        if self.encoding == "bytes":
            fixed = pa.types.is_fixed_size_binary(self.arrow)
            return drawn[: self.arrow.byte_width if fixed else i % 9]
        if self.wide:
            return self.key(signed(1000 + i, 58))
        return drawn[: sizes.get(self.encoding, 8)]


def flat(array):
    """Yields the paths and values of the leaves below an array of the table."""
    type = array.type
    if pa.types.is_map(type):
        yield from ((f".key_value.key{p}", a) for p, a in flat(array.keys))
        yield from ((f".key_value.value{p}", a) for p, a in flat(array.items))
    elif pa.types.is_list(type):
        for path, below in flat(array.flatten()):
            yield ".list.element" + path, below
            yield ".list.item" + path, below
            yield ".list.array" + path, below
    elif pa.types.is_struct(type):
        for i in range(type.num_fields):
            yield from ((f".{type.field(i).name}{p}", a) for p, a in flat(array.flatten()[i]))
    else:
        yield "", array


def plain(array):
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    return [value for value in array.to_pylist() if value is not None]


def within(kind, statistics, value):
    """May the bounds have the value? NaN is in all of them, and both zeros are one value."""
    if statistics is None or not statistics.has_min_max:
        return True
    if kind.physical == "INT96" or value != value:
        return True
    low, high = statistics.min, statistics.max
    return low <= value <= high


def bounds_value(kind, key):
    """Turns a key into a value that pyarrow's statistics can be compared with."""
    value = int.from_bytes(key, "little", signed=kind.encoding[0] != "u")
    if kind.encoding in ("uuid", "bytes"):
        return key
    if kind.float:
        return struct.unpack("<f" if len(key) == 4 else "<d", key)[0]
    return value


def raw(statistics, kind):
    """Returns bounds as numbers or bytes, not as pyarrow's objects."""

    class Bounds:
        has_min_max = statistics is not None and statistics.has_min_max

    if not Bounds.has_min_max:
        return None
    for name in "min", "max":
        value = getattr(statistics, f"{name}_raw")
        if kind.decimal and not isinstance(value, int):
            value = int.from_bytes(value, "big", signed=True)
        if isinstance(value, str):
            value = value.encode()
        if kind.encoding[0] == "u" and isinstance(value, int):
            value &= (1 << kind.arrow.bit_width) - 1
        setattr(Bounds, name, value)
    if kind.float and (Bounds.min != Bounds.min or Bounds.max != Bounds.max):
        return None
    return Bounds


def hexes(keys):
    return ",".join(key.hex() or "-" for key in keys) or "."


def bitmap(bits):
    value = sum(1 << i for i, bit in enumerate(bits) if bit)
    return value.to_bytes((len(bits) + 7) // 8, "little").hex() or "-"


def answers(path, out):
    data = path.read_bytes()
    # pyarrow reads INT96 as 64 bits. These hold nanoseconds, or units for a wider range of years.
    unit = "us" if "years" in path.name else "ns"
    file = pq.ParquetFile(path, coerce_int96_timestamp_unit=unit)
    meta = file.metadata
    found = []
    for group in range(meta.num_row_groups):
        table = file.read_row_group(group)
        arrays = {}
        for name, column in zip(table.column_names, table.columns):
            for below, array in flat(column.combine_chunks()):
                arrays[name + below] = array
        found.append(arrays)
    print("F", path.name, file=out)
    for column in range(meta.num_columns if meta.num_row_groups else 0):
        chunk = meta.row_group(0).column(column)
        name = chunk.path_in_schema
        if name not in found[0] or pa.types.is_boolean(found[0][name].type):
            continue
        kind = Kind(found[0][name].type, chunk.physical_type)
        if kind.physical == "INT96":
            kind.encoding = "timestamp-ns"
        if kind.physical == "FIXED_LEN_BYTE_ARRAY" and kind.decimal:
            kind.fixed_size = meta.schema.column(column).length
        groups = [{kind.key(value) for value in plain(arrays[name])} for arrays in found]
        questions = sorted(set().union(*groups, map(kind.absent, range(N))))
        print("C", name, kind.encoding, hexes(questions), file=out)
        for group, keys in enumerate(groups):
            chunk = meta.row_group(group).column(column)
            bounds = raw(chunk.statistics, kind) if chunk.is_stats_set else None
            bits = chunk.bloom_filter_offset and bits_of(data, chunk.bloom_filter_offset)
            may = []
            for key in questions:
                value = bounds_value(kind, key)
                spellings = [kind.stored(key)]
                if kind.float and value == 0:
                    form = "<f" if len(key) == 4 else "<d"
                    spellings = [struct.pack(form, zero) for zero in (0.0, -0.0)]
                elif kind.physical == "INT96" and value < 0 and value % DAY_NS:
                    days = value // DAY_NS + 1  # rounded towards 1970, as some writers do
                    spellings.append(struct.pack("<qi", value - days * DAY_NS, JULIAN_EPOCH + days))
                nulls = chunk.statistics and chunk.statistics.has_null_count
                may.append(
                    not (nulls and chunk.statistics.null_count == chunk.num_values)
                    and chunk.num_values > 0
                    and (
                        value != value
                        or within(kind, bounds, value)
                        and (not bits or any(may_have(bits, s) for s in spellings))
                    )
                )
            assert keys <= {key for key, bit in zip(questions, may) if bit}, (path, name)
            print("G", bitmap([key in keys for key in questions]), bitmap(may), file=out)


def main():
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "write":
        write_pyarrow(folder)
        write_duckdb(folder)
        return
    with open(folder / "answers.txt", "w") as out:
        print("# made by tests/parquet/make.py; README.md explains it", file=out)
        for path in sorted(folder.glob("*.parquet")):
            answers(path, out)


main()
