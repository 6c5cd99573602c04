#!/usr/bin/env python3
"""Checks that the documents below a folder give each number of a fact alike: facts.py FOLDER.

If two documents have clauses of nearly the same words, their numbers must be equal. FACTS has the
facts that are stated in different words or that code decides. Lab notes are not read, because each
note has figures of its own, and docs/cpus.md is not read, because a program makes it.
SPDX-License-Identifier: MIT"""

import re
import sys
from itertools import combinations
from pathlib import Path

# Each fact has expressions, each of which finds the number of the fact in one or several places.
FACTS = {
    "entries of logs that are stored as hashes": [
        r"Up to ([\d,]+) keys are stored as hashes",
        r"keys of up to ([\d,]+) entries of the logs",
        r"MAX_NENTRIES = (\d+ << \d+)",
    ],
    "memory for the keys of logs": [
        r"keys of logs take about (\d+ MiB) at most",
        r"together about (\d+ MiB) at most",
    ],
    "smallest LevelDB filter that is built by partitions": [
        r"Beyond (\d+ MiB) a LevelDB filter is built",
        r"filter of LevelDB's formats of (\d+ MiB) or more",
        r"rule POSITIONS = \{(\d+ << \d+)",
    ],
    "smallest FastLocalBloom or Parquet filter that is built by partitions": [
        r"FastLocalBloom and Parquet do so from (\d+ MiB) on",
        r"filter of rocksdb-local or parquet of (\d+ MiB) or more",
        r"rule HASHES = \{(\d+ << \d+)",
    ],
    "most probes of a Spark filter": [
        r"more than (\d+) probes",
        r"SPARK_MAX_NPROBES = (\d+)",
    ],
    "first version of Spark that writes spark-v2": [r"from Spark (\d+\.\d+) on"],
    "first version of LevelDB with today's hash": [
        r"LevelDB before (\d+\.\d+)",
        r"LevelDB (\d+\.\d+) and later",
        r"LevelDB < (\d+\.\d+) on x86",
        r"LevelDB (\d+\.\d+) changed the hash",
    ],
    "version of RocksDB": [r"RocksDB (\d+\.\d+\.\d+)"],
    "keys of the largest FastLocalBloom filter": [
        r"more than ([\d.]+ billion) keys at 10 bits",
        r"enough for ([\d.]+ billion) keys at 10 bits",
    ],
    "excess of the model's rate at 0.01 %, for Parquet": [r"([\d.]+) times (?:at|for) 0\.01 %"],
    "largest index, in file sizes": [
        r"index of more than (\d+) times this size",
        r"MAX_GROWTH = (\d+), SMALL_NBYTES",
    ],
    "versions of a database whose tables are opened": [
        r"This ends after (\d+) versions",
        r"for at most (\d+) versions",
        r"MAX_ATTEMPTS = (\d+)",
    ],
    "seconds after which fewer versions are opened": [
        r"if (\d+) seconds have passed",
        r"MAX_SECONDS = (\d+)",
    ],
    "stack of a call, in KiB": [
        r"at most (\d+) KiB of stack per call",
        r"MAX_STACK_NBYTES = (\d+) << 10",
    ],
    "limit of decompressed bytes, in file sizes": [
        r"decompress more than (\d+) times this size",
        r"plus (\d+) times the file",
    ],
    "keys of a LevelDB filter if key and value have 116 bytes": [
        r"about (\d+) if a key and its value have 116 bytes",
        r"\| 100 bytes, half of them random \| (\d+) \|",
    ],
    "lowest version of Python": [
        r"Linux with Python (\d+\.\d+) or newer",
        r'requires-python = ">=(\d+\.\d+)"',
    ],
    "glibc of the wheel": [r"glibc (\d+\.\d+) or newer", r'"manylinux_(\d+_\d+)_'],
}
SOURCES = [
    "src/tables/index.c",
    "src/tables/key_hashes.c",
    "src/tables/open_tables.c",
    "src/lanes/partitions.h",
    "src/layouts/double_hashing.h",
    "tests/support/painted_stack.h",
    "bindings/python/pyproject.toml",
    "bindings/python/tests/test_package.py",
]
DOCUMENTS = ["*.md", "docs/*.md", "bench/*.md", "bindings/*/*.md", "include/*.h"]
OTHERS = ["CHANGELOG.md", "docs/lab-notes.md", "docs/cpus.md"]
ALIKE = 0.75  # two clauses are alike if they share this part of their words

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w^])")
COMMON = set("a an and are as at by for from has have in is it of on or that the this to".split())


