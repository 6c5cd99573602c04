# SPDX-License-Identifier: MIT
"""Tests which containers and types of keys are accepted, and which are refused."""

import datetime
import sys
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from test_filter import INTS, TEXTS

import lanebloom
from lanebloom import Filter


def test_every_container_of_integers_gives_one_filter():
    expected = Filter.build(INTS)
    assert expected.form == "int64"
    for keys in [
        INTS.tolist(),
        tuple(INTS.tolist()),
        iter(INTS.tolist()),
        list(INTS),
        np.repeat(INTS, 2)[::2],
        INTS[::-1][::-1],
        memoryview(INTS),
        pa.array(INTS),
        pa.chunked_array([INTS[:7], INTS[7:100], INTS[100:]]),
        pl.Series(INTS),
        pd.Series(INTS),
        pd.Index(INTS),
        pd.Series(INTS, dtype="Int64"),
    ]:
        assert Filter.build(keys) == expected, type(keys)


def test_every_container_of_text_gives_one_filter():
    expected = Filter.build(TEXTS)
    assert expected.form == "bytes"
    for keys in [
        [text.encode() for text in TEXTS],
        np.array(TEXTS),
        np.array([text.encode() for text in TEXTS]),
        np.array(TEXTS, dtype=object),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS, pa.binary_view()),
        pa.array(TEXTS).dictionary_encode(),
        pl.Series(TEXTS),
        pl.Series(TEXTS, dtype=pl.Categorical),
        pd.Series(TEXTS),
        pd.Series(TEXTS, dtype=object),
        pd.Series(TEXTS, dtype="category"),
    ]:
        found = Filter.build(keys)
        assert found == expected, (type(keys), getattr(keys, "dtype", None))


def test_nulls_are_absent_and_not_added():
    values = ["a", None, "b", None]
    f = Filter.build(values)
    assert f.info.nkeys == 2
    for keys in [values, pa.array(values), pl.Series(values), pd.Series(values, dtype=object)]:
        assert f.screen(keys).tolist() == [True, False, True, False], type(keys)
    empty = Filter.build(["", None])
    assert empty.screen(["", None]).tolist() == [True, False]
    assert Filter.build([1.0 if False else 1, None]).screen([1, None]).tolist() == [True, False]
    days = np.array(["2020-01-01", "NaT", "2021-05-06"], dtype="M8[D]")
    assert Filter.build(days).screen(days).tolist() == [True, False, True]


@pytest.mark.parametrize(
    "keys",
    [
        np.arange(40, dtype="i4"),
        np.arange(40, dtype="u8")[::-2],
        np.arange(40.0),
        np.arange(40).astype("M8[D]"),
        np.where(np.arange(40) % 5 == 0, np.datetime64("NaT"), np.arange(40).astype("M8[us]")),
        np.array([f"k{i}" for i in range(40)]),
        np.array([f"k{i}" for i in range(40)], dtype="S"),
        np.arange(40).astype("V8"),
    ],
)
def test_masked_arrays(keys):
    mask = np.arange(len(keys)) % 3 == 0
    masked = np.ma.array(keys, mask=mask)
    present = ~mask & ~(np.isnat(keys) if keys.dtype.kind == "M" else np.zeros_like(mask))
    f = Filter.build(masked)
    assert f.info.nkeys == present.sum()
    assert (f.screen(masked) == present).all()
    assert f == Filter.build(keys[present])
    assert (Filter.build(keys, expected=9999).screen(masked) == present).all()
    assert f.screen(np.ma.array(keys)).sum() >= present.sum()  # an array without a mask


@pytest.mark.parametrize(
    "nulls",
    [
        pa.nulls(3),
        pa.chunked_array([pa.nulls(1), pa.nulls(2)]),
        pl.Series([None, None, None]),
        pd.Series([None, None, None], dtype=object),
        np.array([None, None, None], dtype=object),
        [None, None, None],
    ],
)
def test_nulls_without_a_type(nulls):
    """Every filter and every builder accepts such nulls. They add no keys."""
    typed = [pa.date32(), pa.float32(), pa.timestamp("ms"), pa.decimal128(9, 0)]
    for keys in [[1], ["a"], pa.array([b"x" * 16], pa.uuid()), *(pa.array([1], t) for t in typed)]:
        f = Filter.build(keys)
        assert f.screen(nulls).tolist() == [False] * 3
        assert f.screen(nulls[:0]).shape == (0,)
        builder = lanebloom.Builder()
        builder.add(nulls)
        builder.add(keys)
        builder.add(nulls)
        assert builder.finish() == f
    assert Filter.build(nulls).info.nkeys == 0


