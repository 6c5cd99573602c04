# SPDX-License-Identifier: MIT
"""Bloom filters for columns of Apache Spark. The executors build and probe them, next to the rows.

The Python of every executor needs lanebloom and pyarrow.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark import SparkFiles, StorageLevel
from pyspark.sql import functions

from lanebloom._lanebloom import Builder, Error, Filter

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame

    from lanebloom._lanebloom import Count, Path

    # A piece of a filter: the position of its first byte in the filter, its bytes, and a number of
    # keys. The first piece has the number of keys of the whole filter, the others have 0.
    Slice: TypeAlias = tuple[int, Any, int]

__all__ = ["build", "screen"]

_SLICE = "start bigint, bytes binary, nkeys bigint"
_BATCH_NBYTES = 64 << 20  # the size of the batches of Arrow that tasks make
_PART_NBYTES = 64 << 20  # the part of a filter that the driver receives at once
_HEADER_NBYTES = 64  # the header of a container, which has a checksum of the rest


def build(
    df: DataFrame,
    column: str,
    bits_per_key: SupportsFloat | None = None,
    *,
    rate: SupportsFloat | None = None,
    format: str = "rocksdb-local",
    form: str | None = None,
    expected: Count = None,
) -> Filter:
    """Builds a filter from a column. Filter.build() with the same `expected` gives the same bytes.

    Each task makes a filter of full size for its partition. The executors merge these filters slice
    by slice, and the driver receives only the finished filter.

    expected: the number of keys in all partitions. If it is missing, the keys are counted first, so
    df is computed twice unless it is cached. The other arguments are those of Filter.build().

    Raises ValueError if there is no such column, or if the format also counts keys, as DCSO's do;
    TypeError if values of the column's type cannot be keys.
    """
    one = Filter.build([1], format=format)
    if (one | one).bytes != one.bytes:
        raise ValueError(
            "format: expected one whose filters are merged by a bitwise or, found "
            f"{format!r}, which also counts keys; use Filter.build()"
        )

    keys = _key_of(df, column)
    no_keys = _without_rows(keys)
    if expected is None:
        expected = keys.where("key is not null").count()
        if expected == 0:
            return Filter.build(no_keys, bits_per_key, rate=rate, format=format, form=form)
    elif expected == 0:
        raise ValueError("expected: expected at least 1 key, found 0")

    # If the arguments or the type of the column are wrong, each task would raise an error. Building
    # an empty filter first raises this error before any task starts.
    builder = Builder(expected, bits_per_key, rate=rate, format=format, form=form)
    builder.add(no_keys)
    empty = builder.finish()
    size, form = len(empty.bytes), empty.form
    bits = empty.info.bits_per_key if bits_per_key is None else bits_per_key
    slice_size = _slice_size(df)
    context = df.sparkSession.sparkContext

    def slices_of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        builder = Builder(expected, bits_per_key, rate=rate, format=format, form=form)
        for batch in batches:
            builder.add(batch.column(0))
        part = builder.finish()
        return _as_batches(_cut(part, slice_size))

    united = (
        keys.mapInArrow(slices_of_partition, _SLICE)
        .repartition(max(context.defaultParallelism, size // _PART_NBYTES + 1), "start")
        .mapInArrow(_unite, _SLICE)
        .persist(StorageLevel.DISK_ONLY)
    )
    try:
        # This step runs all tasks, so that all executors unite slices at the same time. The steps
        # below read the stored slices.
        nkeys = united.agg(functions.sum("nkeys")).collect()[0][0]
        if not nkeys:
            return empty
        with tempfile.NamedTemporaryFile(prefix="lanebloom-") as file:
            received = 0
            for start, data, _ in united.toLocalIterator(prefetchPartitions=True):
                file.seek(start)
                received += file.write(data)
            file.flush()
            if received != size:
                raise Error(f"slices of the executors: expected {size} bytes, found {received}")
            return Filter.load_raw(file.name, format, form=form, nkeys=nkeys, bits_per_key=bits)
    finally:
        united.unpersist()


def screen(df: DataFrame, column: str, filter: Filter | Path, *, invert: bool = False) -> DataFrame:
    """Selects the rows of df whose keys may be in the filter. With invert, selects all other rows.

    filter: a filter of any engine and size, or the path of a file on the driver that Filter.save()
    wrote. Each executor receives the filter once, as a file, and maps the file. Null rows are not
    in the filter.

    Raises ValueError if there is no such column. If the filter has keys of another type, raises
    TypeError, which names both types.
    """
    if not isinstance(filter, Filter):
        filter = Filter.map(filter)
    filter.count(_without_rows(_key_of(df, column)))  # raises the error that each task would raise
    index = df.columns.index(column)
    name = _send(filter, df.sparkSession.sparkContext)

    def keep(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        received = _map(SparkFiles.get(name))
        for batch in batches:
            rows = received.screen(batch.column(index))
            if invert:
                rows = ~rows
            if rows.any():
                yield batch.filter(pa.array(rows))

    return _numbered(df).mapInArrow(keep, df.schema)


# ---- Columns ----


def _numbered(df: DataFrame) -> DataFrame:
    """Renames the columns, so that all names differ and none needs quotes."""
    return df.toDF(*(f"c{i}" for i in range(len(df.columns))))


def _key_of(df: DataFrame, column: str) -> DataFrame:
    """Selects the column alone and names it key."""
    if df.columns.count(column) != 1:
        raise ValueError(f"column: expected one of {', '.join(df.columns)}; found {column!r}")
    return _numbered(df).selectExpr(f"c{df.columns.index(column)} as key")


def _without_rows(key: DataFrame) -> pa.ChunkedArray:
    """Returns an array without rows, of the type that tasks receive."""
    return key.limit(0).toArrow().column(0)


# ---- Slices of filters ----


def _slice_size(df: DataFrame) -> int:
    """Returns the size of slices. Spark limits a batch's rows; small slices limit its bytes."""
    rows = df.sparkSession.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    return max(_BATCH_NBYTES // max(int(rows or 0), 1), 1024)


def _cut(part: Filter, size: int) -> Iterator[Slice]:
    """Cuts a filter into slices. A filter without keys has no slices."""
    nkeys = part.info.nkeys
    if nkeys:
        for start in range(0, len(part.bytes), size):
            yield start, part.bytes[start : start + size], 0 if start else nkeys


def _unite(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merges slices that have the same start. Filters of one format and size differ only in bits,
    so their union is the bitwise or."""
    united: dict[int, list[Any]] = {}
    for batch in batches:
        starts, pieces, nkeys = batch.columns
        for start, piece, n in zip(starts.to_pylist(), pieces, nkeys.to_pylist()):
            bits = np.frombuffer(piece.as_buffer(), np.uint8)
            if start in united:
                union = united[start]
                union[0] |= bits
                union[1] += n
            else:
                united[start] = [bits.copy(), n]
    return _as_batches((start, bits, n) for start, (bits, n) in united.items())


def _as_batches(slices: Iterator[Slice]) -> Iterator[pa.RecordBatch]:
    for first in slices:
        n = _BATCH_NBYTES // max(len(first[1]), 1)
        start, data, nkeys = zip(first, *itertools.islice(slices, n))
        yield pa.record_batch(
            [
                pa.array(start, pa.int64()),
                pa.array([bytes(piece) for piece in data], pa.binary()),
                pa.array(nkeys, pa.int64()),
            ],
            ["start", "bytes", "nkeys"],
        )


# ---- Filters on their way ----


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Returns the folder of sent files. Executors may fetch a file as long as the program runs."""
    return tempfile.TemporaryDirectory(prefix="lanebloom-")


def _send(filter: Filter, context: SparkContext) -> str:
    """Sends a filter; returns the name of its file. Equal filters have equal names."""
    folder = _folder().name
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        filter.save(file.name)
    with open(file.name, "rb") as saved:
        name = f"lanebloom-{hashlib.sha256(saved.read(_HEADER_NBYTES)).hexdigest()[:16]}.lbf"
    path = os.path.join(folder, name)
    os.replace(file.name, path)
    if not any(sent.endswith("/" + name) for sent in context.listFiles):
        context.addFile(path)
    return name


@functools.lru_cache(maxsize=16)
def _map(path: str) -> Filter:
    return Filter.map(path)
