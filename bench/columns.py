#!/usr/bin/env python3
"""Times the Python package against other filters for Python. Prints nanoseconds per key, the best
of five rounds. Needs lanebloom, numpy, pyarrow, rbloom and pybloomfiltermmap3.

    bench/columns.py [liblanebloom.so]

If the library of the same version is given, also times the calls in C.

SPDX-License-Identifier: MIT"""

import ctypes
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pybloomfilter
import rbloom

from lanebloom import Filter

NKEYS, NMANY = 1_000_000, 10_000_000  # keys of the filter; absent keys that are screened in bulk


def best(functions, repetitions=5):
    """Returns the least seconds of each function. The functions take turns."""
    least = [float("inf")] * len(functions)
    for _ in range(repetitions):
        for i, function in enumerate(functions):
            begin = time.perf_counter()
            function()
            least[i] = min(least[i], time.perf_counter() - begin)
    return least


def loop(filter_, keys):
    n = 0
    for key in keys:
        n += key in filter_
    return n


def halves(pool, filter_, keys):
    middle = len(keys) // 2
    list(pool.map(filter_.screen, [keys[:middle], keys[middle:]]))


def c_call(library, filter_, array):
    """Makes a function that screens an array by one call of C. All calls write to one mask."""
    c = ctypes.CDLL(library)
    opened, count, problem = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.create_string_buffer(256)
    with tempfile.NamedTemporaryFile() as file:
        filter_.save(file.name)
        status = c.lanebloom_filter_load(
            file.name.encode(), ctypes.byref(opened), problem, ctypes.c_size_t(256)
        )
    assert status == 0, problem.value
    schema, structure = ctypes.create_string_buffer(72), ctypes.create_string_buffer(80)
    array._export_to_c(ctypes.addressof(structure), ctypes.addressof(schema))
    mask = np.zeros(len(array), np.uint8)

    def call():
        status = c.lanebloom_filter_mask_arrow(
            opened, schema, structure, mask.ctypes.data_as(ctypes.c_void_p), ctypes.byref(count),
            problem, ctypes.c_size_t(256),
        )  # fmt: skip
        assert status == 0, problem.value

    call()
    assert (mask == filter_.screen(array)).all()
    return call


def peers(keys):
    """Returns the other filters, with these keys and a false positive rate of 1 %."""
    filters = rbloom.Bloom(NKEYS, 0.01), pybloomfilter.BloomFilter(NKEYS, 0.01)
    for filter_ in filters:
        filter_.update(keys)
    return filters


def main():
    rng = np.random.default_rng(1)
    inside, absent = rng.integers(0, 2**62, NKEYS), rng.integers(2**62, 2**63 - 1, NMANY)
    numbers = absent[:NKEYS].tolist()
    texts, inside_texts = [[f"{i:016x}" for i in a] for a in (absent[:NKEYS], inside)]
    arrow = pa.array(texts)
    of_numbers, of_texts = Filter.build(inside), Filter.build(inside_texts)
    r_numbers, p_numbers = peers(inside.tolist())
    r_texts, p_texts = peers(inside_texts)
    pool = ThreadPoolExecutor(2)
    rows = [
        ("numpy int64: screen", NMANY, lambda: of_numbers.screen(absent)),
        ("numpy int64: screen, two threads", NMANY, lambda: halves(pool, of_numbers, absent)),
        ("numpy int64: bitmap", NMANY, lambda: of_numbers.bitmap(absent)),
        ("pyarrow strings: screen", NKEYS, lambda: of_texts.screen(arrow)),
        ("list of int: screen", NKEYS, lambda: of_numbers.screen(numbers)),
        ("list of str: screen", NKEYS, lambda: of_texts.screen(texts)),
        ("str: in", NKEYS, lambda: loop(of_texts, texts)),
        ("str: in, rbloom", NKEYS, lambda: loop(r_texts, texts)),
        ("str: in, pybloomfiltermmap3", NKEYS, lambda: loop(p_texts, texts)),
        ("int: in", NKEYS, lambda: loop(of_numbers, numbers)),
        ("int: in, rbloom", NKEYS, lambda: loop(r_numbers, numbers)),
        ("int: in, pybloomfiltermmap3", NKEYS, lambda: loop(p_numbers, numbers)),
    ]
    for library in sys.argv[1:]:
        rows += [
            ("numpy int64, in C", NMANY, c_call(library, of_numbers, pa.array(absent))),
            ("pyarrow strings, in C", NKEYS, c_call(library, of_texts, arrow)),
        ]
    for (name, n, _), seconds in zip(rows, best([function for _, _, function in rows])):
        print(f"{name:36} {seconds / n * 1e9:6.1f}")


if __name__ == "__main__":
    main()
