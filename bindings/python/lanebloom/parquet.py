# SPDX-License-Identifier: MIT
"""Which Parquet files, and which row groups of them, may hold any of these keys?

Statistics and Bloom filters alone are read, never the rows. A row group that has neither may hold
every key.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lanebloom._lanebloom import parquet_row_groups

if TYPE_CHECKING:
    from lanebloom._lanebloom import Keys, Path

__all__ = ["prune", "row_groups"]


def _as_list(paths: Path | Iterable[Path]) -> list[Path]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        return [paths]
    return list(paths)


def _reusable(keys: Any) -> Any:
    """Keys that can be read once per file: an iterator becomes a list."""
    return list(keys) if hasattr(keys, "__next__") else keys


def row_groups(
    paths: Path | Iterable[Path], column: str, keys: Keys, *, bounds: str = "known"
) -> list[tuple[Path, list[int]]]:
    """The row groups in which any of the keys may be, for each file that has one.

    column: the names from the root on, joined by dots. keys: as of Filter.build(); their type must
    be that of the column, and integers in a list take it. bounds: whose bounds and counts of nulls
    may say that a key is absent: "known", those of writers that were seen to write them right;
    "all", also where they may be wrong; "none". Raises TypeError, which names both types,
    ValueError if there is no such column, lanebloom.Error, OSError.
    """
    keys = _reusable(keys)
    found = ((path, parquet_row_groups(path, column, keys, bounds)) for path in _as_list(paths))
    return [(path, groups) for path, groups in found if groups]


def prune(
    paths: Path | Iterable[Path], column: str, keys: Keys, *, bounds: str = "known"
) -> list[Path]:
    """The files in which any of the keys may be, in their order: the others can be left out."""
    return [path for path, _ in row_groups(paths, column, keys, bounds=bounds)]
