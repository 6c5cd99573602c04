#!/usr/bin/env python3
"""Times whole tasks of the command beside the programs that people use for them: python3
bench/tasks.py [-r ROUNDS] [-s SCALE] LANEBLOOM [TASK...]. Programs take turns. Prints the least CPU
seconds of each program (wall seconds if threads are compared), and the ratio to the seconds of the
first program. Before anything is timed, rows that must be equal are sorted and compared. DuckDB is
the Python module `duckdb`. Missing programs are named and left out. For a trial run, use SCALE
0.01.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import argparse
import gzip
import importlib.util
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple


class Command(NamedTuple):
    name: str
    shell: str  # a command line; for DuckDB, a statement
    needs: str = ""  # a program; "duckdb" is the module
    equal: bool = True  # prints the same rows as the other equal commands
    setup: str = ""  # a command line that runs first and is not timed


class Task(NamedTuple):
    name: str
    commands: list[Command]
    wall: bool = False


# Prints the CPU and wall seconds of the statement alone, because starting Python is not part of
# DuckDB's time.
DUCKDB = """import duckdb, sys, time
database = duckdb.connect()
database.execute("set threads = 1; set enable_progress_bar = false")
cpu, wall = time.process_time(), time.monotonic()
database.execute(sys.argv[1])
print(time.process_time() - cpu, time.monotonic() - wall)
"""
KEYS = (
    "read_csv('keys', header = false, columns = {'k': 'varchar'}, auto_detect = false, delim = '')"
)
MORE_KEYS = KEYS.replace("'keys'", "'more_keys'")
LINES = KEYS.replace("'keys'", "'lines'")
NAMES = ["id", "day", "user", "item", "note", "price"]
COLUMNS = ", ".join(f"'{name}': 'varchar'" for name in NAMES)


def semi_join(source: str, keys: str, options: str, column: str = "user") -> str:
    """Returns SQL that writes to `out` the source's rows whose column is one of the keys."""
    rows = f"select s.* from {source} s semi join {keys} q on s.{column} = q.k"
    return f"copy ({rows}) to 'out' ({options})"


def read(name: str, delimiter: str, quote: str) -> str:
    return (
        f"read_csv('{name}', header = true, columns = {{{COLUMNS}}}, auto_detect = false, "
        f"delim = '{delimiter}', quote = '{quote}', escape = '{quote}')"
    )