@pytest.mark.parametrize(
    "array, form",
    [
        (pa.array([1, 2], pa.int8()), "int32"),
        (pa.array([1, 2], pa.int16()), "int32"),
        (pa.array([1, 2], pa.int32()), "int32"),
        (pa.array([1, 2], pa.uint8()), "uint32"),
        (pa.array([1, 2], pa.uint16()), "uint32"),
        (pa.array([1, 2], pa.uint32()), "uint32"),
        (pa.array([1, 2], pa.uint64()), "uint64"),
        (pa.array([1, 2], pa.float32()), "float32"),
        (pa.array([1, 2], pa.float64()), "float64"),
        (pa.array([1, 2], pa.date32()), "date32"),
        (pa.array([86400000], pa.date64()), "timestamp-ms"),
        (pa.array([1, 2], pa.timestamp("s")), "timestamp-s"),
        (pa.array([1, 2], pa.timestamp("us", "UTC")), "timestamp-us"),
        (pa.array([1, 2], pa.timestamp("ns")), "timestamp-ns"),
        (pa.array([1, 2], pa.time32("s")), "int32"),
        (pa.array([1, 2], pa.time64("us")), "int64"),
        (pa.array([1, 2], pa.duration("ms")), "int64"),
        (pa.array([1, 2], pa.decimal128(20)), "decimal128"),
        (pa.array([b"ab"], pa.binary(2)), "bytes"),
        (pa.array([uuid.UUID(int=5).bytes], pa.uuid()), "uuid"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "date32"),
        (np.array(["2020-01-01"], dtype="M8[ms]"), "timestamp-ms"),
        (np.array([1, 2], dtype="uint16"), "uint32"),
        (np.array([1, 2], dtype="float32"), "float32"),
        ([uuid.UUID(int=5)], "uuid"),
        (pl.Series([datetime.date(2020, 1, 1)]), "date32"),
    ],
)
def test_types(array, form):
    f = Filter.build(array)
    assert f.form == form and f.count(array) == len(array)
    assert f"({form})" in repr(f)


def test_forms_are_never_mixed():
    ints, texts = Filter.build(INTS), Filter.build(TEXTS)
    cases = [
        (ints, INTS.astype("int32"), "keys of the filter: int64; the array has int32"),
        (ints, TEXTS, "keys of the filter: int64; the array has text"),
        (ints, INTS.astype(float), "keys of the filter: int64; the array has float64"),
        (texts, INTS, "keys of the filter: bytes; the array has int64"),
        (texts, INTS.tolist(), "keys of the filter: bytes; the array has int64"),
        (texts, [uuid.UUID(int=1)], "keys of the filter: bytes; the array has uuid"),
    ]
    for f, keys, message in cases:
        for method in [f.screen, f.bitmap, f.select, f.count]:
            with pytest.raises(TypeError, match=message):
                method(keys)
    with pytest.raises(TypeError, match="int64; the array has text"):
        "5" in ints
    with pytest.raises(TypeError, match="bytes; the array has int64"):
        5 in texts
    with pytest.raises(OverflowError):
        2**63 in ints
    with pytest.raises(lanebloom.Error):
        ints | texts


class Text(str):
    """A text whose own methods must not be called."""

    def encode(self):
        raise AssertionError

    __len__ = __iter__ = __str__ = encode


class Binary(bytes):
    """Like Text, for bytes."""

    __len__ = __iter__ = __bytes__ = Text.encode


LETTERS = ["x", "é", "中", "😀", "\0"]  # they take 1, 2, 3, 4 and 1 bytes in UTF-8


@pytest.mark.parametrize("nnulls", [0, 1, 40])
@pytest.mark.parametrize("kind", [str, Text, bytes, Binary])
def test_lists_of_text_are_read_like_arrays_of_text(kind, nnulls):
    texts = [a * n + b * (n % 3) for n in range(70) for a in LETTERS for b in LETTERS]
    encoded = [text.encode() for text in texts]
    items = [kind(item) for item in (encoded if issubclass(kind, bytes) else texts)]
    counts = [sys.getrefcount(item) for item in items]
    keys = [None] * nnulls + items + [None] * nnulls
    array = pa.array([None] * nnulls + encoded + [None] * nnulls)
    for given in keys, tuple(keys), iter(keys):
        assert (lanebloom.hash(given) == lanebloom.hash(array)).all()
    seen = Filter.build(array[::2])
    for n in 1, 31, 32, 33, 63, 64, 65, len(keys):
        assert seen.screen(keys[:n]).tolist() == seen.screen(array[:n]).tolist()
    assert Filter.build(keys) == Filter.build(array)
    del given, keys
    assert [sys.getrefcount(item) for item in items] == counts


