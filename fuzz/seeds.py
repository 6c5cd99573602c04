#!/usr/bin/env python3
"""Writes the inputs with which fuzzing begins, one folder for each target, from the frozen vectors:
seeds.py VECTORS FOLDER.
SPDX-License-Identifier: MIT"""

import base64
import gzip
import pathlib
import struct
import subprocess
import sys

vectors, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
LEVELDB, LEGACY, LOCAL, ROCKSDB, SIGNED, RIBBON = range(1, 7)  # lanebloom_format
SPARK_V1, SPARK_V2, BINARYFUSE, HUDI = 8, 9, 10, 19
GUAVA_32, GUAVA_64, GUAVA, CASSANDRA, CASSANDRA_3, CASSANDRA_2 = range(13, 19)
DCSO, DCSO_SIGNED = 11, 12


def seed(target, *parts):
    """Writes an input of these parts, which are bytes or numbers of one byte."""
    path = folder / target
    path.mkdir(parents=True, exist_ok=True)
    number = len(list(path.iterdir()))
    (path / f"{number:05}").write_bytes(
        b"".join(bytes([p]) if isinstance(p, int) else p for p in parts)
    )


def rows(name, every=1):
    lines = (vectors / name).read_text().splitlines()
    return [line.split() for line in lines if not line.startswith("#")][::every]


def of_hex(text):
    return b"" if text in ("-", ".") else bytes.fromhex(text)


def short(key):
    """Returns the key in the form that input_short() reads."""
    return bytes([min(len(key), 255)]) + key[:255]


def batch(keys, n):
    """Returns n keys in the form that input_keys() reads."""
    keys = keys[:256] or [b""]
    return bytes([n, len(keys) - 1]) + b"".join(map(short, keys))


def keys_of(text):
    return [] if text == "." else [of_hex(key) for key in text.split(",")]


def container(format, payload, key_form=0):
    return (
        struct.pack(
            "<8sIIQQQIIQQ",
            b"\x89LBF\r\n\x1a\n",
            2 if key_form else 1,
            format,
            2**64 - 1,
            10000,
            len(payload),
            key_form,
            0,
            0,
            0,
        )
        + payload
    )


for name, formats in [
    ("leveldb_filters.txt", (LEVELDB, SIGNED)),
    ("rocksdb_legacy_filters.txt", (LEGACY, ROCKSDB)),
    ("rocksdb_fastlocal_filters.txt", (LOCAL, ROCKSDB)),
    ("spark/v1_filters.txt", (SPARK_V1,)),
    ("spark/v2_filters.txt", (SPARK_V2,)),
]:
    for bits, _, filter, keys in rows(name, 5):
        for format in formats:
            for n, times in (1, 0), (17, 3), (150, 20), (255, 0):
                seed("filter", format, times, batch(keys_of(keys), n), of_hex(filter))
            for what in range(3):
                seed("container", what, container(format, of_hex(filter)))
            seed("container", 1, container(format, of_hex(filter), 0x20001))
        seed(
            "keys",
            len(keys) % 6,
            {LEVELDB: 0, LEGACY: 2, LOCAL: 3, SPARK_V1: 5, SPARK_V2: 6}[formats[0]],
            int(float(bits)) % 50,
            1,
            1,
            3,
            batch(keys_of(keys), 100),
        )
for name, format, every in [
    ("leveldb_queries.txt", LEVELDB, 10),
    ("rocksdb_reader_cases.txt", ROCKSDB, 10),
    ("spark/v1_queries.txt", SPARK_V1, 10),
    ("spark/v2_queries.txt", SPARK_V2, 10),
    ("spark/v1_damage.txt", SPARK_V1, 2),
    ("spark/v2_damage.txt", SPARK_V2, 2),
]:
    for filter, key, _ in rows(name, every):
        seed("filter", format, 0, batch([of_hex(key)], 9), of_hex(filter))