def tasks(lanebloom: str) -> list[Task]:
    return [
        Task(
            "rows of a TSV",
            [
                Command(
                    "screen",
                    f"{lanebloom} screen -j 1 --tsv -f 3 keys.lbf rows.tsv >out",
                    equal=False,
                ),
                Command("match", f"{lanebloom} match -j 1 --tsv -f 3 keys rows.tsv >out"),
                Command(
                    "bloom",
                    "bloom -s -d '\t' -f 2 check keys.bloom <rows.tsv >out",
                    "bloom",
                    equal=False,
                    setup="bloom create -n $(wc -l <keys) -p 0.01 keys.bloom\n"
                    "bloom insert keys.bloom <keys",
                ),
                Command(
                    "mawk",
                    r"mawk -F '\t' 'NR == FNR { k[$0]; next } FNR == 1 || $3 in k' "
                    "keys rows.tsv >out",
                    "mawk",
                ),
                Command(
                    "DuckDB",
                    semi_join(
                        read("rows.tsv", "\\t", ""), KEYS, "header, delimiter '\\t', quote ''"
                    ),
                    "duckdb",
                ),
            ],
        ),
        Task(
            "rows of a quoted CSV",
            [
                Command(
                    "screen",
                    f"{lanebloom} screen -j 1 --csv -f user keys.lbf rows.csv >out",
                    equal=False,
                ),
                Command("match", f"{lanebloom} match -j 1 --csv -f user keys rows.csv >out"),
                Command(
                    "DuckDB",
                    semi_join(read("rows.csv", ",", '"'), KEYS, "header, force_quote *"),
                    "duckdb",
                ),
            ],
        ),
        Task(
            "JSON lines",
            [
                Command(
                    "screen",
                    f"{lanebloom} screen -j 1 --jsonl -f user keys.lbf rows.jsonl >out",
                    equal=False,
                ),
                Command("match", f"{lanebloom} match -j 1 --jsonl -f user keys rows.jsonl >out"),
                Command(
                    "jq",
                    "jq -c --slurpfile set keys.json 'select($set[0][.user])' rows.jsonl >out",
                    "jq",
                ),
                Command(
                    "DuckDB",
                    semi_join(
                        f"read_ndjson('rows.jsonl', columns = {{{COLUMNS}}})", KEYS, "format json"
                    ),
                    "duckdb",
                ),
            ],
        ),
        Task(
            "whole lines",
            [
                Command("match", f"{lanebloom} match -j 1 keys lines >out"),
                Command("grep", "grep -Fxf keys lines >out", "grep"),
                Command(
                    "DuckDB",
                    semi_join(LINES, KEYS, "header false, quote ''", "k"),
                    "duckdb",
                ),
            ],
        ),
        Task(
            "whole lines, as many keys",
            [
                Command("match", f"{lanebloom} match -j 1 more_keys lines >out"),
                Command(
                    "DuckDB",
                    semi_join(LINES, MORE_KEYS, "header false, quote ''", "k"),
                    "duckdb",
                ),
            ],
        ),
        Task(
            "hexadecimal digits",
            [
                Command(
                    "binary",
                    f"{lanebloom} screen -j 1 --width 32 -c hashes.lbf hashes >out",
                    setup=f"head -c 3200000 hashes | {lanebloom} build --width 32 -o hashes.lbf",
                ),
                Command(
                    "--decode hex",
                    f"{lanebloom} screen -j 1 -c hex.lbf hashes.hex >out",
                    setup=f"head -n 100000 hashes.hex | {lanebloom} build --decode hex -o hex.lbf",
                ),
            ],
        ),
        Task(
            "50 filters",
            [
                Command(
                    "at once",
                    f"{lanebloom} screen -j 1 {filters()} --which -c some >out",
                    equal=False,
                    setup="for i in $(seq 50); do\n"
                    "sed -n $((i * 1000 + 1)),$((i * 1000 + 10000))p keys |\n"
                    f"{lanebloom} build -o $i.lbf; done",
                ),
                Command(
                    "a loop",
                    f"for i in $(seq 50); do {lanebloom} screen -j 1 -c $i.lbf some; done >out",
                    equal=False,
                ),
            ],
        ),
        Task(
            "threads, whole lines",
            [
                Command("-j 2", f"{lanebloom} screen -j 2 keys.lbf lines >out"),
                Command("-j 1", f"{lanebloom} screen -j 1 keys.lbf lines >out"),
            ],
            wall=True,
        ),
        Task(
            "threads, quoted CSV",
            [
                Command("-j 2", f"{lanebloom} screen -j 2 --csv -f user keys.lbf rows.csv >out"),
                Command("-j 1", f"{lanebloom} screen -j 1 --csv -f user keys.lbf rows.csv >out"),
            ],
            wall=True,
        ),
        Task(
            "gzip",
            [
                Command("screen", f"{lanebloom} screen -j 1 --tsv -f 3 keys.lbf rows.tsv.gz >out"),
                Command(
                    "igzip",
                    f"igzip -dc rows.tsv.gz | {lanebloom} screen -j 1 --tsv -f 3 keys.lbf >out",
                    "igzip",
                ),
            ],
            wall=True,
        ),
    ]


def filters() -> str:
    return " ".join(f"--filter {i}.lbf" for i in range(1, 51))


def digits(draw: random.Random, nlines: int) -> list[str]:
    return [f"{value:012d}" for value in (draw.randrange(10**12) for _ in range(nlines))]


def write_lines(name: str, lines: list[str]) -> None:
    pathlib.Path(name).write_text("".join(line + "\n" for line in lines))


def write_rows(draw: random.Random, keys: list[str], nrows: int) -> None:
    """Writes rows of six columns as TSV, quoted CSV and JSON lines. Every tenth has a key."""
    with open("rows.tsv", "w") as tsv, open("rows.csv", "w") as csv, open(
        "rows.jsonl", "w"
    ) as json:
        tsv.write("\t".join(NAMES) + "\n")
        csv.write(",".join(f'"{name}"' for name in NAMES) + "\n")
        for i in range(nrows):
            user = draw.choice(keys) if i % 10 == 0 else f"{draw.randrange(10**12):012d}"
            row = [
                f"{i}",
                f"2026-0{i % 9 + 1}-11",
                user,
                f"item-{i % 1013}",
                f"a note of row {i}",
                f"{i % 977}.50",
            ]
            tsv.write("\t".join(row) + "\n")
            csv.write(",".join(f'"{field}"' for field in row) + "\n")
            json.write("{" + ",".join(f'"{n}":"{f}"' for n, f in zip(NAMES, row)) + "}\n")
    with open("rows.tsv", "rb") as plain, gzip.open("rows.tsv.gz", "wb", 6) as packed:
        shutil.copyfileobj(plain, packed)


