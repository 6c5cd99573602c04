# SPDX-License-Identifier: MIT
"""Every example of docs/python.md."""

import doctest
import pathlib

import pytest

DOCS = pathlib.Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", ["python.md"])
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(DOCS / name), module_relative=False)
    assert found.attempted > 30 and found.failed == 0
