# SPDX-License-Identifier: MIT
"""Filters and builders, and the options that they refuse."""

import copy
import pickle
import struct
import threading
import warnings

import numpy as np
import pyarrow as pa
import pytest

import lanebloom
from lanebloom import Filter

INTS = np.arange(0, 3000, 3, dtype=np.int64)
TEXTS = [f"user-{i}" for i in range(0, 3000, 3)]


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


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"bits_per_key": 0}, "bits_per_key: expected a number from 0.5 on, found 0"),
        ({"bits_per_key": -1}, "bits_per_key: expected a number from 0.5 on, found -1"),
        ({"bits_per_key": 2.5, "format": "leveldb"}, "a whole number from 0 on, found 2.5"),
        ({"format": "rocksdb"}, "format: rocksdb can be read but not built: build rocksdb-local"),
        ({"format": "rocksdb-ribbon"}, "format: rocksdb-ribbon can be read but not built"),
        ({"format": "pebble-binaryfuse"}, "format: pebble-binaryfuse can be read but not built"),
    ],
)
def test_what_cannot_be_built(arguments, message):
    with pytest.raises(ValueError, match=message):
        Filter.build([1], **arguments)
    with pytest.raises(ValueError, match=message):
        lanebloom.Builder(**arguments)


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
    for other, difference in [
        (Filter.build(INTS, format="leveldb"), "format rocksdb-local, found leveldb"),
        (Filter.build(INTS, expected=50000), r"6277 bytes, found 62533"),
        (Filter.build(TEXTS, expected=5000), "keys of the form 'int64', found 'bytes'"),
    ]:
        with pytest.raises(lanebloom.Error, match=r"filters\[1\]: expected .*" + difference):
            f | other
        with pytest.raises(lanebloom.Error, match=r"filters\[2\]: expected .*" + difference):
            Filter.merge([f, g, other])
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
    sized, other = lanebloom.Builder(1000), lanebloom.Builder(2000)
    sized.add(INTS)
    other.add(INTS)
    with pytest.raises(lanebloom.Error, match="expected 1285 bytes, found 2565"):
        sized.merge(other)
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
    wide = lanebloom.hash(["hello", None], "guava-64")  # MurmurHash3_x64_128
    assert wide.dtype == np.uint64 and wide.shape == (2, 2) and (wide[1] == 0).all()
    assert list(wide[0]) == [0xCBD8A7B341BD9B02, 0x5B1E906A48AE1D19]
    with pytest.raises(ValueError, match="no hash of its own"):
        lanebloom.hash(["a"], "rocksdb")


def test_formats_and_kernels():
    assert "rocksdb-local" in lanebloom.formats() and "scalar" in lanebloom.kernels()
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
            opened = ("rocksdb", "rocksdb-ribbon", "pebble-binaryfuse", "hudi", "guava")
            assert name in opened
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


def test_a_rate_makes_the_file_of_dcso():
    keys = [b"%d" % i for i in range(1000)]
    for filter in (
        Filter.build(keys, rate=0.01, format="dcso"),
        Filter.build(keys, rate=0.01, format="dcso", expected=1000),
    ):
        data = bytes(filter.bytes)
        planned, rate, probes, bits = struct.unpack_from("<QdQQ", data, 8)
        assert (planned, rate, probes, bits) == (1000, 0.01, 7, 9585)
        assert len(data) == 48 + 150 * 8
        assert all(Filter.parse_raw(data + b"attached", "dcso").screen(keys))