for row in rows("dcso.txt"):
    if row[0] == "F":
        for format in DCSO, DCSO_SIGNED:
            for n, times in (1, 0), (17, 3), (150, 20), (255, 0):
                seed("filter", format, times, batch(keys_of(row[6]), n), of_hex(row[5]))
        for what in range(3):
            seed("container", what, container(DCSO, of_hex(row[5])))
    elif row[0] == "X":
        seed("filter", DCSO, 0, batch([b"a"], 9), of_hex(row[2]))
for row in rows("rocksdb_ribbon.txt"):
    if row[0] == "F":
        for format in ROCKSDB, RIBBON:
            for nblocks in None, 1, 2, 100:
                filter = of_hex(row[3])[-2000:]
                if nblocks:
                    filter = filter[:-3] + nblocks.to_bytes(3, "little")
                seed("filter", format, 0, batch([b"key"], 9), filter)
for row in rows("pebble_binaryfuse.txt", 2):
    keys, filter, probes = (column.split("=")[1] for column in row[3:])
    asked = keys_of(keys)[:100] + [of_hex(key.split(":")[0]) for key in probes.split(",")]
    seed("filter", BINARYFUSE, 0, batch(asked, 200), of_hex(filter))
    seed("filter", BINARYFUSE, 1, batch(asked[:2], 200), of_hex(filter))
    seed("container", 1, container(BINARYFUSE, of_hex(filter)))
for name, formats in ("guava/filters.txt", {"0": GUAVA_32, "1": GUAVA_64}), (
    "cassandra/filters.txt",
    {"na": CASSANDRA, "ma": CASSANDRA_3, "ka": CASSANDRA_2},
):
    for kind, _, _, _, _, filter, keys, queries, _ in rows(name):
        for format in {formats[kind], GUAVA} if kind in "01" else {formats[kind]}:
            for times in 0, 5:
                asked = keys_of(keys)[:50] + keys_of(queries)
                seed("filter", format, times, batch(asked, 200), of_hex(filter))
            seed("container", 1, container(formats[kind], of_hex(filter)))
for name, format in ("guava/damage.txt", GUAVA), ("cassandra/damage.txt", CASSANDRA):
    for _, filter, _ in rows(name):
        seed("filter", format, 0, batch([b"a"], 9), of_hex(filter))
for row in rows("hudi.txt"):
    if row[0] == "F":
        for filter in row[5].encode(), row[5].encode() + b"\r\n", base64.b64decode(row[5]):
            seed("filter", HUDI, 0, batch(keys_of(row[7]), 150), filter)
        seed("container", 1, container(HUDI, base64.b64decode(row[5])))
    elif row[0] == "X":
        seed("filter", HUDI, 0, batch([b"a", b""], 9), of_hex(row[3]))
for length in list(range(0, 40)) + [64, 127, 128, 129, 240, 241, 255]:
    key = bytes((i * 167 + length * 13 + 59) & 0xFF for i in range(length))
    for format in range(4):
        for layout in range(6):
            seed("keys", layout, format, 9, 2, 2, length % 16, batch([key], 40))
        mixed = batch([key, key[:9], b"", key[:17]], 190)
        for layout in length % 3, 5:
            seed("keys", layout, format, 9, 2, 2, 0, mixed)

for kind, block, *rest in rows("leveldb_filter_blocks.txt", 3):
    if kind == "Q":
        offset, key = int(rest[0]), of_hex(rest[1])
        seed(
            "filter_block",
            0,
            struct.pack("<QIB", offset, 700, 20),
            batch([key, b""], 60),
            of_hex(block),
        )
    else:
        calls = [call.split(":") for call in "".join(rest).split(";") if ":" in call]
        seed("filter_block", 0, struct.pack("<QIB", 0, 1024, 3), batch([b"key"], 60), of_hex(block))
        body, before = b"", 0
        for start, keys in calls:
            keys = [of_hex(key) for key in keys.split(",")] if keys else []
            body += struct.pack("<HB", min(int(start) - before, 65535), len(keys)) + b"".join(
                map(short, keys)
            )
            before = int(start)
        seed("filter_block", 2, 10, 11, body)
        seed("filter_block", 3, 10, 5, body)