def documents(root: Path) -> list[Path]:
    others = [root / other for other in OTHERS]
    return sorted(path for glob in DOCUMENTS for path in root.glob(glob) if path not in others)


def flat(path: Path) -> str:
    """Returns a text in one line, without the stars of comments."""
    return " ".join(re.sub(r"^ *\*(?!/) ?", "", path.read_text(), flags=re.M).split())


def value(text: str) -> float | str:
    """Computes 4 << 20, 12 MiB, 3.4 billion, 4,096 and 2_34. A version is returned as it is."""
    text = text.replace(",", "").replace("_", ".")
    if shift := re.fullmatch(r"(\d+) << (\d+)", text):
        return int(shift[1]) << int(shift[2])
    number, _, unit = text.partition(" ")
    factor = {"": 1, "MiB": 1 << 20, "billion": 1e9}[unit]
    return number if number.count(".") > 1 else float(number) * factor


def check_facts(root: Path) -> list[str]:
    """Returns the facts of FACTS that are not stated, or not alike."""
    faults = []
    paths = [*documents(root), *(root / source for source in SOURCES)]
    texts = [(path.relative_to(root), flat(path)) for path in paths]
    for fact, expressions in FACTS.items():
        places = []
        for expression in expressions:
            found = [(path, m[1]) for path, text in texts for m in re.finditer(expression, text)]
            if not found:
                faults.append(f"{fact}: expected a text like /{expression}/, found none")
            places += found
        if len(places) == 1:
            faults.append(f"{fact}: expected two places, found only {places[0][0]}")
        if len({value(number) for _, number in places}) > 1:
            stated = ", ".join(f"{number} in {path}" for path, number in places)
            faults.append(f"{fact}: expected one number, found {stated}")
    return faults


def clauses(path: Path) -> list[tuple[str, set[str], list[float]]]:
    """Lists the clauses of prose that have a number: the text, the words and the numbers."""
    text = path.read_text()
    if path.suffix == ".h":
        comments = re.findall(r"/\*(.*?)\*/", text, re.S)
        text = "\n\n".join(re.sub(r"^ *\* *", "", comment, flags=re.M) for comment in comments)
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"^(?: {4}|\||#|!).*$", "", text, flags=re.M)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n *- ", text):
        for clause in re.split(r"(?<=[.:;!?])\s+", " ".join(paragraph.split())):
            numbers = sorted(float(n.replace(",", "")) for n in NUMBER.findall(clause))
            words = set(re.findall(r"[a-z_]+", NUMBER.sub("", clause).lower())) - COMMON
            if numbers and len(words) >= 4:
                found.append((clause, words, numbers))
    return found


def check_clauses(root: Path) -> list[str]:
    """Returns the pairs of clauses of two documents that differ in little but their numbers."""
    faults = []
    found = [(p.relative_to(root), *clause) for p in documents(root) for clause in clauses(p)]
    for (path, clause, words, numbers), (other, again, more, others) in combinations(found, 2):
        if path == other or numbers == others or len(numbers) != len(others):
            continue
        if len(words & more) >= ALIKE * len(words | more):
            faults.append(f"{path} and {other} differ: {clause!r}, {again!r}")
    return faults


if __name__ == "__main__":
    root = Path(sys.argv[1])
    faults = check_facts(root) + check_clauses(root)
    print(*faults, f"{len(FACTS)} facts, {len(faults)} faults", sep="\n")
    sys.exit(bool(faults))
