# SPDX-License-Identifier: MIT
"""Every example of the documents, each document in a process of its own."""

import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import need

DOCS = pathlib.Path(__file__).parents[3] / "docs"

RUN = """
import doctest, sys
found = doctest.testfile(sys.argv[1], module_relative=False)
sys.exit(found.failed > 0 or found.attempted < int(sys.argv[2]))
"""


# needs: modules and programs besides the package; least: the fewest examples of the document.
@pytest.mark.parametrize(
    "name, needs, least",
    [
        ("python", ["polars", "pandas", "pyarrow"], 40),
        ("spark", ["pyspark", "java"], 15),
        ("ray", ["ray"], 10),
        ("dask", ["dask"], 10),
    ],
)
def test_examples(name, needs, least, tmp_path):
    for module in needs:
        if module == "java" and not shutil.which("java"):
            pytest.skip("no java runs here")
        elif module != "java":
            need(module)
    done = subprocess.run(
        [sys.executable, "-c", RUN, DOCS / f"{name}.md", str(least)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
