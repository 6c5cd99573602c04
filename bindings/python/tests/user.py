# SPDX-License-Identifier: MIT
"""A user's program, for mypy --strict."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import lanebloom


def new_ids(ids: NDArray[np.int64], seen: lanebloom.Filter) -> NDArray[np.int64]:
    return ids[~seen.screen(ids)]


def remember(path: Path, ids: list[int]) -> lanebloom.Filter:
    builder = lanebloom.Builder(expected=1e6, rate=0.01)
    builder.add(ids)
    seen = builder.finish()
    if path.exists():
        seen = seen | lanebloom.Filter.load(path)
    seen.save(path)
    return seen


def main() -> None:
    seen = remember(Path("seen.lbf"), [1, 2, 3])
    fresh: list[int] = new_ids(np.arange(10), seen).tolist()
    keys: int | None = seen.info.nkeys
    print(fresh, keys, 5 in seen, len(seen.bytes), seen.select(["a", b"b", None]).sum())
    files = lanebloom.parquet.prune([Path("a.parquet")], "id", fresh)
    print(files, lanebloom.Database("db").screen(["a"]).any())


if __name__ == "__main__":
    main()
