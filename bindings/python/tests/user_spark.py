# SPDX-License-Identifier: MIT
"""A user's program on Spark, for mypy --strict."""

from pathlib import Path

from pyspark.sql import DataFrame

import lanebloom
import lanebloom.spark


def new_users(events: DataFrame, users: DataFrame, path: Path) -> DataFrame:
    if not path.exists():
        seen: lanebloom.Filter = lanebloom.spark.build(users, "user", rate=0.001, expected=1e6)
        seen.save(path)
    return lanebloom.spark.screen(events, "user", path, invert=True)