@pytest.mark.parametrize(
    "last, error, message",
    [
        ("\ud800", UnicodeEncodeError, "surrogates"),
        (b"a", TypeError, "key 99: expected str like the keys before it, found bytes"),
        (np.bytes_(b"a"), TypeError, "key 99: expected str like the keys before it, found bytes"),
        (7, TypeError, "key 99: expected str like the keys before it, found int"),
        (uuid.UUID(int=1), TypeError, "key 99: expected str like .*, found uuid.UUID"),
        (True, TypeError, "key 99: expected str, bytes, .* found <class 'bool'>"),
        (1.5, TypeError, "key 99: .* found <class 'float'>"),
        (bytearray(b"a"), TypeError, "key 99: .* found <class 'bytearray'>"),
        (memoryview(b"a"), TypeError, "key 99: .* found <class 'memoryview'>"),
    ],
)
def test_the_last_item_of_a_list_is_refused(last, error, message):
    for middle in "text", None, Text("text"):
        with pytest.raises(error, match=message):
            Filter.build(["text"] * 50 + [middle] * 49 + [last])


class Endless:
    """An object that is its own array."""

    def __array__(self):
        return self


class Clearing:
    """An object that empties its list when it is inspected."""

    def __init__(self, keys):
        self.keys = keys

    def __index__(self):
        self.keys.clear()
        return 2**70


def test_a_list_that_changes_meanwhile():
    keys = list(range(100))
    keys[50] = Clearing(keys)
    with pytest.raises(OverflowError, match="key: expected int64"):
        Filter.build(keys)
    assert keys == []


class Disguised:
    """An object that empties its list when it is asked for its class."""

    def __init__(self, keys):
        self.keys = keys

    @property
    def __class__(self):
        self.keys.clear()
        return uuid.UUID

    @property
    def bytes(self):
        self.keys.clear()
        return bytes(16)


@pytest.mark.parametrize("kind", [str, str.encode, lambda text: int(text) + 2**40])
def test_a_list_whose_items_are_freed_meanwhile(kind):
    """Only the list refers to its items, so emptying the list frees them."""
    keys = [kind(f"{i:01000d}") for i in range(100)]
    keys[50] = Disguised(keys)
    with pytest.raises(TypeError, match="key 50: expected .* found uuid.UUID"):
        Filter.build(keys)
    keys[:] = [None] * 50 + [Disguised(keys)] + [None] * 50
    assert Filter.build(keys).info.nkeys == 1
    assert keys == []


class Flapping:
    """An object that is its own array, but looks like an array of numpy only every other time."""

    asked = 0

    def __array__(self):
        return self

    @property
    def __array_interface__(self):
        self.asked += 1
        if self.asked % 2:
            raise AttributeError
        return {}

    dtype = np.dtype("int64")


def test_an_array_that_is_itself():
    with pytest.raises(RecursionError):
        Filter.build(Flapping())


class Bytes(uuid.UUID):
    """A UUID whose bytes are wrong."""

    bytes = None

    def __init__(self, found):
        object.__setattr__(self, "int", 0)
        type(self).bytes = found


@pytest.mark.parametrize(
    "found", [b"", b"x" * 15, b"x" * 17, b"x" * 4096, bytearray(16), "x" * 16, 16, None]
)
def test_uuids_of_other_lengths(found):
    message = r"key: expected a uuid.UUID of 16 bytes, found "
    with pytest.raises(ValueError, match=message):
        Filter.build([uuid.UUID(int=1), Bytes(found)])
    with pytest.raises(ValueError, match=message):
        Bytes(found) in Filter.build([uuid.UUID(int=1)])


class Viewed(np.ndarray):
    """Times whose view as integers is another object."""

    def view(self, *_):
        return self.other


@pytest.mark.parametrize(
    "other, error, message",
    [
        (np.zeros(5, "int8"), TypeError, "expected times of 8 bytes, found 1 bytes"),
        (np.zeros(5, "int32"), TypeError, "expected times of 8 bytes, found 4 bytes"),
        (np.zeros(5, "S32"), TypeError, "expected times of 8 bytes, found 32 bytes"),
        (np.zeros((5, 1), "int64"), ValueError, "expected one dimension, found 2"),
        (np.lib.stride_tricks.as_strided(np.zeros(1, "i8"), (2**58,), (0,)), ValueError, "rows"),
        (None, TypeError, "bytes-like"),
    ],
)
def test_times_that_are_seen_as_something_else(other, error, message):
    for type_ in ["M8[s]", "M8[D]", "m8[s]"]:
        keys = np.zeros(5, type_).view(Viewed)
        keys.other = other
        with pytest.raises(error, match=message):
            Filter.build(keys)


