# SPDX-License-Identifier: MIT
"""Compares results for random arrays of pyarrow and polars with results for each key alone.

LANEBLOOM_ARRAYS: the number of arrays."""

import os
import random
import struct

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from lanebloom import Filter

NARRAYS = int(os.environ.get("LANEBLOOM_ARRAYS", "20000"))
SEED = int(os.environ.get("LANEBLOOM_TEST_SEED", "0")) or random.SystemRandom().getrandbits(32)


def text(rng):
    begin = rng.choice(["", "a", "bc", "def", "a key of 12", "a longer key of many bytes", "é"])
    return begin + str(rng.randrange(9))


def integer(bits, signed):
    def make(rng):
        edge = rng.choice([0, 1, (1 << bits) - 1, 1 << (bits - 1), rng.getrandbits(bits)])
        return edge - (1 << bits) if signed and edge >> (bits - 1) else edge

    return make


def packed(letter):
    return lambda value: struct.pack("<" + letter, value)


def utf8(value):
    return value.encode()


def same(value):
    return value


# Each entry has a type, a function that makes a value of this type, and a function that returns the
# bytes of the value's key.
TYPES = [
    (pa.string(), text, utf8),
    (pa.large_string(), text, utf8),
    (pa.string_view(), text, utf8),
    (pa.binary(), lambda rng: text(rng).encode(), same),
    (pa.large_binary(), lambda rng: text(rng).encode(), same),
    (pa.binary_view(), lambda rng: text(rng).encode(), same),
    (pa.binary(3), lambda rng: rng.randbytes(3), same),
    (pa.binary(20), lambda rng: rng.randbytes(20), same),
    (pa.uuid(), lambda rng: rng.randbytes(16), same),
    (pa.int8(), integer(8, True), packed("i")),
    (pa.int16(), integer(16, True), packed("i")),
    (pa.int32(), integer(32, True), packed("i")),
    (pa.int64(), integer(64, True), packed("q")),
    (pa.uint8(), integer(8, False), packed("I")),
    (pa.uint16(), integer(16, False), packed("I")),
    (pa.uint32(), integer(32, False), packed("I")),
    (pa.uint64(), integer(64, False), packed("Q")),
    (pa.float32(), lambda rng: float(rng.randrange(1000)), packed("f")),
    (pa.float64(), lambda rng: rng.random(), packed("d")),
    (pa.date32(), integer(32, True), packed("i")),
    (pa.date64(), lambda rng: rng.randrange(1000) * 86400000, packed("q")),
    (pa.timestamp("s"), integer(64, True), packed("q")),
    (pa.timestamp("us", "UTC"), integer(64, True), packed("q")),
    (pa.time32("ms"), integer(31, False), packed("i")),
    (pa.time64("ns"), integer(63, False), packed("q")),
    (pa.duration("us"), integer(64, True), packed("q")),
]
POLARS = {
    pa.string(): pl.String,
    pa.binary(): pl.Binary,
    pa.int8(): pl.Int8,
    pa.int16(): pl.Int16,
    pa.int32(): pl.Int32,
    pa.int64(): pl.Int64,
    pa.uint8(): pl.UInt8,
    pa.uint16(): pl.UInt16,
    pa.uint32(): pl.UInt32,
    pa.uint64(): pl.UInt64,
    pa.float32(): pl.Float32,
    pa.float64(): pl.Float64,
}


def make_values(rng, make):
    n = rng.choice([0, 1, 2, 7, 8, 9, 15, 16, 17, rng.randrange(40), rng.randrange(40)])
    pool = [make(rng) for _ in range(rng.randrange(1, 9))]
    nulls = rng.choice([0, 0, 0.1, 0.5, 1])
    return [None if rng.random() < nulls else rng.choice(pool) for _ in range(n)]


def make_array(rng, type_, values):
    """Makes an array of the values, usually a slice of a larger array."""
    before, after = rng.randrange(10), rng.randrange(10)
    around = [rng.choice(values + [None]) for _ in range(before + after)]
    whole = around[:before] + values + around[before:]
    storage = type_.storage_type if type_ == pa.uuid() else type_
    array = pa.array(whole, storage)
    if type_ == pa.uuid():
        array = pa.ExtensionArray.from_storage(type_, array)
    elif rng.random() < 0.3 and not pa.types.is_binary_view(type_) and not pa.types.is_string_view(
        type_
    ):
        array = array.dictionary_encode()
        if rng.random() < 0.5:
            indices = array.indices.cast(rng.choice([pa.int8(), pa.uint16(), pa.int64()]))
            array = pa.DictionaryArray.from_arrays(indices, array.dictionary)
    return array.slice(before, len(values))


def check(f, keys, array, values, answers):
    expected = [value is not None and answers[key] for value, key in zip(values, keys)]
    mask = f.screen(array)
    assert mask.tolist() == expected
    assert f.count(array) == sum(expected)
    assert f.select(array).tolist() == [i for i, hit in enumerate(expected) if hit]
    bits = np.unpackbits(f.bitmap(array), bitorder="little")
    assert bits[: len(values)].tolist() == expected and not bits[len(values) :].any()


@pytest.mark.parametrize("first", range(10))
def test_random_arrays(first):
    print(f"LANEBLOOM_TEST_SEED={SEED}")  # pytest shows the seed if the test fails
    rng = random.Random(SEED + first)
    narrays = 0
    while narrays < NARRAYS / 10:
        type_, make, to_bytes = rng.choice(TYPES)
        values = make_values(rng, make)
        keys = [None if value is None else to_bytes(value) for value in values]
        array = make_array(rng, type_, values)
        added = [key for key in keys if key is not None][::2]
        # A filter that is built from the bytes of the keys gives the expected answers.
        plain = Filter.build(added, 6)
        form = Filter.build(array).form
        f = Filter.parse_raw(plain.bytes, "rocksdb-local", form=form)
        answers = {key: key in plain for key in set(keys) if key is not None}
        check(f, keys, array, values, answers)
        narrays += 1
        if type_ in POLARS and rng.random() < 0.5:
            series = pl.Series(values, dtype=POLARS[type_])
            if rng.random() < 0.5:
                series = pl.concat([series, series], rechunk=False)[len(values) :]
            check(f, keys, series, values, answers)
            narrays += 1
        distinct = Filter.build(array, expected=50)
        of_bytes = Filter.build([key for key in keys if key is not None], expected=50)
        assert bytes(distinct.bytes) == bytes(of_bytes.bytes), f"seed {SEED + first}"
