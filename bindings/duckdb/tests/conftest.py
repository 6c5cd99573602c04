# SPDX-License-Identifier: MIT
"""Databases that have loaded the extension, which LANEBLOOM_EXTENSION names."""

import os

import duckdb
import pytest

EXTENSION = os.environ["LANEBLOOM_EXTENSION"]
DATABASES = os.environ.get("DATABASES")  # the path of a program that makes databases
TAP = os.environ.get("LANEBLOOM_TAP")
ROWS = int(os.environ.get("LANEBLOOM_ROWS", "100000"))
VERSION = tuple(map(int, duckdb.__version__.split(".")[:2]))
ASKS = VERSION >= (1, 5)  # this DuckDB tells whether files may be opened


def pytest_runtest_logreport(report):
    """Writes results to the file that LANEBLOOM_TAP names. scripts/test.sh counts the results."""
    if not TAP or (report.when != "call" and report.passed):
        return
    result = "not ok" if report.failed else "ok"
    reason = f" # skip {report.longrepr[2]}" if report.skipped else ""
    with open(TAP, "a") as file:
        file.write(f"{result} - DuckDB {duckdb.__version__}: {report.nodeid}{reason}\n")


def connect(path=":memory:", **settings):
    connection = duckdb.connect(path, config={"allow_unsigned_extensions": "true", **settings})
    connection.execute(f"LOAD '{EXTENSION}'")
    return connection


@pytest.fixture
def db():
    """A database with two threads. Files may be opened in every version of DuckDB."""
    connection = connect(threads="2", lock_configuration="true")
    yield connection
    connection.close()


@pytest.fixture
def open_db():
    """A database whose settings can be changed."""
    connection = connect(threads="2")
    yield connection
    connection.close()


def one(connection, sql, *parameters):
    return connection.execute(sql, parameters).fetchone()[0]


def refused(connection, sql, sentence):
    with pytest.raises(duckdb.Error) as error:
        connection.execute(sql).fetchall()
    assert sentence in str(error.value)
