# SPDX-License-Identifier: MIT
"""Bloom filters for columns: which of these keys may be in this filter?

Build a filter from a column, or read a filter that LevelDB, RocksDB, Parquet or Spark wrote. A
filter screens whole columns of numpy, Arrow, polars or pandas, many keys at once.

    import lanebloom

    seen = lanebloom.Filter.build(column, bits_per_key=10)
    new = other[~seen.screen(other)]
"""

from lanebloom._lanebloom import (
    Builder,
    Database,
    Error,
    Filter,
    FilterInfo,
    __version__,
    formats,
    hash,
    kernels,
    use_kernel,
)
from lanebloom import parquet

__all__ = [
    "Builder",
    "Database",
    "Error",
    "Filter",
    "FilterInfo",
    "__version__",
    "formats",
    "hash",
    "kernels",
    "parquet",
    "use_kernel",
]