def write_data(lanebloom: str, scale: float) -> None:
    draw = random.Random(16)
    nkeys, nlines, nrows = int(100_000 * scale), int(10_000_000 * scale), int(2_000_000 * scale)
    keys = digits(draw, nkeys)
    write_lines("keys", keys)
    pathlib.Path("keys.json").write_text("{" + ",".join(f'"{key}":true' for key in keys) + "}")
    lines = [
        draw.choice(keys) if i % 100 == 0 else key for i, key in enumerate(digits(draw, nlines))
    ]
    write_lines("lines", lines)
    write_lines("some", lines[:nrows])
    write_lines("more_keys", digits(draw, nlines // 2) + lines[: nlines // 2])
    write_rows(draw, keys, nrows)
    hashes = draw.randbytes(32 * nrows)
    pathlib.Path("hashes").write_bytes(hashes)
    write_lines("hashes.hex", [hashes[i : i + 32].hex() for i in range(0, len(hashes), 32)])
    run(f"{lanebloom} build -o keys.lbf keys")


def run(shell: str) -> None:
    done = subprocess.run(["bash", "-o", "pipefail", "-c", shell])
    if done.returncode not in (0, 1):  # status 1 means that no row passed
        sys.exit(f"bench/tasks.py: status {done.returncode}: {shell}")


def arguments(command: Command) -> list[str]:
    if command.needs == "duckdb":
        return [sys.executable, "-c", DUCKDB, command.shell]
    return ["bash", "-o", "pipefail", "-c", command.shell]


def timed(command: Command, wall: bool) -> float:
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(arguments(command), stdout=subprocess.PIPE, text=True)
    end, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"bench/tasks.py: status {done.returncode}: {command.shell}")
    if command.needs == "duckdb":
        return float(done.stdout.split()[wall])
    if wall:
        return end - begin
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def is_there(command: Command) -> bool:
    if command.needs == "duckdb":
        return importlib.util.find_spec("duckdb") is not None
    return not command.needs or shutil.which(command.needs) is not None


def compare(task: Task) -> None:
    """Ends the run if two commands print different rows."""
    outputs = {}
    for command in task.commands:
        if not is_there(command):
            continue
        if command.setup:
            run(command.setup)
        if command.equal:
            subprocess.run(arguments(command), stdout=subprocess.DEVNULL)
            outputs[command.name] = sorted(pathlib.Path("out").read_bytes().splitlines())
    names = list(outputs)
    for name in names[1:]:
        if outputs[name] != outputs[names[0]]:
            sys.exit(f"bench/tasks.py: {task.name}: {names[0]} and {name} print different rows")


def measure(task: Task, nrounds: int) -> None:
    compare(task)
    commands = [command for command in task.commands if is_there(command)]
    seconds = {command.name: float("inf") for command in commands}
    for _ in range(nrounds):
        for command in commands:
            seconds[command.name] = min(seconds[command.name], timed(command, task.wall))
    first = seconds[commands[0].name]
    print(f"{task.name}, {'wall' if task.wall else 'CPU'} seconds")
    for command in task.commands:
        if command in commands:
            least = seconds[command.name]
            print(f"  {command.name:14} {least:8.3f} {least / first:8.2f} times", flush=True)
        else:
            print(f"  {command.name:14} is missing", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times whole tasks of the command beside others.")
    parser.add_argument("-r", "--rounds", type=int, default=5)
    parser.add_argument("-s", "--scale", type=float, default=1)
    parser.add_argument("lanebloom", help="the command, built as Release")
    parser.add_argument("task", nargs="*", help="parts of task names (default: all tasks)")
    options = parser.parse_args()
    lanebloom = os.path.abspath(options.lanebloom)
    os.environ["LC_ALL"] = "C"
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        write_data(lanebloom, options.scale)
        for task in tasks(lanebloom):
            if not options.task or any(part in task.name for part in options.task):
                measure(task, options.rounds)
        os.chdir("/")


if __name__ == "__main__":
    main()
