#!/usr/bin/env python3
"""Writes and reads worlds of Minecraft with the game's fork of LevelDB (amulet-leveldb on PyPI).

    world.py make FOLDER SEED           makes a database; all keys have 10 bytes
    world.py keys FOLDER                prints all keys, one after the other
    world.py store FOLDER SEED TYPE...  stores each block of the tables anew, as one of these types
    world.py write FOLDER               makes a database, and writes keys until it is killed; prints
                                        each key as a line after it was written
    world.py types FOLDER               prints the types of blocks: of data, index, metaindex

The engine itself writes type 4 alone.
SPDX-License-Identifier: MIT"""

import random
import struct
import sys
import zlib
from pathlib import Path

import leveldb

RAW, ZLIB, DEFLATE = 0, 2, 4
FOOTER_NBYTES, TRAILER_NBYTES = 48, 5


def make(folder, seed):
    rng = random.Random(seed)
    base = leveldb.LevelDB(folder, True)
    for part in range(20):
        keys = [rng.randbytes(10) for _ in range(1000)]
        base.putBatch({key: rng.choice([b"", b"block" * 200, rng.randbytes(300)]) for key in keys})
        for key in keys[::9]:
            base.delete(key)
        if part == 12:
            base.compact()
    base.close()


def keys(folder):
    base = leveldb.LevelDB(folder)
    sys.stdout.buffer.write(b"".join(base.keys()))
    base.close()


def write(folder):
    base = leveldb.LevelDB(folder, True)
    for i in range(10**9):
        key = b"key%07d" % i
        base.put(key, b"%d" % i * 100)
        print(key.decode(), flush=True)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def of_varints(*values):
    result = b""
    for value in values:
        while value >= 0x80:
            result += bytes([value & 0x7F | 0x80])
            value >>= 7
        result += bytes([value])
    return result


def handle(data, at=0):
    offset, at = varint(data, at)
    nbytes, at = varint(data, at)
    return offset, nbytes


def entries(block):
    end = len(block) - 4 - 4 * struct.unpack("<I", block[-4:])[0]
    at, key = 0, b""
    while at < end:
        shared, at = varint(block, at)
        unshared, at = varint(block, at)
        nbytes, at = varint(block, at)
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        yield key, block[at : at + nbytes]
        at += nbytes


def of_entries(pairs):
    result, restarts = b"", []
    for key, value in pairs:
        restarts.append(len(result))
        result += of_varints(0, len(key), len(value)) + key + value
    restarts = restarts or [0]
    return result + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


CRC32C = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
    CRC32C.append(i)


def checksum(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC32C[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def compress(data, type):
    if type == DEFLATE:
        deflate = zlib.compressobj(wbits=-15)
        return deflate.compress(data) + deflate.flush()
    return zlib.compress(data) if type == ZLIB else data


class Table:
    def __init__(self, path):
        self.bytes = path.read_bytes()
        footer = self.bytes[-FOOTER_NBYTES:]
        self.metaindex = handle(footer)
        self.index = handle(footer, len(of_varints(*self.metaindex)))

    def type(self, place):
        return self.bytes[sum(place)]

    def read(self, place):
        data = self.bytes[place[0] : sum(place)]
        return {
            RAW: lambda: data,
            ZLIB: lambda: zlib.decompress(data),
            DEFLATE: lambda: zlib.decompress(data, -15),
        }[self.type(place)]()


def append(file, data, type):
    """Appends a block to the file, and returns its handle."""
    stored = compress(data, type)
    if len(stored) >= len(data):
        stored, type = data, RAW
    place = len(file), len(stored)
    stored += bytes([type])
    file += stored + struct.pack("<I", checksum(stored))
    return of_varints(*place)


def store_anew(path, types, rng):
    """Moves each data block to four times its offset. So there is room for a larger block, and the
    filter of each part of the file becomes the filter of four parts."""
    table, file, index, metaindex = Table(path), bytearray(), [], []
    for key, value in entries(table.read(table.index)):
        place = handle(value)
        file += bytes(4 * place[0] - len(file))
        data, type = table.read(place), rng.choice(types)
        if type == RAW and len(data) > 4 * place[1]:  # there is no room for it
            type = DEFLATE
        index.append((key, append(file, data, type)))
    for name, value in entries(table.read(table.metaindex)):
        filters = table.read(handle(value))
        start = struct.unpack("<I", filters[-5:-1])[0]
        offsets = struct.unpack(f"<{(len(filters) - start - 1) // 4}I", filters[start:-1])
        parts = [filters[a:b] for a, b in zip(offsets, offsets[1:]) for _ in range(4)]
        offsets = [0]
        for part in parts:
            offsets.append(offsets[-1] + len(part))
        block = b"".join(parts) + struct.pack(f"<{len(offsets)}I", *offsets) + filters[-1:]
        metaindex.append((name, append(file, block, RAW)))
    footer = append(file, of_entries(metaindex), rng.choice(types))
    footer += append(file, of_entries(index), rng.choice(types))
    path.write_bytes(file + footer.ljust(FOOTER_NBYTES - 8, b"\0") + table.bytes[-8:])


def store(folder, seed, *types):
    rng = random.Random(seed)
    for path in Path(folder).glob("*.ldb"):
        store_anew(path, list(map(int, types)), rng)
    leveldb.repair_db(folder)  # the MANIFEST has the sizes of the tables


def types(folder):
    found = [set(), set(), set()]
    for path in Path(folder).glob("*.ldb"):
        table = Table(path)
        found[0] |= {table.type(handle(v)) for _, v in entries(table.read(table.index))}
        found[1].add(table.type(table.index))
        found[2].add(table.type(table.metaindex))
    for kind, numbers in zip(("data", "index", "metaindex"), found):
        print(kind, *sorted(numbers))


if __name__ == "__main__":
    {f.__name__: f for f in (make, keys, store, types, write)}[sys.argv[1]](*sys.argv[2:])
