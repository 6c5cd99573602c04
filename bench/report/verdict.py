"""Writes the report's sentences: which CPU is how many times as fast as others.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
from collections import defaultdict
from statistics import geometric_mean as mean
from typing import Iterable

from cpu_names import identity
from results import MAIN_K, Panel, Point, Results, X, digits, panels_of, size_name, xs_of

EQUAL = 1.12
RULE = f"""“Equal” means less than {100 * (EQUAL - 1):.0f} % apart. Ratios are of medians or, for
several sizes, of their averages. Figures marked “?” moved too much within their run, so no ratio
includes them."""
ENGINES = {"leveldb": "LevelDB", "rocksdb-local": "RocksDB"}
TARGETS = {"100 kB": 100e3 / 1024, "100 MB": 100e6 / 1024}  # KiB
COMMAND = Panel("command", "rocksdb-local", 0, 0, "KiB:256")
Case = "tuple[str, Panel]"  # its words and its panel


def screening() -> list[Case]:
    return [
        (f"{engine}, {keys}", Panel("screen", subject, hits, MAIN_K, "with-hash"))
        for subject, engine in ENGINES.items()
        for keys, hits in (("absent", 0), ("present", 100))
    ]


def cases(files: list[Results]) -> list[Case]:
    """Lists the cases of screening that at least one file has rows of."""
    found = set(panels_of(files, "screen"))
    return [case for case in screening() if case[1] in found]


def sizes(files: list[Results]) -> list[int]:
    return [x for x in xs_of(files, [panel for _, panel in cases(files)]) if isinstance(x, int)]


def nearest(files: list[Results], kib: float) -> int | None:
    """Finds the measured size whose ratio to this size is nearest to 1."""
    return min(sizes(files), key=lambda x: max(x / kib, kib / x), default=None)


def cache_sizes(files: list[Results]) -> list[int]:
    """Lists the measured sizes that fit every CPU's L2, or else the smallest size."""
    every = sizes(files)
    return [x for x in every if x <= min(f.cache_kib(2) for f in files)] or every[:1]


def memory_sizes(files: list[Results]) -> list[int]:
    """Lists the measured sizes that fit no CPU's caches, or else the largest size."""
    every = sizes(files)
    largest = max(f.cache_kib(level) for f in files for level in (2, 3, 4))
    return [x for x in every if x > largest] or every[-1:]


# ---- comparing


def sure(f: Results, panel: Panel, x: X, peers: bool = False) -> Point | None:
    found = f.fastest(panel, x, peers)
    return found[1] if found and not found[1].unsure else None


Row = "tuple[Panel, X]"
Ranking = "list[tuple[Results, float]]"  # CPUs and their times, the fastest first


def shared(files: list[Results], rows: list[Row]) -> tuple[list[Results], list[Row]]:
    """Finds the CPUs to compare with a sure result for any row, and the rows that are sure on all
    of them."""
    there = [f for f in files if f.compared and any(sure(f, *row) for row in rows)]
    return there, [row for row in rows if all(sure(f, *row) for f in there)]


def ranking(files: list[Results], rows: list[Row]) -> Ranking:
    """Ranks CPUs by the mean of the rows that they share; empty if fewer than two have any."""
    there, common = shared(files, rows)
    if not there[1:] or not common:
        return []
    means = [(f, mean(sure(f, *row).value for row in common)) for f in there]
    return sorted(means, key=lambda pair: pair[1])


def leaders(ranked: Ranking) -> list[Results]:
    """Returns the fastest CPU and those that are equal to it."""
    return [f for f, value in ranked if value < EQUAL * ranked[0][1]]


# ---- words


