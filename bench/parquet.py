#!/usr/bin/env python3
"""Times the search for keys in a folder of Parquet files: python3 bench/parquet.py [-r ROUNDS]
[-j THREADS] [--rows ROWS] [--rate RATE] LANEBLOOM FOLDER [TASK...]. Programs take turns; results
are compared before anything is timed. Prints the least wall and CPU seconds of each program, and
the ratio of its wall seconds to those of the first program. Each program is timed with the files in
the page cache and without. The first run writes the files to FOLDER (1.1 GB), and later runs use
them. Needs the Python packages duckdb and pyarrow. For a trial run, use --rows 2048.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import argparse
import hashlib
import importlib.util
import os
import pathlib
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from typing import NamedTuple

MISSING = [name for name in ("duckdb", "pyarrow") if importlib.util.find_spec(name) is None]
if MISSING:
    sys.exit(f"bench/parquet.py: {sys.executable} lacks the package {' and '.join(MISSING)}")

import duckdb
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet

NFILES = 20
NGROUPS = 8  # row groups per file
COLUMNS = ["id", "n", "small", "payload"]
# DuckDB writes filters only for columns with a dictionary, so the dictionary may have a value for
# each row.
WRITE = """copy (
  select md5(i::varchar)::uuid::varchar as id, (hash(i) >> 1)::bigint as n,
    (i % 100000)::integer as small, hash(i * 3)::varchar as payload
  from range({first}, {end}) rows(i)
) to {path} (format parquet, row_group_size {nrows}, dictionary_size_limit 200000,
  string_dictionary_page_size_limit 100000000, bloom_filter_false_positive_ratio {rate},
  compression zstd, kv_metadata {{made: {made}}})"""


class Place(NamedTuple):
    lanebloom: str
    folder: str
    files: list[str]
    nthreads: int
    nrows: int  # per row group


class Command(NamedTuple):
    name: str
    run: Callable[[duckdb.DuckDBPyConnection], list]
    exact: bool = True  # False if it may print more than the other commands
    prunes: bool = False  # the command runs lanebloom


class Task(NamedTuple):
    name: str
    keys: list[str]
    commands: list[Command]


def text(value: str) -> str:
    """Returns a literal of SQL."""
    return "'" + value.replace("'", "''") + "'"


def texts(values: list[str]) -> str:
    return ", ".join(text(value) for value in values)


def count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


# ---- Data ----


def key(row: int) -> str:
    """Returns the key that DuckDB writes into column id of this row."""
    return str(uuid.UUID(bytes=hashlib.md5(str(row).encode()).digest()))


def is_written(path: str, made: str) -> bool:
    if not os.path.exists(path):
        return False
    found = pyarrow.parquet.read_metadata(path).metadata.get(b"made", b"otherwise").decode()
    if found != made:
        sys.exit(
            f"bench/parquet.py: {path}: expected a file made with {made}, found one made with "
            f"{found}; name another folder"
        )
    return True


def write_files(folder: str, nrows: int, rate: float) -> list[str]:
    os.makedirs(folder, exist_ok=True)
    files = [os.path.join(folder, f"part{i:02}.parquet") for i in range(NFILES)]
    made = f"--rows {nrows} --rate {rate}"
    for i, path in enumerate(files):
        if is_written(path, made):
            continue
        unfinished = path + ".tmp"
        statement = WRITE.format(
            first=i * NGROUPS * nrows,
            end=(i + 1) * NGROUPS * nrows,
            nrows=nrows,
            rate=rate,
            made=text(made),
            path=text(unfinished),
        )
        with duckdb.connect(config={"threads": 1}) as database:  # more would change the order
            database.execute(statement)
        with open(unfinished, "rb") as file:
            os.fsync(file.fileno())  # pages that are not on disk cannot be dropped
        os.replace(unfinished, path)
    return files


def describe(place: Place) -> None:
    ngroups, nfilters, least_nbytes, most_nbytes = duckdb.execute(
        "select count(*), count(bloom_filter_offset), "
        "min(bloom_filter_length), max(bloom_filter_length) "
        f"from parquet_metadata([{texts(place.files)}]) where path_in_schema = 'id'"
    ).fetchone()
    nbytes = sum(os.path.getsize(path) for path in place.files)
    version = subprocess.run([place.lanebloom, "--version"], stdout=subprocess.PIPE, text=True)
    print(version.stdout.split("\n")[0])
    print(
        f"DuckDB {duckdb.__version__}, pyarrow {pyarrow.__version__}, "
        f"Python {platform.python_version()}; {count(place.nthreads, 'thread')} each"
    )
    print(
        f"{count(NFILES, 'file')}, {count(ngroups, 'row group')} of {place.nrows:,} rows, "
        f"{nbytes / 1e6:,.0f} MB; {count(nfilters, 'filter')} of column id of "
        f"{least_nbytes:,} to {most_nbytes:,} bytes",
        flush=True,
    )


# ---- Commands ----


def screen(place: Place, keys: str, *options: str) -> list[str]:
    arguments = ["screen", "-j", str(place.nthreads), "--parquet", place.folder, "--column", "id"]
    command = [place.lanebloom, *arguments, *options, keys]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):  # status 1 means that no key is in the files
        sys.exit(f"bench/parquet.py: status {done.returncode}: {' '.join(command)}")
    return done.stdout.splitlines()


def is_in(columns: str, files: list[str], keys: list[str]) -> str:
    return f"select {columns} from read_parquet([{texts(files)}]) where id in ({texts(keys)})"


def semi_join(columns: str, files: list[str], _: list[str]) -> str:
    return f"select {columns} from read_parquet([{texts(files)}]) semi join keys using (id)"


def query(database: duckdb.DuckDBPyConnection, statement: Callable, *arguments) -> list:
    files = arguments[1]
    return database.execute(statement(*arguments)).fetchall() if files else []


def scan(columns: list[str], keys: list[str], place: Place) -> list[tuple]:
    data = pyarrow.dataset.dataset(place.files, format="parquet")
    return rows(data.to_table(columns, filter=is_one_of(keys)))


def scan_groups(columns: list[str], keys: list[str], lines: list[str]) -> list[tuple]:
    """Reads the row groups that `--prune --row-groups` names."""
    groups: dict[str, list[int]] = {}
    for line in lines:
        path, group = line.rsplit("\t", 1)
        groups.setdefault(path, []).append(int(group))
    if not groups:
        return []
    data = pyarrow.dataset.dataset(list(groups), format="parquet")
    parts = [part.subset(row_group_ids=groups[part.path]) for part in data.get_fragments()]
    data = pyarrow.dataset.FileSystemDataset(parts, data.schema, data.format, data.filesystem)
    return rows(data.to_table(columns, filter=is_one_of(keys)))


def is_one_of(keys: list[str]) -> pyarrow.compute.Expression:
    return pyarrow.compute.field("id").isin(keys)


def rows(table: pyarrow.Table) -> list[tuple]:
    return list(zip(*(column.to_pylist() for column in table.columns)))


# ---- Tasks ----


def write_keys(name: str, keys: list[str]) -> str:
    """Writes keys, which are in random order: bounds would rule out more of sorted keys."""
    path = os.path.abspath(name)
    pathlib.Path(path).write_text("".join(one + "\n" for one in keys))
    return path


def which_keys(place: Place, name: str, keys: list[str]) -> Task:
    """Makes the task of finding which of the keys are in the files."""
    path = write_keys("keys", keys)
    files = place.files
    return Task(
        name,
        keys,
        [
            Command(
                "lanebloom",
                lambda _: [(line,) for line in screen(place, path)],
                exact=False,
                prunes=True,
            ),
            Command("DuckDB IN", lambda database: query(database, is_in, "id", files, keys)),
            Command(
                "DuckDB semi join", lambda database: query(database, semi_join, "id", files, keys)
            ),
            Command("pyarrow isin", lambda _: scan(["id"], keys, place)),
        ],
    )


def which_rows(place: Place, name: str, keys: list[str]) -> Task:
    """Makes the task of finding the rows, with all columns, that have one of the keys."""
    path = write_keys("keys", keys)
    all_files = place.files
    prune = lambda *options: screen(place, path, "--prune", *options)
    return Task(
        name,
        keys,
        [
            Command(
                "prune, DuckDB IN",
                lambda database: query(database, is_in, "*", prune(), keys),
                prunes=True,
            ),
            Command(
                "prune, DuckDB semi join",
                lambda database: query(database, semi_join, "*", prune(), keys),
                prunes=True,
            ),
            Command(
                "prune, pyarrow isin",
                lambda _: scan_groups(COLUMNS, keys, prune("--row-groups")),
                prunes=True,
            ),
            Command("DuckDB IN", lambda database: query(database, is_in, "*", all_files, keys)),
            Command(
                "DuckDB semi join",
                lambda database: query(database, semi_join, "*", all_files, keys),
            ),
            Command("pyarrow isin", lambda _: scan(COLUMNS, keys, place)),
        ],
    )


def keys_in(place: Place, files: list[int], nkeys: int) -> list[str]:
    """Draws keys, the same number from each file."""
    draw = random.Random(18)
    file_nrows = NGROUPS * place.nrows
    keys = [
        key(file * file_nrows + row)
        for file in files
        for row in draw.sample(range(file_nrows), nkeys // len(files))
    ]
    draw.shuffle(keys)
    return keys


def absent(nkeys: int) -> list[str]:
    return [key(10**9 + i) for i in range(nkeys)]


TASKS: dict[str, Callable[[Place, str], Task]] = {
    "10 absent keys": lambda place, name: which_keys(place, name, absent(10)),
    "1,000 absent keys": lambda place, name: which_keys(place, name, absent(1000)),
    "10,000 absent keys": lambda place, name: which_keys(place, name, absent(10000)),
    "1,000 keys, half of them absent": lambda place, name: which_keys(
        place, name, keys_in(place, list(range(NFILES)), 500) + absent(500)
    ),
    "rows of 100 keys in 2 files": lambda place, name: which_rows(
        place, name, keys_in(place, [3, 14], 100)
    ),
    "rows of 100 keys in all files": lambda place, name: which_rows(
        place, name, keys_in(place, list(range(NFILES)), 100)
    ),
}


# ---- Measuring ----


def connect(task: Task, place: Place) -> duckdb.DuckDBPyConnection:
    """Makes a database with the keys in a table. It has read nothing of the files yet."""
    database = duckdb.connect(config={"threads": place.nthreads})
    database.register("given", pyarrow.table({"id": task.keys}))
    database.execute("create table keys as from given")
    return database


def forget(files: list[str]) -> None:
    """Drops the files from the page cache."""
    for path in files:
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


class Seconds(NamedTuple):
    wall: float
    cpu: float


NEVER = Seconds(float("inf"), float("inf"))


def least(one: Seconds, other: Seconds) -> Seconds:
    return Seconds(*map(min, one, other))


def cpu_seconds() -> float:
    usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def timed(command: Command, task: Task, place: Place, cold: bool) -> Seconds:
    """Times a command. Includes the start of lanebloom, but not that of Python or a connection."""
    with connect(task, place) as database:
        if cold:
            forget(place.files)
        cpu, begin = cpu_seconds(), time.monotonic()
        command.run(database)
        return Seconds(time.monotonic() - begin, cpu_seconds() - cpu)


def compare(task: Task, place: Place) -> None:
    """Ends the run if commands disagree, or if the filters lost a row."""
    answers = {}
    for command in task.commands:
        with connect(task, place) as database:
            answers[command.name] = sorted(command.run(database))
    exact = [command.name for command in task.commands if command.exact]
    expected = answers[exact[-1]]
    for name in exact:
        if answers[name] != expected:
            sys.exit(f"bench/parquet.py: {task.name}: {exact[-1]} and {name} do not agree")
    for name in answers.keys() - exact:
        if not set(expected) <= set(answers[name]):
            sys.exit(f"bench/parquet.py: {task.name}: {name} lost keys")
        print(f"  {name} lets {count(len(answers[name]), 'key')} pass")
    print(f"  {count(len(expected), 'row')} found", flush=True)


def describe_pruning(place: Place) -> None:
    nfiles, ngroups = (
        len(screen(place, os.path.abspath("keys"), "--prune", *options))
        for options in ([], ["--row-groups"])
    )
    print(f"  left to read: {count(nfiles, 'file')}, {count(ngroups, 'row group')}")


def measure(task: Task, place: Place, nrounds: int, cold: bool) -> None:
    seconds = {command.name: NEVER for command in task.commands}
    for _ in range(nrounds):
        for command in task.commands:
            seconds[command.name] = least(
                seconds[command.name], timed(command, task, place, cold)
            )
    first = seconds[task.commands[0].name]
    print(f"  {'page cache cold' if cold else 'page cache warm':24}    wall s   times     CPU s")
    for command in task.commands:
        wall, cpu = seconds[command.name]
        print(f"    {command.name:24} {wall:8.4f} {wall / first.wall:7.1f} {cpu:9.4f}")
    pruned, alone = (
        min(seconds[command.name].wall for command in task.commands if command.prunes == prunes)
        for prunes in (True, False)
    )
    print(f"    without lanebloom, the best takes {alone / pruned:.1f} times as long", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times the search for keys in Parquet files.")
    parser.add_argument("-r", "--rounds", type=int, default=5)
    parser.add_argument("-j", "--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--rows", type=int, default=122880, help="rows of a row group, a multiple of 2048"
    )
    parser.add_argument(
        "--rate", type=float, default=0.01, help="the rate to request; that of the filters is lower"
    )
    parser.add_argument("lanebloom", help="the command, built as Release")
    parser.add_argument("folder", help="the folder of the files, which are kept: 1.1 GB")
    parser.add_argument("task", nargs="*", help="parts of task names (default: all tasks)")
    options = parser.parse_args()
    if options.rows < 2048 or options.rows % 2048 != 0:
        parser.error("--rows: expected a multiple of 2048")
    lanebloom, folder = os.path.abspath(options.lanebloom), os.path.abspath(options.folder)
    files = write_files(folder, options.rows, options.rate)
    place = Place(lanebloom, folder, files, options.threads, options.rows)
    pyarrow.set_cpu_count(options.threads)
    describe(place)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name, make in TASKS.items():
            if not options.task or any(part in name for part in options.task):
                print(name)
                task = make(place, name)
                describe_pruning(place)
                compare(task, place)  # this also fills the page cache
                for cold in (False, True):
                    measure(task, place, options.rounds, cold)
        os.chdir("/")


if __name__ == "__main__":
    main()
