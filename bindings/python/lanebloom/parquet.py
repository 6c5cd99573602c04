# SPDX-License-Identifier: MIT
"""Which Parquet files, and which row groups of them, may hold any of these keys?

prune() and row_groups() read only statistics and Bloom filters, never the rows. A row group without
statistics and filter may hold every key. audit() also reads the rows, and finds statistics and
filters that deny a value that is there.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from lanebloom._lanebloom import (
    parquet_absent,
    parquet_chunk,
    parquet_describe,
    parquet_find_files,
    parquet_open,
    parquet_row_groups,
)

if TYPE_CHECKING:
    from lanebloom._lanebloom import Filter, Keys, Path

__all__ = ["Audit", "Finding", "audit", "prune", "row_groups"]


# ---- Files ----

def _files(paths: Path | Iterable[Path]) -> list[Path]:
    """Lists the files that paths stand for, in order. The files of a folder are sorted."""
    files: list[Path] = []
    skipped: list[str] = []
    for path in [paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths:
        if os.path.isdir(path):
            read, hidden = parquet_find_files(path)
            files += read
            skipped += hidden
        else:
            files.append(path)
    unread = sorted(set(skipped).difference(map(os.fsdecode, files)))
    if unread:
        others = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        warnings.warn(
            f"{unread[0]}{others}: Parquet files whose names begin with a dot or an underscore are "
            "not read: pass their paths to have them read, or remove them",
            stacklevel=3,
        )
    return files


# ---- Row groups ----

_HUDI_COLUMN = "_hoodie_record_key"  # Hudi's filters have the values of this column


def _reusable(keys: Any) -> Any:
    """Returns keys that can be read again for each file. An iterator becomes a list."""
    return list(keys) if hasattr(keys, "__next__") else keys


def row_groups(
    paths: Path | Iterable[Path],
    column: str,
    keys: Keys,
    *,
    bounds: str = "known",
    hudi: bool = False,
) -> list[tuple[Path, list[int]]]:
    """Lists each file that may have any of the keys, with its row groups that may have one.

    paths: one path or several paths, of files or folders. A folder stands for the Parquet files in
    it and below it, except files whose names begin with a dot or an underscore; a UserWarning names
    the first of these files. column: the names from the root to the column, joined by dots. keys:
    as for Filter.build(), in the column's type; integers in a list get this type. bounds: "known"
    uses the bounds and counts of nulls of writers that are known to write them correctly; "all"
    uses them from all writers, even if they may be wrong; "none" uses none. hudi: if True, also
    uses the filter and the range of record keys that Apache Hudi writes into the footer of each
    file. The column must then be "_hoodie_record_key". If a file has no such filter, or one that
    cannot be used, it may hold every key that the range and the bounds allow. Do not pass True for
    files that another program made from files of Hudi, because it may have copied the filter of
    other rows.

    If the keys have another type, raises TypeError, which names both types. Raises ValueError if
    there is no such column or a folder has no Parquet file; lanebloom.Error; OSError.
    """
    if hudi and column != _HUDI_COLUMN:
        raise ValueError(f"hudi: expected the column {_HUDI_COLUMN!r}, found {column!r}")
    keys = _reusable(keys)
    found = (
        (path, parquet_row_groups(parquet_open(path, column, bounds, hudi), keys))
        for path in _files(paths)
    )
    return [(path, groups) for path, groups in found if groups]


def prune(
    paths: Path | Iterable[Path],
    column: str,
    keys: Keys,
    *,
    bounds: str = "known",
    hudi: bool = False,
) -> list[Path]:
    """Lists the files that may have any of the keys, in the order of paths. Skip all others."""
    return [path for path, _ in row_groups(paths, column, keys, bounds=bounds, hudi=hudi)]


# ---- Audits ----

_BATCH_NROWS = 1 << 18


class Finding(NamedTuple):
    """A row group whose bounds, counts or filter deny a value that it has."""

    path: Path
    row_group: int
    writer: str  # the writer's name in the file (created_by)
    kind: str  # "bounds", "counts" (of nulls) or "filter"
    value: Any  # a denied value, as a scalar of pyarrow; None if only the count is wrong


class Audit(NamedTuple):
    """The findings of audit(), and how much it compared."""

    findings: list[Finding]
    nfiles: int
    nrow_groups: int
    nvalues: int  # values that were compared, without nulls
    nbounds: int  # row groups with bounds that are used
    nfilters: int  # row groups with a filter


class _RowGroup(NamedTuple):
    findings: list[Finding]
    nvalues: int
    has_bounds: bool
    has_filter: bool


def audit(paths: Path | Iterable[Path], column: str, *, bounds: str = "known") -> Audit:
    """Reads every value of a column, and finds the row groups that deny one of their own values.

    A row group has at most one finding of each kind. If both its filter and its statistics deny a
    value, this is a finding about the filter only. paths, column, bounds: as for row_groups().
    Statistics that row_groups() does not use are not compared. With bounds="all", a count of nulls
    is also wrong if it leaves fewer values than the row group has. NaN is not checked.

    Needs pyarrow. Takes memory for the pages of one row group, a batch of its values and its
    filter. Raises the errors of row_groups() and pyarrow; ValueError if values of the column cannot
    be keys.
    """
    files = _files(paths)
    groups = [group for path in files for group in _audit_file(path, column, bounds)]
    return Audit(
        [finding for group in groups for finding in group.findings],
        len(files),
        len(groups),
        sum(group.nvalues for group in groups),
        sum(group.has_bounds for group in groups),
        sum(group.has_filter for group in groups),
    )


def _audit_file(path: Path, column: str, bounds: str) -> Iterator[_RowGroup]:
    import pyarrow.parquet

    file, filters = (parquet_open(path, column, whose, False) for whose in (bounds, "none"))
    leaf, writer, nrow_groups = parquet_describe(file)
    with pyarrow.parquet.ParquetFile(os.fsdecode(path)) as reader:
        for i in range(nrow_groups):
            has_bounds, nvalues_said, filter = parquet_chunk(file, i)
            # The statistics that deny a value are the bounds or the count of nulls, but never both,
            # because a count that contradicts the bounds is not used.
            by_statistics = "bounds" if has_bounds else "counts"
            denied: dict[str, Any] = {}
            nvalues = 0
            for batch in reader.iter_batches(_BATCH_NROWS, row_groups=[i], columns=[leaf]):
                values = _values(batch)
                suspects = _suspects(values, filter)
                keys = _keys(suspects)
                by_filter = parquet_absent(filters, i, keys)
                by_any = parquet_absent(file, i, keys)
                for kind, absent in (
                    ("filter", by_filter),
                    (by_statistics, sorted(set(by_any).difference(by_filter))),
                ):
                    if absent:
                        denied.setdefault(kind, suspects[absent[0]])
                nvalues += len(values)
            if bounds == "all" and nvalues_said is not None and nvalues > nvalues_said:
                denied.setdefault("counts", None)
            findings = [Finding(path, i, writer, kind, value) for kind, value in denied.items()]
            yield _RowGroup(findings, nvalues, has_bounds, filter is not None)


def _values(batch: Any) -> Any:
    """Returns the non-null values of a batch's only leaf, in a type that pyarrow can compare."""
    import pyarrow as pa

    if batch.num_columns != 1:
        raise ValueError(f"column: expected one, found {', '.join(batch.schema.names)}")
    array = batch.column(0)
    while True:
        type_ = array.type
        if isinstance(type_, pa.BaseExtensionType):
            array = array.storage
        elif pa.types.is_dictionary(type_):
            array = array.dictionary_decode()
        elif pa.types.is_struct(type_):
            (array,) = array.flatten()
        elif pa.types.is_nested(type_):
            array = array.flatten()
        else:
            break
    if pa.types.is_decimal(type_):
        array = array.cast(pa.decimal128(min(type_.precision, 38), type_.scale))
    elif pa.types.is_duration(type_):
        array = array.cast(pa.int64())
    elif pa.types.is_string_view(type_):
        array = array.cast(pa.large_string())
    elif pa.types.is_binary_view(type_):
        array = array.cast(pa.large_binary())
    return array.drop_null()


def _keys(values: Any) -> Any:
    """Turns decimals into whole numbers, as in keys: 1.23 becomes 123. Keeps other values."""
    import pyarrow as pa

    if not pa.types.is_decimal(values.type):
        return values
    whole = pa.decimal128(38, 0)
    return pa.Array.from_buffers(whole, len(values), values.buffers(), offset=values.offset)


def _suspects(values: Any, filter: Filter | None) -> Any:
    """Selects a few of the values. If any value is denied, one of these values is denied, too. They
    are the values that the filter denies, and the least and the greatest of the other values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(values.type):
        values = values.filter(pc.invert(pc.is_nan(values)))
    missing = values[:0]
    if filter is not None:
        found = filter.screen(_keys(values))
        if not found.all():
            missing = values.filter(pa.array(~found))
            values = values.filter(pa.array(found))
    if len(values) == 0:
        return missing
    least, greatest = pc.min_max(values).values()
    return pa.concat_arrays([pa.array([least, greatest], values.type), missing])
