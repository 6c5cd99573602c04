#!/usr/bin/python3
"""documents.py [--of FILE] DOCUMENT... writes the figures of a result file into documents.

In a document, figures stand between two comments, of which the first one says what they are:
<!-- figures: summary of results/cpus/FILE.json --> and <!-- end of figures -->. The texts between
such comments are made again, of the files that the comments name or, with --of, of FILE.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True  # this may run in a source tree
from markdown_text import markdown_table, wrapped
from results import MAIN_K, BadInput, Panel, Point, Results, digits, load_all, size_name
from verdict import COMMAND, ENGINES, facts, figure, rate

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
BEGIN, END = "<!-- figures: {} of {} -->\n", "<!-- end of figures -->"
BLOCK = re.compile(BEGIN.format(r"(\w+)", r"([^\n]+)") + ".*?" + END, re.S)
SIZES = [256, 262144]  # KiB
MOVED = "those with a “?” moved by more than 5 % within the run"
# The rows of bench/screen.sh that are shown, and their names.
COMMANDS = {
    "rocksdb-local-j2": "`lanebloom screen`, two threads",
    "rocksdb-local": "`lanebloom screen -j 1`",
    "bloom": "Debian's `bloom check`",
    "grep": "`grep -Fxf`",
}


def screen(subject: str, hits: int) -> Panel:
    return Panel("screen", subject, hits, MAIN_K, "with-hash")


def ns(point: Point | None) -> str:
    return digits(point and point.value) + (" ?" if point and point.unsure else "")


def kernels(f: Results, subject: str) -> list[str]:
    """Lists the best kernel of each instruction set; the file lists its kernels from the best."""
    measured = f.rows.get(screen(subject, 0), {})
    names = str(f.context.get("kernels", "")).split()
    best: dict[str, str] = {}
    for name in names:
        if name in measured:
            best.setdefault(name.partition("-")[0], name)
    return list(best.values())


def commands(f: Results) -> list[list[str]]:
    """Lists commands, million lines per second and MiB. If bench/screen.sh added no commands to the
    file, these are the rows of lanebloom alone."""
    at = {str(command.get("name")): command for command in f.commands}
    out = []
    for jobs, (name, words) in zip((2, 1, 0, 0), COMMANDS.items()):
        if name in at:
            speed, mib = at[name]["lines_per_second"] / 1e6, at[name]["peak_kib"] / 1024
            out.append([words, figure(speed), figure(mib)])
        elif not at and (found := f.fastest(COMMAND, jobs)):
            out.append([words, rate(found[1]), "–"])
    return out


# ---- the texts


def summary(f: Results) -> str:
    """Makes the first paragraph of README."""
    panel = screen("rocksdb-local", 0)
    kernel, engine = (f.fastest(panel, SIZES[0], peers) for peers in (False, True))
    lines = {name: speed for name, speed, _ in commands(f)}.get(COMMANDS["rocksdb-local"])
    if not kernel or not engine or not lines:
        raise BadInput(
            f"{f.path}: expected rows of rocksdb-local, RocksDB and the command with filters of "
            f"{size_name(SIZES[0])}, found that some are missing"
        )
    speed = figure(engine[1].value / kernel[1].value)
    return wrapped(
        "lanebloom is a C11 library and a command. The library hashes and tests a key in "
        f"{kernel[1].value:.1f} ns, {speed} times as fast as RocksDB's own code. The command "
        f"screens {lines.removesuffix(' ?')} million lines per second on one core "
        "([numbers](#numbers))."
    )


def tables(f: Results) -> str:
    """Makes the tables of README and their caption."""
    parts = []
    for subject in reversed(ENGINES):
        lines = []
        for x in SIZES:
            for kernel in kernels(f, subject):
                cells = [size_name(x), f"`{kernel}`"]
                for hits in (0, 100):
                    panel = screen(subject, hits)
                    point, engine = f.point(panel, kernel, x), f.fastest(panel, x, peers=True)
                    cells += [ns(point), "–"]
                    if point and engine:
                        cells[-1] = figure(engine[1].value / point.value)
                lines.append(cells)
        head = ["filter", "kernel", "absent, ns", "speed-up", "present, ns", "speed-up"]
        parts += [f"`{subject}`:", markdown_table(head, lines)]
    parts.append(wrapped(
        "The next table shows the command, which screens "
        + ("10 million lines of 12 digits against a filter of 100,000 other keys. The commands "
           "took turns; the figures are medians of their rounds, and the highest use of memory:"
           if f.commands else
           "8 million lines of 12 characters against a filter of 256 KiB that has none of them:")
    ))
    head = ["command", "million lines per second", "memory, MiB"]
    parts.append(markdown_table(head, commands(f)))
    noise = f" {f.context['noise']}" if f.context.get("noise") else ""
    parts.append(wrapped(
        f"All three tables are of one machine and one commit: {f.cpu}, {facts(f)}, "
        f"`{f.context.get('flags', '')}`. The figures are medians; {MOVED}.{noise}"
    ))
    return "\n\n".join(parts)


def library(f: Results) -> str:
    """Makes the table of engines, scalar code and lanes in docs/how-the-kernels-work.md."""
    columns = [(x, hits) for x in SIZES for hits in (0, 100)]
    lines = []
    for subject, engine in ENGINES.items():
        found = [f.fastest(screen(subject, hits), x, peers=True) for x, hits in columns]
        lines.append([f"{engine} itself", *(ns(pair and pair[1]) for pair in found)])
        for kernel in ("scalar", str(f.context.get("kernel_active"))):
            points = [f.point(screen(subject, hits), kernel, x) for x, hits in columns]
            lines.append([f"`{subject}`, `{kernel}`", *map(ns, points)])
    words = wrapped(
        f"This table shows the library, hash included, on {f.cpu}. The figures are medians of "
        f"`scripts/bench.sh` at commit {f.context.get('commit')}; {MOVED}:"
    )
    head = ["row", *(f"{size_name(x)}, {'present' if hits else 'absent'}" for x, hits in columns)]
    return f"{words}\n\n{markdown_table(head, lines)}"


TEXTS = {"summary": summary, "tables": tables, "library": library}


def written(path: str, text: str, of: str | None) -> str:
    """Returns a document with the texts of all its figures made again."""

    def made(match: re.Match) -> str:
        name, source = match[1], of or match[2]
        if name not in TEXTS:
            raise BadInput(f"{path}: expected figures named {', '.join(TEXTS)}, found {name}")
        figures = TEXTS[name](load(os.path.relpath(os.path.join(ROOT, source))))
        return f"{BEGIN.format(name, source)}{figures}\n{END}"

    new, n = BLOCK.subn(made, text)
    if not n:
        line = BEGIN.format("NAME", "FILE").strip()
        raise BadInput(f"{path}: expected a line {line}, found none")
    return new


def load(path: str) -> Results:
    return load_all([path])[0]


def main() -> None:
    about, syntax = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=syntax.partition("SPDX")[0])
    parser.add_argument("documents", nargs="+", metavar="DOCUMENT")
    parser.add_argument("--of", metavar="FILE", help="a result file in results/cpus/")
    options = parser.parse_args()
    of = options.of and os.path.relpath(options.of, ROOT)
    try:
        texts = {}
        for path in options.documents:
            with open(path, encoding="utf-8") as file:
                texts[path] = written(path, file.read(), of)
        for path, text in texts.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    except BadInput as error:
        parser.exit(2, f"documents.py: {error}\n")
    except OSError as error:
        parser.exit(2, f"documents.py: {error.filename}: {error.strerror}\n")


if __name__ == "__main__":
    main()
