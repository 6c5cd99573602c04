"""Who is how many times as fast: the words of the report. SPDX-License-Identifier: MIT"""

from __future__ import annotations
import math
import statistics
from typing import Iterable

from results import MAIN_K, Panel, Point, Results, X, digits, panels_of, size_name, xs_of

STEPS = (1, 1.25, 1.6, 2, 2.5, 3, 4, 5, 6, 8)  # of a decade; each is about a quarter more
RULE = """“About” and “equal” are averages of medians, rounded to steps: 1 (“equal”, less than
12 % apart), 1.25, 1.6, 2, 2.5, 3, 4, 5, 6, 8, 10. Medians of two runs differ by up to 5 %, so
another run may say the next step, and no other. Figures marked “?” moved too much within their run;
words leave them out."""
ENGINES = {"leveldb": "LevelDB", "rocksdb-local": "RocksDB"}
TARGETS = {"100 kB": 100e3 / 1024, "100 MB": 100e6 / 1024}  # KiB
COMMAND = Panel("command", "rocksdb-local", 0, 0, "KiB:256")
Case = "tuple[str, Panel]"  # its words, and its rows


def screening() -> list[Case]:
    return [
        (f"{engine}, {keys}", Panel("screen", subject, hits, MAIN_K, "with-hash"))
        for subject, engine in ENGINES.items()
        for keys, hits in (("absent", 0), ("present", 100))
    ]


def cases(files: list[Results]) -> list[Case]:
    """What of screening any file has rows of."""
    found = set(panels_of(files, "screen"))
    return [case for case in screening() if case[1] in found]


def sizes(files: list[Results]) -> list[int]:
    return [x for x in xs_of(files, [panel for _, panel in cases(files)]) if isinstance(x, int)]


def nearest(files: list[Results], kib: float) -> int | None:
    """The measured size that is the fewest times larger or smaller."""
    return min(sizes(files), key=lambda x: max(x / kib, kib / x), default=None)


def cache_sizes(files: list[Results]) -> list[int]:
    """Measured sizes that the L2 of every CPU holds; without any, the smallest one."""
    every = sizes(files)
    return [x for x in every if x <= min(f.cache_kib(2) for f in files)] or every[:1]


def memory_sizes(files: list[Results]) -> list[int]:
    """Measured sizes that no CPU's caches hold; without any, the largest one."""
    every = sizes(files)
    largest = max(f.cache_kib(level) for f in files for level in (2, 3, 4))
    return [x for x in every if x > largest] or every[-1:]


# ---- comparing


def sure(f: Results, panel: Panel, x: X, peers: bool = False) -> Point | None:
    found = f.fastest(panel, x, peers)
    return found[1] if found and not found[1].unsure else None


def step(ratio: float) -> int:
    """The nearest step; 0 is equal."""
    return round(len(STEPS) * math.log10(ratio))


Ranking = "list[tuple[Results, float]]"  # CPUs and their times, the fastest first


def ranking(files: list[Results], panel: Panel, xs: list[X]) -> Ranking:
    """The CPUs that have sure rows, by the mean over the sizes that all of them have."""
    there = [f for f in files if any(sure(f, panel, x) for x in xs)]
    shared = [x for x in xs if all(sure(f, panel, x) for f in there)]
    means = [(f, mean(sure(f, panel, x).value for x in shared)) for f in there if shared]
    return sorted(means, key=lambda pair: pair[1])


def mean(values: Iterable[float]) -> float:
    return statistics.geometric_mean(values)


def groups(ranked: Ranking) -> list[Ranking]:
    """Those that are equal to the first of their group stand together."""
    out: list[Ranking] = []
    for pair in ranked:
        if out and step(pair[1] / out[-1][0][1]) == 0:
            out[-1].append(pair)
        else:
            out.append([pair])
    return out


# ---- words