some_keys = [b"abcd", b"key00000", b"KEY00500", b"\xff\xff"]
for (key,) in rows("tables/keys.txt", 9):
    key = of_hex(key)
    some_keys += key, key[:3], key[:2] + b"\x55"  # prefixes that keys have, and others
for path in sorted(vectors.glob("tables*/**/*")):
    if (
        path.suffix in (".sst", ".ldb", ".bin") and path.name != "bomb.sst"
    ):  # this file alone takes a second
        for how in 0, 1, 3, 5:
            seed("table", how, batch(some_keys, 60), path.read_bytes())
for path in sorted(vectors.glob("[hp]*/*.parquet")):
    for key in b"key 7", b"\x07", b"\xff" * 96:
        seed("parquet", key.ljust(96, b"\0"), path.read_bytes())
pebble = (vectors / "tables/rocksdb_fv5_xxh3_flb10.sst").read_bytes()[:-12]
seed("table", 0, batch(some_keys, 60), pebble, struct.pack("<IQ", 4, 0xB3AA9FF0B3AA9FF0))
for kind, block, _ in rows("pebble_columnar.txt"):
    layout = ("metaindex", "index", "data").index(kind[5:].replace("properties", "metaindex"))
    seed("columns", layout, bytes.fromhex(block.removeprefix("block=")))
for row in rows("pebble_footers.txt", every=8):
    seed("table", 1, batch(some_keys, 60), bytes(64), bytes.fromhex(row[2].removeprefix("footer=")))

name = b"leveldb.BytewiseComparator"
for type, content in (
    (1, b"\x01" + short(name) + b"\x02\x00"),
    (2, b"\x01" + short(b"other") + b"\x09\x00"),
    (3, b""),
):
    for what in range(4):
        seed(
            "manifest",
            what,
            short(b"MANIFEST-000002\n"),
            struct.pack("<IHB", 0, len(content), type),
            content,
        )

SINGLE = b"\x01" + short(b"key") + short(b"value")
batches = [
    (1, SINGLE),
    (2, b"\x00" + short(b"gone") + b"\x07" + short(b"gone")),
    (2, b"\x05\x02" + short(b"key") + short(b"value") + b"\x06\x80\x01" + short(b"k") + short(b"")),
    (1, b"\x0e\x01" + short(b"from") + short(b"to")),
    (1, b"\x09" + SINGLE + b"\x0a" + short(b"name")),
    (0, b"\x0b" + short(b"name") + b"\x0d\x03" + short(b"data")),
    (3, SINGLE),  # the number of entries is wrong
    (1, b"\x14" + short(b"key")),  # an unknown tag
]
batches = [struct.pack("<QI", 9, n) + body for n, body in batches]


def fragment(type, content, number=b""):
    return struct.pack("<IHB", 0, len(content), type) + number + content


own = struct.pack("<I", 7)
for content in batches:
    for pieces in 0, 1, 6, 127:
        seed("batch", pieces, content)
    seed("log", 1, 7, fragment(1, content) + fragment(1, batches[0]))
    parts = content[:9], content[9:15], content[15:]
    seed("log", 1, 7, *(fragment(type, part) for type, part in zip((2, 3, 4), parts)))
    seed("log", 1, 7, fragment(5, content, own), fragment(5, content, b"\x03\0\0\0"))
    seed("log", 0, 7, fragment(1, content))
    seed("log", 1, 7, fragment(10, b"\0\0\0\0\x02\0"), fragment(1, content), bytes(20))
frame = bytes.fromhex("28b52ffd2016b10000") + struct.pack("<QI", 9, 1) + SINGLE[:10]
seed("log", 1, 7, fragment(9, b"\x07\0\0\0"), fragment(1, frame))