@pytest.mark.parametrize(
    "mask",
    [np.zeros(0, bool), np.zeros(3, bool), np.zeros(101, bool), np.zeros(100, "int64"),
     np.zeros(100, [("a", bool), ("b", bool)])],
)  # fmt: skip
def test_masks_that_do_not_fit(mask):
    class Masked(np.ma.MaskedArray):
        _mask = property(lambda _: mask, lambda *_: None)

    for keys in [np.arange(100), np.arange(100).astype("S3"), np.arange(100).astype("M8[s]")]:
        with pytest.raises(ValueError, match="expected a mask of 100 booleans|cannot reshape"):
            Filter.build(keys.view(Masked))


def test_forms_of_lists():
    for form, top in [("int32", 2**31 - 1), ("uint32", 2**32 - 1), ("uint64", 2**64 - 1)]:
        f = Filter.build([1, top], form=form)
        assert f.form == form and top in f and f.screen([1, top]).all()
        with pytest.raises(OverflowError, match=form):
            f.screen([top + 1])
        assert f.screen([]).shape == (0,) and f.screen([None]).tolist() == [False]
    raw = Filter.parse_raw(bytes(Filter.build(INTS).bytes), "rocksdb", form="int64")
    assert raw.screen(INTS).all() and raw.info.nkeys is None
    with pytest.raises(TypeError, match="bytes; the array has int64"):
        Filter.parse_raw(bytes(raw.bytes), "rocksdb").screen(INTS)
    hexed = Filter.build([b"\x01\x02"], form="hex")
    assert b"\x01\x02" in hexed
    with pytest.raises(TypeError, match="hex; the array has text"):
        "0102" in hexed


@pytest.mark.parametrize(
    "keys, error, message",
    [
        ("one", TypeError, "found one <class 'str'>"),
        (b"one", TypeError, "found one <class 'bytes'>"),
        (bytearray(b"one"), TypeError, "found one"),
        (5, TypeError, "not iterable"),
        (["a", 5], TypeError, "key 1: expected str like the keys before it, found int"),
        ([True], TypeError, "key 0: expected str, bytes, int, uuid.UUID or None"),
        ([1, 2.5], TypeError, "key 1"),
        (["a", "\ud800"], UnicodeEncodeError, "surrogates"),
        (np.array([True]), TypeError, "format"),
        (np.zeros((2, 2)), ValueError, "expected one dimension, found 2"),
        (np.array(5), ValueError, "one dimension"),
        (np.array([1.5], dtype="float16"), TypeError, "format"),
        (np.array([1], dtype=">i8"), TypeError, "byte order"),
        (np.array([1], dtype="M8[h]"), TypeError, "M8|datetime64"),
        (np.array([1], dtype=">M8[s]"), TypeError, "byte order"),
        (np.array([1], dtype=">M8[D]"), TypeError, "byte order"),
        (np.array([1], dtype=">m8[s]"), TypeError, "byte order"),
        (memoryview(np.array([1], dtype=">i8")), TypeError, "byte order"),
        (Endless(), TypeError, "__array__: expected an array of numpy"),
        (pd.Index([1, None], dtype="Int64"), TypeError, "found Int64: pass a pandas.Series"),
        (pd.array([1, None], dtype="Int64"), TypeError, "found Int64: pass a pandas.Series"),
        (pd.Categorical([1, None, 2]), TypeError, "found category: pass a pandas.Series"),
        (np.lib.stride_tricks.as_strided(np.zeros(1, "S1"), (2**61,), (0,)), ValueError, "rows"),
        (np.lib.stride_tricks.as_strided(np.zeros(1, "S64"), (2**56,), (0,)), ValueError, "fits"),
        (pa.array([[1]]), TypeError, 'found list'),
        (pa.array([{"a": 1}]), TypeError, 'found struct'),
        (pa.array([True]), TypeError, 'found boolean'),
        (Filter.build([1]), TypeError, "found a filter"),
        (pa.array([1], pa.decimal128(5, 2)), TypeError, 'found decimal'),
    ],
)
def test_what_is_no_batch_of_keys(keys, error, message):
    with pytest.raises(error, match=message):
        Filter.build(keys)
    with pytest.raises(error, match=message):
        lanebloom.Builder().add(keys)


FRAME = {"a": [1, 2], "b": ["x", None]}


@pytest.mark.parametrize(
    "frame", [pd.DataFrame(FRAME), pd.DataFrame({"a": [1]}), pl.DataFrame(FRAME), pa.table(FRAME),
              pa.RecordBatch.from_pydict(FRAME)],
)  # fmt: skip
def test_a_whole_frame_is_no_batch_of_keys(frame):
    seen = Filter.build(INTS)
    name = type(frame).__name__
    message = f'keys: expected one column, found a whole {name}: pass df\\["column"\\]'
    for call in Filter.build, lanebloom.Builder().add, seen.screen, seen.count, lanebloom.hash:
        with pytest.raises(TypeError, match=message):
            call(frame)
    assert Filter.build(pd.Series([1], index=["columns"])).info.nkeys == 1  # not a frame
