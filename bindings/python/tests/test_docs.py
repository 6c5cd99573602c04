# SPDX-License-Identifier: MIT
"""Runs every example of the documents. Each document or chapter has a process of its own."""

import pathlib
import re
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


# These chapters of python.md need modules of their own.
CHAPTERS = ["Ray", "Dask"]


def examples_of(name):
    """Returns a document, or one of CHAPTERS. Leaves these chapters out of python.md itself."""
    if name not in CHAPTERS:
        text = (DOCS / f"{name}.md").read_text()
        for chapter in CHAPTERS if name == "python" else []:
            text = text.replace(examples_of(chapter), "")
        return text
    return re.search(rf"^### {name}\n.*?(?=^##)", (DOCS / "python.md").read_text(), re.M | re.S)[0]


# needs: the modules and programs that the examples need besides the package. least: the test fails
# if the document has fewer examples than this.
@pytest.mark.parametrize(
    "name, needs, least",
    [
        ("python", ["polars", "pandas", "pyarrow"], 40),
        ("spark", ["pyspark", "java"], 15),
        ("Ray", ["ray"], 10),
        ("Dask", ["dask"], 10),
    ],
)
def test_examples(name, needs, least, tmp_path):
    for module in needs:
        if module == "java" and not shutil.which("java"):
            pytest.skip("no java runs here")
        elif module != "java":
            need(module)
    document = tmp_path / f"{name}.md"
    document.write_text(examples_of(name))
    done = subprocess.run(
        [sys.executable, "-c", RUN, document, str(least)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