pebble_batches = [
    (1, SINGLE),
    (2, b"\x16\x01\x06" + b"\x16\x02\xac\x02"),  # ingested tables
    (2, b"\x18" + short(b"from") + short(b"to") + b"\x1a\x01\x06" + short(b"blobs")),
    (3, b"\x17" + short(b"gone") + short(b"5") + b"\x0f" + short(b"a") + short(b"b") + SINGLE),
    (2, b"\x15" + short(b"a") + short(b"b") + b"\x07" + short(b"gone") + b"\x03" + short(b"data")),
]
synced = [own + struct.pack("<Q", n) for n in (0, 200)]
for n, body in pebble_batches:
    content = struct.pack("<QI", 9, n) + body
    for pieces in 0, 1, 6, 127:
        seed("batch", 128 + pieces, content)
    for number in synced:
        whole = fragment(9, content, synced[0])
        parts = content[:9], content[9:15], content[15:]
        split = (fragment(type, part, number) for type, part in zip((10, 11, 12), parts))
        seed("log", 3, 7, whole, *split)
        seed("log", 3, 7, whole, fragment(5, b"", b"\x08\0\0\0"), whole)
        far = bytes(32768 - len(whole)), fragment(9, content, number)
        seed("log", 3, 7, whole, *far)  # the log may state that some of the zeros were on disk
for path in sorted((vectors / "databases").rglob("*.log")):
    seed("log", 2, int(path.name[:6]), path.read_bytes())

numbers = b"\x02\x05\x03\x09\x04\x64\x09\x00"
table = b"\x07\x00\x05\x64" + short(b"a1234567-") + short(b"z1234567-")
edits = [
    b"\x01" + short(name) + numbers,
    table,
    b"\x06\x00\x05" + b"\x07\x01\x05\x64" + short(b"a1234567-") + short(b"z1234567-"),
    b"\xc8\x01\x01\xc9\x01" + short(b"family"),
    b"\xc8\x01\x01\xca\x01",
    b"\x67\x02\x08\x64" + short(b"a1234567-") + short(b"b1234567-") + b"\x01\x02\x41\x01\x01\x01",
    b"\x02\x06\xac\x02\x01",  # two edits of one group
    b"\x02\x07\xac\x02\x00",
    b"\x87\x40\x01\x08",
    b"\x84\x40\x09\x02\x64\x01",
]
for last in range(1, len(edits) + 1):
    chosen = [edits[0], *edits[max(1, last - 3) : last]]
    seed("version", 0, b"".join(struct.pack("<H", len(edit)) + edit for edit in chosen))
    seed("version", 1, b"".join(fragment(1, edit) for edit in chosen))

bounds = short(b"a1234567-") + short(b"z1234567-")
pebble_edits = [
    b"\x68\x00\x06\x64\x07" + bounds + bounds + b"\x01\x02\x01",
    b"\x68\x00\x07\x64\x00" + bounds + b"\x01\x02\x06\x01\x05\x01",
    b"\x06\x00\x05\x69\x05\x64" + b"\x67\x06\x08\x64" + bounds + b"\x01\x02\x42\x05\x01",
    b"\x67\x06\x09\x64" + bounds + b"\x01\x02\x42\x05\x45\x01\x02\x01\x02\x03\x04\x01",
    b"\x67\x06\x0a\x64" + bounds + b"\x01\x02\x46\x01\x01\x01\x02\x03\x43\x01p\x01",
    b"\x06\x06\x08\x6a\x05\x6b\x01\x02\x03\x04\x05\x6c\x01\x02",
    b"\x0a" + short(b"a") + short(b"b") + b"\x01\x02\x0b\x06\x07",
]
for last in range(1, len(pebble_edits) + 1):
    chosen = [*edits[:2], *pebble_edits[max(0, last - 3) : last]]
    seed("version", 2, b"".join(struct.pack("<H", len(edit)) + edit for edit in chosen))
for path in sorted((vectors / "databases").rglob("MANIFEST-*")):
    seed("version", 3, path.read_bytes())

kinds = [b"\x89LBF", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"ORC\x11\0\0"]
for begins in *kinds, "a\nbc\n".encode("utf-16le"), "a\nbc\n".encode("utf-16be"):
    for n in 2, 3, len(begins):
        for width in 0, 1:
            seed(
                "records",
                width,
                0,
                n - 1,
                begins[:n],
                0xFF,
                2,
                b"a\nb",
                0,
                begins[:1],
                len(begins) - 2,
                begins[1:],
                3,
                b"c\nde",
            )

