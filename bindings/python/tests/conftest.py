# SPDX-License-Identifier: MIT
"""Writes results to the file that LANEBLOOM_TAP names. scripts/test.sh counts the results."""

import os
import sys

import pytest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's executors use this Python, too

TAP = os.environ.get("LANEBLOOM_TAP")


def need(module):
    pytest.importorskip(
        module, reason=f"{module} is not installed: scripts/python.sh --all has it"
    )


def pytest_runtest_logreport(report):
    if not TAP or (report.when != "call" and report.passed):
        return
    result = "not ok" if report.failed else "ok"
    reason = f" # skip {report.longrepr[2]}" if report.skipped else ""
    with open(TAP, "a") as file:
        file.write(f"{result} - {report.nodeid}{reason}\n")
