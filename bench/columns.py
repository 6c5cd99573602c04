#!/usr/bin/env python3
"""The Python package against other filters for Python, in one run: nanoseconds per key, best of
five. Needs lanebloom, numpy, pyarrow, rbloom and pybloomfiltermmap3.

SPDX-License-Identifier: MIT"""

import threading
import time

import numpy as np
import pyarrow as pa
import pybloomfilter
import rbloom

from lanebloom import Filter

NKEYS, NMANY = 1_000_000, 10_000_000  # of the filter; absent ones that are asked in bulk


def best(functions, repetitions=5):
    """The least seconds of each, which take turns."""
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


def halves(filter_, keys):
    middle = len(keys) // 2
    parts = keys[:middle], keys[middle:]
    threads = [threading.Thread(target=filter_.screen, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def peers(keys):
    """The other filters, with these keys and a rate of 1 %."""
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
    rows = [
        ("numpy int64: screen", NMANY, lambda: of_numbers.screen(absent)),
        ("numpy int64: screen, two threads", NMANY, lambda: halves(of_numbers, absent)),
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
    for (name, n, _), seconds in zip(rows, best([function for _, _, function in rows])):
        print(f"{name:36} {seconds / n * 1e9:6.1f}")


if __name__ == "__main__":
    main()