# Streams of gzip and zstd: each alone, cut short, and followed by another stream and by zeros.
rows = b"".join(b"key-%08d\n" % i for i in range(300))
members = [gzip.compress(some, 9) for some in (b"", b"one\n", rows, bytes(5000))]
frames = [
    subprocess.run(["zstd", "-q", *how], input=rows, stdout=subprocess.PIPE, check=True).stdout
    for how in ([], ["--no-check", "-19"], ["--long=28"])
] + [b"\x53\x2a\x4d\x18\x03\0\0\0---"]
for codec, streams in (0, members), (1, frames):
    for most_in, most_out in (0, 0), (255, 65535), (6, 99):
        for some in streams:
            how = struct.pack("<BBH", codec, most_in, most_out)
            seed("decompress", how, some)
            seed("decompress", how, some[:-5])
            seed("decompress", how, some, streams[1], bytes(9))

table = b'id,name\r\n1,"a,b"\r\n"2","x ""y"""\n3,"two\r\nlines"\r\n\n4\n'
for flags in range(32):
    for fields in b"\x00", b"\x01", b"\x01\x00", b"\x05":
        for repeats in 0, 255:
            for how in 0x00, 0x17, 0x2D:
                seed("fields", flags, repeats, how, fields, 0xFF, table)

for form, text in (
    (0, "Some Text"),
    (1, "0123456789abcdefABCDEF0123456789"),
    (2, "QUJDREVGRw=="),
    (3, "-2147483648"),
    (4, "9223372036854775807"),
    (5, "4294967295"),
    (6, "18446744073709551615"),
):
    for lowered in (0, 2):
        seed("decoding", form, lowered, text.encode())
for form, text in (
    (7, "-1.5e-3"),
    (7, "3.4028236e38"),
    (8, "1.7976931348623157e308"),
    (8, "-inf"),
    (8, "4.9e-324"),
    (9, "2024-02-29"),
    (9, "0001-01-01"),
    (10, "1969-12-31 23:59:59-0130"),
    (11, "2024-02-29T12:34:56.7890+01:00"),
    (12, "9999-12-31T23:59:59.999999Z"),
    (13, "1677-09-21T00:12:43.145224192"),
    (13, "2262-04-11T23:47:16.854775807Z"),
    (13, "9999-12-31T23:59:59.999999999Z"),
    (14, "-12345678901234567890123456789012345678"),
    (14, "1.25e-3"),
    (14, "-0.00012e999999999999999999999"),
    (14 + 16, "+0.50"),
    (15, "123E4567-e89b-12d3-a456-426614174000"),
    (15, "123e4567e89b12d3a456426614174000"),
):
    for flags in (0, 1, 8 * 2, 8 * 31):
        seed("decoding", form, flags, text.encode())

texts = "caf\u00e9\t\U0001f600 Ab\r\n\n x\ty \n".encode()
columns = b"user26\t-2\t0xcafe\r\n\t2147483647\t\na\t1\t0x1\n"
uuids = b"123e4567-e89b-12d3-a456-426614174000\n123e4567e89b12d3a456426614174000\n"
for flags in (0, 1, 2, 6, 8, 16, 32, 64, 70):
    for ranges in b"\xff", b"\x00\xff\xff", b"\x00\x02\x02\xff\xff":
        for what in [0, 24, 1, 2 + 8, 3 + 16, 4, 4 + 8]:
            seed("lines", flags, what, 2, ranges, texts)
        seed("lines", flags, 3 * 32, 0, 1, 4, 2, ranges, columns)
        seed("lines", flags, 2 * 32, 0, 2, 99, ranges, columns)
        seed("lines", flags, 32, 3, 0, ranges, uuids)