def joined(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def times(value: float) -> str:
    decade, of_decade = divmod(step(value), len(STEPS))
    rounded = STEPS[of_decade] * 10**decade
    return f"{rounded:.3g}" if rounded < 10 else f"{rounded:.0f}"


def order(ranked: list[list[Ranking]]) -> str:
    """One sentence about cases whose groups have the same CPUs."""
    names = [joined(sorted(f.cpu for f, _ in group)) for group in ranked[0]]
    if len(names) == 1:
        return f"{names[0]} are equal"
    leaders = [[group[0][1] for group in case] for case in ranked]
    ratios = [[own / case[0] for case, own in zip(leaders, same)] for same in zip(*leaders)]
    verb = "are" if len(ranked[0][0]) > 1 else "is"
    slower = (
        f"{times(mean(by_case))} times as fast as {name}"
        for name, by_case in zip(names[1:], ratios[1:])
    )
    return f"{names[0]} {verb} about {joined(slower)}"


def compare(files: list[Results], wanted: list[Case], xs: list[X]) -> str:
    """Sentences about CPUs, cases of the same order together."""
    by_order: dict[tuple, list] = {}
    for words, panel in wanted:
        grouped = groups(ranking(files, panel, xs))
        if sum(map(len, grouped)) > 1:
            names = tuple(tuple(sorted(f.cpu for f, _ in group)) for group in grouped)
            by_order.setdefault(names, []).append((words, grouped))
    if not by_order:
        return no_verdict(files, [panel for _, panel in wanted], xs)
    sentences = []
    for found in by_order.values():
        where = "" if len(found) == len(wanted) else f" for {subjects([w for w, _ in found])}"
        sentences.append(order([grouped for _, grouped in found]) + where)
    return "; ".join(sentences) + "."


def no_verdict(files: list[Results], panels: list[Panel], xs: list[X]) -> str:
    """Why there is none."""
    rows = [(f, panel, x) for f in files for panel in panels for x in xs if f.fastest(panel, x)]
    unsure = dict.fromkeys(f.cpu for f, panel, x in rows if not sure(f, panel, x))
    if not unsure:
        return "no verdict: only one CPU has rows."
    return f"no verdict: rows of {joined(unsure)} moved too much (“?”)."


def subjects(words: list[str]) -> str:
    """LevelDB, absent; LevelDB, present; RocksDB, absent: LevelDB and RocksDB (absent keys)."""
    by_engine: dict[str, list[str]] = {}
    for engine, keys in (case.split(", ") for case in words):
        by_engine.setdefault(engine, []).append(keys)
    return joined(
        engine if len(keys) > 1 else f"{engine} ({keys[0]} keys)"
        for engine, keys in by_engine.items()
    )


def over_engine(f: Results, panel: Panel, xs: list[X]) -> list[float]:
    pairs = [(sure(f, panel, x), sure(f, panel, x, peers=True)) for x in xs]
    return [engine.value / kernel.value for kernel, engine in pairs if kernel and engine]


def against_engines(f: Results, xs: list[X]) -> str:
    found = []
    for subject, engine in ENGINES.items():
        panels = [panel for _, panel in screening() if panel.subject == subject]
        if ratios := [ratio for panel in panels for ratio in over_engine(f, panel, xs)]:
            found.append(f"{times(mean(ratios))} times as fast as {engine}")
    return f"about {joined(found)}" if found else "not compared: it has too few sure rows"


def command(files: list[Results]) -> str:
    """The same of the command, with one job and with one for each CPU."""
    there = [f for f in files if COMMAND in f.rows]
    sentences = []
    for words, choose in (("one job", min), ("a job per CPU", max)):
        points = [(f, sure(f, COMMAND, choose(xs_of([f], [COMMAND])))) for f in there]
        pairs = [(f, point.value) for f, point in points if point]
        if pairs[1:]:
            grouped = groups(sorted(pairs, key=lambda pair: pair[1]))
            sentences.append(f"with {words} {order([grouped])}")
    if not sentences:
        return no_verdict(there, [COMMAND], xs_of(there, [COMMAND]))
    return "; ".join(sentences) + "."


def verdict(files: list[Results]) -> list[tuple[str, str]]:
    """Lines of the verdict: what they are about, and a sentence."""
    lines = []
    places = {"In cache": cache_sizes(files), "Beyond cache": memory_sizes(files)}
    places = {title: xs for title, xs in places.items() if xs}
    for title, xs in places.items():
        where = f"{title} (filters of {joined(map(size_name, xs))})"
        if len(files) > 1:
            lines.append((where, compare(files, cases(files), xs)))
        else:
            lines.append((where, f"lanebloom is {against_engines(files[0], xs)}."))
    if sum(COMMAND in f.rows for f in files) > 1:
        lines.append(("The command (RocksDB, a filter of 256 KiB)", command(files)))
    return lines


def held(f: Results, kib: float) -> int | None:
    """The first level of cache that is as large."""
    return next((n for n in (1, 2, 3, 4) if f.cache_kib(n) >= kib), None)


def place(files: list[Results], kib: float) -> str:
    """Where the filters of a size are: fit the L2 of A (2 MiB) and B (512 KiB)."""
    by_level: dict[int | None, list[str]] = {}
    for f in files:
        level = held(f, kib)
        largest = max(map(f.cache_kib, (1, 2, 3, 4)))
        size = size_name(f.cache_kib(level)) if level else f"up to {size_name(largest)}"
        if largest:
            by_level.setdefault(level, []).append(f"{f.cpu} ({size})")
    parts = [
        f"the L{level} of {joined(cpus)}" if level else f"no cache of {joined(cpus)}"
        for level, cpus in by_level.items()
    ]
    return joined(parts) if parts else ""


def caveats(files: list[Results]) -> list[str]:
    """What a reader of the verdict must know."""
    out = [RULE]
    largest = max(memory_sizes(files), default=0)
    for f in files:
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
    """The winner for filters of one size, and by how much."""
    if len(files) == 1:
        points = [found for _, panel in cases(files) if (found := sure(files[0], panel, x))]
        most = times(1e3 / min(points).value) if points else "?"
        return f"Up to about {most} million keys a second", against_engines(files[0], [x])
    words = compare(files, cases(files), [x])
    ranked = [groups(found) for _, panel in cases(files) if (found := ranking(files, panel, [x]))]
    ranked = [grouped for grouped in ranked if sum(map(len, grouped)) > 1]
    if not ranked:
        return "No verdict", words.removeprefix("no verdict: ")
    winners = {grouped[0][0][0].cpu for grouped in ranked if len(grouped[0]) == 1}
    if not winners:
        return "Equal", words
    if len(winners) > 1:
        return "It depends", words
    winner = winners.pop()
    if any(len(grouped[0]) > 1 for grouped in ranked):
        return f"{winner} or equal", words
    return winner, words.removeprefix(f"{winner} is ")


def ahead(files: list[Results], panel: Panel, x: int) -> str:
    """The last cell of a case: over the engine if there is one CPU, else over the next CPU."""
    if len(files) == 1:
        ratio = over_engine(files[0], panel, [x])
        return f"{figure(ratio[0])} ×" if ratio else "–"
    grouped = groups(ranking(files, panel, [x]))
    if sum(map(len, grouped)) < 2:
        return "–"
    if len(grouped[0]) > 1:
        return "equal"
    return f"{figure(grouped[1][0][1] / grouped[0][0][1])} ×"


def figure(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def rate(point: Point | None) -> str:
    """Million keys per second."""
    if not point:
        return "–"
    value = 1e3 / point.value
    return (f"{value:,.0f}" if value >= 9.95 else digits(value)) + (" ?" if point.unsure else "")
