# SPDX-License-Identifier: MIT
"""Filters and builders, and the arguments that they refuse."""

import copy
import datetime
import pickle
import threading
import uuid
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lanebloom
from lanebloom import Filter

INTS = np.arange(0, 3000, 3, dtype=np.int64)
TEXTS = [f"user-{i}" for i in range(0, 3000, 3)]


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


def test_screening_finds_all_and_few_others():
    f = Filter.build(INTS, rate=0.001)
    everything = np.arange(3000)
    mask = f.screen(everything)
    assert mask.dtype == np.bool_ and mask.shape == (3000,)
    assert mask[::3].all() and mask.sum() < 1000 + 20
    assert f.count(everything) == mask.sum()
    assert (f.select(everything) == np.flatnonzero(mask)).all()
    assert f.select(everything).dtype == np.int64
    assert (f.bitmap(everything) == np.packbits(mask, bitorder="little")).all()
    assert [int(i) in f for i in everything] == mask.tolist()
    halves = pa.chunked_array([everything[:1001], everything[1001:]])
    assert (f.screen(halves) == mask).all() and f.count(halves) == mask.sum()
    assert (f.bitmap(halves) == np.packbits(mask, bitorder="little")).all()
    assert (f.select(halves) == np.flatnonzero(mask)).all()


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
    """Such nulls fit every filter, and add nothing."""
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
    "arguments, message",
    [
        ({"bits_per_key": 0}, "bits_per_key: expected a number from 0.5 on, found 0"),
        ({"bits_per_key": -1}, "bits_per_key: expected a number from 0.5 on, found -1"),
        ({"bits_per_key": 2.5, "format": "leveldb"}, "a whole number from 0 on, found 2.5"),
        ({"format": "rocksdb"}, "format: rocksdb can be read but not built: build rocksdb-local"),
        ({"format": "rocksdb-ribbon"}, "format: rocksdb-ribbon can be read but not built"),
    ],
)
def test_what_cannot_be_built(arguments, message):
    with pytest.raises(ValueError, match=message):
        Filter.build([1], **arguments)
    with pytest.raises(ValueError, match=message):
        lanebloom.Builder(**arguments)


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


class Flapping:
    """An object that is its own array, and an array of numpy only every other time."""

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


def test_files(tmp_path):
    f = Filter.build(INTS)
    path = tmp_path / "seen.lbf"
    f.save(path)
    assert Filter.load(path) == f and Filter.map(str(path)) == f
    assert Filter.load(bytes(path)) == f and Filter.parse(path.read_bytes()) == f
    assert Filter.parse(bytearray(f.to_bytes())) == f
    f.save_raw(tmp_path / "raw")
    assert (tmp_path / "raw").read_bytes() == bytes(f.bytes)
    assert Filter.load_raw(tmp_path / "raw", "rocksdb-local", form="int64").screen(INTS).all()
    assert Filter.load(path, form="uint64").form == "uint64"
    with pytest.raises(FileNotFoundError) as caught:
        Filter.load(tmp_path / "none")
    assert caught.value.filename == str(tmp_path / "none")
    damaged = bytearray(path.read_bytes())
    damaged[100] ^= 1
    (tmp_path / "bad").write_bytes(damaged)
    with pytest.raises(lanebloom.Error, match="bad: damaged: expected checksum"):
        Filter.load(tmp_path / "bad")
    with pytest.raises(lanebloom.Error):
        Filter.parse(damaged)
    with pytest.raises(ValueError, match="lanebloom.formats"):
        Filter.parse_raw(b"", "rocks")
    with pytest.raises(ValueError, match='found "int63"'):
        Filter.load(path, form="int63")


def test_copies_and_unions():
    f, g = Filter.build(INTS, expected=5000), Filter.build(INTS + 1, expected=5000)
    assert pickle.loads(pickle.dumps(f)) == f and copy.copy(f) is f and copy.deepcopy(f) is f
    union = f | g
    assert union.screen(INTS).all() and union.screen(INTS + 1).all()
    assert union.info.nkeys == 2000 and Filter.merge([f, g]) == union and f != g
    with pytest.raises(TypeError):
        f | 1
    with pytest.raises(TypeError):
        Filter.merge([f, 1])
    with pytest.raises(ValueError):
        Filter.merge([])
    with pytest.raises(TypeError):
        hash(f)
    assert len(f.bytes) == f.info.size and f.bytes.readonly
    view = memoryview(f)
    del f
    assert bytes(view) != b""