lines = [
    b'{"a":"x","b":1}',
    b'{"b":-2.50e+7,"a":["\\u00e9\\ud83d\\ude00\\n",{"a":null}]}',
    b' {"a":[true,false],"b":{"c/d":"x","c/d":""}}\r',
    b"[[],{}]",
    b"",
]
for flags in range(8):
    seed("json", flags, b"\n".join(lines))
    for line in lines:
        seed("json", flags, line)

text = b"one\ntwo\r\n\nthree\0four\n"
for width in 0, 1, 5:
    for how in range(3):
        seed(
            "records",
            width,
            how,
            20,
            text[:21],
            0xF0,
            3,
            text[:4],
            0xFF,
            5,
            text[:6],
            0xF5,
            20,
            text[:21],
        )
        for n in 2047, 2048, 2049, 5000, 65535:
            seed(
                "records",
                width,
                how,
                0x82,
                b"a\nb",
                struct.pack("<H", n),
                0xBF,
                text * 3,
                b"\n",
                struct.pack("<H", n),
            )

verbs = [
    "-o out --bits 10 a b",
    "words.lbf a.txt -c",
    "--measure words.lbf",
    "--format leveldb",
    "db",
    "-o f t",
    "--json",
]
words = [
    "-z",
    "--width=16",
    "--crlf",
    "-j 2",
    "--raw --format rocksdb",
    "--writer goleveldb",
    "--kernel scalar",
    "--rate 0.01 -o x",
    "--expected 1000 -o x",
    "--db d --which",
    "-v -q -n",
    "--help",
    "-h",
    "--version",
    "--usage",
]
numbers = [
    "1",
    "0",
    "1024",
    "1025",
    "18446744073709551615",
    "18446744073709551616",
    "1e3",
    "1.5k",
    "64Ki",
    "10e-1",
    "1%",
    "-1",
    ".5",
    "leveldb",
    "rocksdb",
]
for who in range(1, 13):
    for line in verbs + words + [" ".join(words[:3]), " ".join(words[3:7])]:
        seed("options", who, b"".join(word.encode() + b"\0" for word in line.split()))
seed("options", 0, b"".join(number.encode() + b"\0" for number in numbers))


for line in (vectors / "minlz_blocks.txt").read_text().splitlines()[1:]:
    seed("minlz", 0, 0, bytes.fromhex(line.split()[1].removeprefix("block=")))


def column(format, bits, n, *parts, first=0, nulls=0):
    """Returns the form that make_column() of arrow.c reads; parts follow the count of nulls."""
    return (
        short(format.encode())
        + bytes([bits])
        + n.to_bytes(2, "little")
        + bytes([first, nulls & 0xFF])
        + b"".join(parts)
    )


values = short(bytes(range(0, 200, 3)))
for number, format in enumerate(
    "c s i l C S I L f g tdD tdm tss: tsm:UTC tsu: tsn: tts ttm ttu ttn tDs tDm tDu tDn "
    "d:38,0 d:9,0,128 d:9,2 w:0 w:5 w:16 w:17 u z U Z vu vz b n +s".split()
):
    is_view = format.startswith("v")
    buffers = [bytes([2, 40]) + values, bytes([30]) + values] if is_view else []
    buffers += [values] if is_view or format[0] not in "uzUZ" else [values, values]
    for n in 3, 20, 600:
        seed("arrow", number % 7, 31, 0, column(format, 0, n, *buffers, first=n % 7))
        seed("arrow", number % 7, 31, 0, column(format, 8, n, values, *buffers, nulls=-1))
        inner = column(format, 8, 20, values, *buffers, first=3, nulls=-1)
        indices = short(bytes([1, 0, 0, 0, 0, 0, 0, 0]))
        seed("arrow", 0, 31, 0, column("csilCSIL"[number % 8], 1, n, indices, inner))
        seed("arrow", 1, number % 16, number % 8, column(format, 0, n, *buffers))
seed("arrow", 2, 31, 0, column("w:16", 2 | 4, 9, short(b""), values))
seed("arrow", 2, 31, 0, column("w:16", 2, 9, short(b"arrow.json"), values))
