#!/usr/bin/env python3
"""Writes ten million keys into ten row groups, by pyarrow and by DuckDB, and screens all of them:
many.py LANEBLOOM FOLDER. Every key must be found in its row group. The other row groups have the
same bounds, so a key may pass there as often as the filters' rate allows. Needs pyarrow and duckdb.

SPDX-License-Identifier: MIT"""

import pathlib
import subprocess
import sys

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

NGROUPS, N = 10, 1_000_000


def key(i):
    """Makes distinct 64-bit numbers that look random: an odd factor permutes them."""
    return (i * 0x9E3779B97F4A7C15) & (1 << 64) - 1


def write_pyarrow(path):
    ids = pa.array((key(i) for i in range(NGROUPS * N)), pa.uint64())
    options = {"id": {"ndv": N, "fpp": 0.01}}
    pq.write_table(pa.table({"id": ids}), path, row_group_size=N, bloom_filter_options=options)


def write_duckdb(path, source):
    duckdb.sql("set threads = 1")
    duckdb.sql(f"""copy (from '{source}') to '{path}' (row_group_size {N // 2},
        dictionary_size_limit {N})""")


def screen(command, path, numbers):
    keys = b"".join(key(i).to_bytes(8, "little") for i in numbers)
    asked = "--column id --decode none --width 8 --which -c".split()
    run = subprocess.run(
        [command, "screen", "--parquet", path, *asked], input=keys, capture_output=True, check=True
    )
    assert not run.stderr, run.stderr
    return [int(line.split(b"\t")[2]) for line in run.stdout.splitlines()]


def check(command, path):
    file = pq.ParquetFile(path)
    first, found, others, asked = 0, 0, 0, 0
    for group in range(file.num_row_groups):
        n = file.metadata.row_group(group).num_rows
        assert file.metadata.row_group(group).column(0).bloom_filter_offset, (path, group)
        counts = screen(command, path, range(first, first + n))
        assert counts[group] == n, (path, group, counts)
        found += n
        others += sum(counts) - n
        asked += n * (file.num_row_groups - 1)
        first += n
    assert found == NGROUPS * N
    rate = others / asked
    described = subprocess.run(
        [command, "tables", "--json", path], capture_output=True, check=True, text=True
    ).stdout
    model = float(described.split('"model_rate":')[1].split(",")[0])
    assert 0.9 * model < rate < 1.1 * model, (path, rate, model)
    print(f"{path.name}: {found} keys found, {rate:.4%} of {asked} pass, by the model {model:.4%}")


def main():
    command, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    write_pyarrow(folder / "pyarrow.parquet")
    write_duckdb(folder / "duckdb.parquet", folder / "pyarrow.parquet")
    for name in "pyarrow.parquet", "duckdb.parquet":
        check(command, folder / name)


main()