def joined(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def span(ratios: list[float]) -> str:
    """Writes the least and the largest figure: 1.5, or 1.2 to 1.5."""
    return " to ".join(dict.fromkeys((figure(min(ratios)), figure(max(ratios)))))


def order(rankings: list[Ranking]) -> str:
    """Says which CPU is how many times as fast as which. The rankings have the same leaders."""
    first = leaders(rankings[0])
    ratios: dict[str, list[float]] = defaultdict(list)
    for ranked in rankings:
        for f, value in ranked:
            if f not in first:
                ratios[f.cpu].append(value / ranked[0][1])
    name, verb = joined(sorted(f.cpu for f in first)), "are" if first[1:] else "is"
    if not ratios:
        return f"{name} {verb} equal"
    slower = sorted(ratios.items(), key=lambda pair: mean(pair[1]))
    return f"{name} {verb} {joined(f'{span(r)} times as fast as {cpu}' for cpu, r in slower)}"


Outcome = "list[tuple[list[Results], list[tuple[Panel, Ranking]]]]"


def outcome(files: list[Results], xs: list[X]) -> Outcome:
    """Lists the sets of leaders, in the order of cases, and the cases in which each leads."""
    found: dict[tuple[str, ...], list[tuple[Panel, Ranking]]] = {}
    for _, panel in cases(files):
        if ranked := ranking(files, [(panel, x) for x in xs]):
            names = tuple(sorted(f.cpu for f in leaders(ranked)))
            found.setdefault(names, []).append((panel, ranked))
    return [([f for f in files if f.cpu in names], rows) for names, rows in found.items()]


def compare(files: list[Results], xs: list[X]) -> str:
    """Writes a sentence about each set of leaders."""
    every = [panel for _, panel in cases(files)]
    found = outcome(files, xs)
    if not found:
        return no_verdict(files, [(panel, x) for panel in every for x in xs])
    sentences = []
    for _, rows in found:
        panels = [panel for panel, _ in rows]
        words = order([ranked for _, ranked in rows])
        sentences.append(words + ("" if panels == every else f" for {named(panels, every)}"))
    return "; ".join(sentences) + "."


def named(panels: list[Panel], every: list[Panel]) -> str:
    """Names the engines of cases, and the keys if not all cases of the engine are among them."""
    names = []
    for subject, engine in ENGINES.items():
        mine = [panel for panel in panels if panel.subject == subject]
        if mine == [panel for panel in every if panel.subject == subject]:
            names += [engine] if mine else []
        else:
            names += [f"{engine} ({'present' if p.hits else 'absent'} keys)" for p in mine]
    return joined(names)


def no_verdict(files: list[Results], rows: list[Row]) -> str:
    """Says why there is no verdict."""
    if sum(f.compared for f in files) < 2:
        return "no verdict: no two CPUs were measured with the same code of the library."
    unsure = [f.cpu for f in files if any(f.fastest(*row) and not sure(f, *row) for row in rows)]
    if not unsure:
        return "no verdict: no two CPUs have the same rows."
    return f"no verdict: rows of {joined(unsure)} moved too much (“?”)."


def over_engine(f: Results, panel: Panel, xs: list[X]) -> list[float]:
    pairs = [(sure(f, panel, x), sure(f, panel, x, peers=True)) for x in xs]
    return [engine.value / kernel.value for kernel, engine in pairs if kernel and engine]


def against_engines(f: Results, xs: list[X]) -> str:
    found = []
    for subject, engine in ENGINES.items():
        panels = [panel for _, panel in screening() if panel.subject == subject]
        if ratios := [ratio for panel in panels for ratio in over_engine(f, panel, xs)]:
            found.append(f"{span(ratios)} times as fast as {engine}")
    return joined(found) if found else "not compared: it has too few sure rows"


def command(files: list[Results]) -> str:
    """Compares CPUs by the command, with one job and with one for each CPU."""
    there = [f for f in files if f.compared and COMMAND in f.rows]
    sentences = []
    for words, choose in (("one job", min), ("a job per CPU", max)):
        points = [(f, sure(f, COMMAND, choose(xs_of([f], [COMMAND])))) for f in there]
        pairs = sorted(((f, p.value) for f, p in points if p), key=lambda pair: pair[1])
        sentences += [f"with {words} {order([pairs])}"] if pairs[1:] else []
    if not sentences:
        return no_verdict(there, [(COMMAND, x) for x in xs_of(there, [COMMAND])])
    return "; ".join(sentences) + "."


def verdict(files: list[Results]) -> list[tuple[str, str]]:
    """Returns the verdict's lines: a subject and a sentence each."""
    lines = []
    places = {"In cache": cache_sizes(files), "Beyond cache": memory_sizes(files)}
    places = {title: xs for title, xs in places.items() if xs}
    for title, xs in places.items():
        where = f"{title} (filters of {joined(map(size_name, xs))})"
        if len(files) > 1:
            lines.append((where, compare(files, xs)))
        else:
            lines.append((where, f"lanebloom is {against_engines(files[0], xs)}."))
    if sum(f.compared and COMMAND in f.rows for f in files) > 1:
        lines.append(("The command (RocksDB, a filter of 256 KiB)", command(files)))
    return lines


def held(f: Results, kib: float) -> int | None:
    """Finds the first level of cache that is large enough."""
    return next((n for n in (1, 2, 3, 4) if f.cache_kib(n) >= kib), None)


def place(files: list[Results], kib: float) -> str:
    """Names the caches that hold filters of a size: the L2 of A (2 MiB) and B (512 KiB)."""
    by_level: dict[int | None, list[str]] = {}
    for f in files:
        level = held(f, kib)
        largest = max(map(f.cache_kib, (1, 2, 3, 4)))
        size = size_name(f.cache_kib(level)) if level else f"up to {size_name(largest)}"
        if largest:
            by_level.setdefault(level, []).append(f"{f.cpu} ({size})")
    parts = [f"the L{level} of {joined(cpus)}" for level, cpus in by_level.items() if level]
    if None not in by_level:
        return joined(parts) if parts else ""
    without = f"no cache of {joined(by_level[None])}"
    return f"{joined(parts)}, but {without}" if parts else without


def facts(f: Results) -> str:
    """Describes a file: the CPU, the compiler, the engines, the commit and the date."""
    caches = [f"L{n} {size_name(f.cache_kib(n))}" for n in (1, 2, 3, 4) if f.cache_kib(n)]

    def said(key: str, before: str = "", after: str = "") -> str:
        return f"{before}{f.context[key]}{after}" if f.context.get(key) else ""

    parts = [identity(f.context), said("num_cpus", "", " CPUs"), *caches, said("compiler")]
    parts += [said("leveldb_version", "LevelDB "), said("rocksdb_version", "RocksDB ")]
    parts += [said("commit", "commit "), str(f.context.get("date", ""))[:10]]
    return ", ".join(part for part in parts if part)


def caveats(files: list[Results]) -> list[str]:
    """Lists the facts that limit the verdict."""
    out = [RULE]
    largest = max(memory_sizes(files), default=0)
    for f in files:
        if not f.compared:
            commit = f.context.get("commit") or "unknown"
            out.append(
                f"{f.cpu} is not compared, because it was measured with other code of the library "
                f"(commit {commit})."
            )
        if "unsure" not in f.context:
            out.append(f"The file of {f.cpu} does not say which rows moved too much.")
        level = next((n for n in (2, 3, 4) if f.cache_kib(n) >= largest > 0), None)
        if level:
            out.append(
                f"{f.cpu} reports an L{level} of {size_name(f.cache_kib(level))}, so a filter of "
                f"{size_name(largest)} may be in it, unless other users of the machine fill it."
            )
        out += [f"{f.cpu}: {f.context['noise']}"] if f.context.get("noise") else []
    return out


def answer(files: list[Results], x: int) -> tuple[str, str]:
    """Names the winner for filters of one size, and its lead."""
    if len(files) == 1:
        points = [found for _, panel in cases(files) if (found := sure(files[0], panel, x))]
        most = rate(min(points, key=lambda point: point.value)) if points else "?"
        return f"Up to {most} million keys a second", against_engines(files[0], [x])
    words = compare(files, [x])
    found = outcome(files, [x])
    if not found:
        return "No verdict", words.removeprefix("no verdict: ")
    always = [f for f in found[0][0] if all(f in first for first, _ in found)]
    if not always:
        return "It depends", words
    rankings = [ranked for _, rows in found for _, ranked in rows]
    if all(len(leaders(ranked)) == len(ranked) for ranked in rankings):
        return "Equal", words
    winner = joined(f.cpu for f in always)
    if any(len(first) > len(always) for first, _ in found):
        return f"{winner} or equal", words
    return winner, words.replace(f"{winner} is ", "")


def ahead(files: list[Results], panel: Panel, x: int) -> str:
    """Makes a case's last cell: the lead over the next CPU or, for one CPU, over the engine."""
    if len(files) == 1:
        ratio = over_engine(files[0], panel, [x])
        return f"{figure(ratio[0])} ×" if ratio else "–"
    if not (ranked := ranking(files, [(panel, x)])):
        return "–"
    if leaders(ranked)[1:]:
        return "equal"
    return f"{figure(ranked[1][1] / ranked[0][1])} ×"


def figure(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def rate(point: Point | None) -> str:
    """Writes million keys per second."""
    if not point:
        return "–"
    value = 1e3 / point.value
    return (f"{value:,.0f}" if value >= 9.95 else digits(value)) + (" ?" if point.unsure else "")
