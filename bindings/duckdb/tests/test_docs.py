# SPDX-License-Identifier: MIT
"""Runs every statement of docs/duckdb.md. Its results must equal the comments after it."""

import pathlib
import re
import subprocess

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import DATABASES, EXTENSION, VERSION

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "docs" / "duckdb.md"


def examples():
    """Lists pairs of a statement and the lines that it prints."""
    for block in re.findall(r"^```sql\n(.*?)^```", DOCUMENT.read_text(), re.M | re.S):
        for statement, shown in re.findall(r"(.*?;)\n((?:-- [^\n]*\n)*)", block, re.S):
            yield statement.strip(), [line[3:] for line in shown.splitlines()]


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.skipif(VERSION < (1, 4), reason="DuckDB below 1.4 cannot COPY a BLOB")
def test_examples(tmp_path, monkeypatch):
    if not DATABASES:
        pytest.skip("the program that makes databases was not built")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lanebloom.duckdb_extension").symlink_to(EXTENSION)
    subprocess.run([DATABASES, "make", "rocksdb-small", "some.db"], check=True, capture_output=True)
    (tmp_path / "dir").mkdir()
    pq.write_table(pa.table({"key": [1]}), "dir/1.parquet", bloom_filter_options={"key": {}})
    (tmp_path / "table").symlink_to(ROOT / "tests" / "vectors" / "hudi")
    db = duckdb.connect(config={"allow_unsigned_extensions": "true", "lock_configuration": "true"})
    n = 0
    for statement, shown in examples():
        n += 1
        try:
            rows = db.execute(statement).fetchall()
        except duckdb.Error as error:
            assert shown and shown[0].startswith("Error: "), f"{statement}: {error}"
            assert shown[0][len("Error: ") :] in str(error)
            continue
        if shown:
            assert [", ".join(map(text, row)) for row in rows] == shown, statement
    assert n > 18