def test_builder():
    b = lanebloom.Builder(expected=1e3)
    for part in np.array_split(INTS, 7):
        b.add(part)
    assert b.finish() == Filter.build(INTS, expected=1000)
    b = lanebloom.Builder()
    b.add(pa.array(TEXTS[:500]))
    b.add(TEXTS[500:])
    with pytest.raises(TypeError, match="keys of the builder: bytes; the array has int64"):
        b.add(INTS)
    assert b.finish() == Filter.build(TEXTS)
    left, right = lanebloom.Builder(1000), lanebloom.Builder(1000)
    right.add(INTS)
    left.merge(right)
    left.merge(lanebloom.Builder(1000))
    assert left.finish() == Filter.build(INTS, expected=1000)
    with pytest.raises(ValueError):
        left.merge(left)
    with pytest.raises(TypeError, match="expected"):
        lanebloom.Builder(rate=0.01)
    with pytest.raises(ValueError):
        lanebloom.Builder(expected=1.5)
    with pytest.raises(TypeError):
        Filter.build(INTS, 10, rate=0.1)


def test_threads_share_a_builder_and_a_filter():
    b = lanebloom.Builder(expected=100_000)
    parts = np.array_split(np.arange(100_000), 50)

    def work(own):
        for part in own:
            b.add(part)

    threads = [threading.Thread(target=work, args=(parts[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert b.finish() == Filter.build(np.arange(100_000), expected=100_000)


def test_hashes():
    f = Filter.build(TEXTS, format="leveldb")
    hashes = lanebloom.hash(TEXTS + [None], "leveldb")
    assert hashes.dtype == np.uint32 and hashes[-1] == 0
    assert (f.hash(pa.array(TEXTS)) == hashes[:-1]).all()
    assert lanebloom.hash(["a"], "parquet").dtype == np.uint64
    assert lanebloom.hash(["a"], "parquet")[0] == 0xD24EC4F1A98C6E5B  # XXH64 of "a"
    with pytest.raises(ValueError, match="no hash of its own"):
        lanebloom.hash(["a"], "rocksdb")


def test_formats_and_kernels():
    assert "rocksdb-local" in lanebloom.formats() and lanebloom.kernels()[-1] == "scalar"
    expected = Filter.build(INTS).screen(np.arange(5000))
    try:
        for kernel in lanebloom.kernels():
            lanebloom.use_kernel(kernel)
            assert (Filter.build(INTS).screen(np.arange(5000)) == expected).all()
    finally:
        lanebloom.use_kernel(None)
    with pytest.raises(lanebloom.Error):
        lanebloom.use_kernel("mmx")
    for name in lanebloom.formats():
        try:
            f = Filter.build(TEXTS, format=name)
        except ValueError:
            assert name in ("rocksdb", "rocksdb-ribbon")
            continue
        assert f.screen(TEXTS).all() and f.format == name


def test_repr():
    assert repr(Filter.build(INTS)) == (
        "<lanebloom.Filter rocksdb-local: 1000 keys (int64), 10 bits per key, 1285 bytes>"
    )


@pytest.mark.parametrize("format", ["rocksdb-local", "rocksdb-legacy", "parquet", "spark-v2"])
@pytest.mark.parametrize("bits", [0.7, 3, 10, 10.1234, 10.5, 12.25, 99.6, 100, 100.5, 1000, 5000])
def test_other_bits_than_asked_for_are_warned_of(format, bits):
    calls = [
        lambda: Filter.build(INTS, bits, format=format),
        lambda: lanebloom.Builder(1000, bits, format=format).finish(),
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            used = call().info.bits_per_key
        differs = abs(used - bits) > 0.0005
        assert len(caught) == differs
        if differs:
            assert caught[0].category is UserWarning and caught[0].filename == __file__
            assert f"bits_per_key: {format} " in str(caught[0].message)
            assert f" {used:g}, found {bits:g}" in str(caught[0].message)
            with warnings.catch_warnings(), pytest.raises(UserWarning):
                warnings.simplefilter("error")
                call()


def test_bits_at_their_most_are_named():
    with pytest.warns(UserWarning, match="rocksdb-local uses at most 100, found 1000"):
        Filter.build(INTS, 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Filter.build(INTS)
        Filter.build(INTS, rate=1e-9)
        Filter.build(INTS, 1000, format="leveldb")


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
