"""Who is how many times as fast: the words of the report. SPDX-License-Identifier: MIT"""

from __future__ import annotations
import statistics
from typing import Iterable

from results import MAIN_K, Panel, Point, Results, X, digits, panels_of, size_name, xs_of

EQUAL = 1.05  # medians closer than this are equal
RULE = """“Equal” is what differs by less than 5 % or has overlapping error bars. Points marked “?”
moved too much to count."""
ENGINES = {"leveldb": "LevelDB", "rocksdb-local": "RocksDB"}
TARGETS = {"100 kB": 100e3 / 1024, "100 MB": 100e6 / 1024}  # KiB
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


def over_sizes(points: Iterable[Point]) -> Point:
    """Geometric means, of the medians as of the ends of the error bars."""
    return Point(*map(statistics.geometric_mean, zip(*(point[:3] for point in points))))


def equal(fast: Point, slow: Point) -> bool:
    return slow.value < EQUAL * fast.value or slow.best <= fast.slow


def ranking(files: list[Results], panel: Panel, xs: list[X]) -> list[tuple[Results, Point]]:
    """The CPUs that have sure rows, over the sizes that all of them have, fastest first."""
    there = [f for f in files if any(sure(f, panel, x) for x in xs)]
    shared = [x for x in xs if all(sure(f, panel, x) for f in there)]
    pairs = [(f, over_sizes(sure(f, panel, x) for x in shared)) for f in there if shared]
    return sorted(pairs, key=lambda pair: pair[1].value)


def groups(ranked: list[tuple[Results, Point]]) -> list[list[tuple[Results, Point]]]:
    """Those that are equal to the first of their group stand together."""
    out: list[list[tuple[Results, Point]]] = []
    for pair in ranked:
        if out and equal(out[-1][0][1], pair[1]):
            out[-1].append(pair)
        else:
            out.append([pair])
    return out


# ---- words


def joined(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def times(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def span(values: list[float], write=times) -> str:
    low, high = write(min(values)), write(max(values))
    return low if low == high else f"{low} to {high}"


def order(ranked: list[list[list[tuple[Results, Point]]]]) -> str:
    """One sentence about cases whose groups have the same CPUs."""
    names = [joined(sorted(f.cpu for f, _ in group)) for group in ranked[0]]
    leaders = [[group[0][1].value for group in case] for case in ranked]
    ratios = [[own / case[0] for case, own in zip(leaders, same)] for same in zip(*leaders)]
    if len(names) == 1:
        return f"{names[0]} are equal"
    verb = "are" if len(ranked[0][0]) > 1 else "is"
    if len(names) == 2:
        return f"{names[0]} {verb} {span(ratios[1])} times as fast as {names[1]}"
    slower = (
        f"{name} ({span([100 / ratio for ratio in by_case], '{:.0f}'.format)} % of that speed)"
        for name, by_case in zip(names[1:], ratios[1:])
    )
    return f"{names[0]} {verb} the fastest, then {', then '.join(slower)}"


def compare(files: list[Results], wanted: list[Case], xs: list[X]) -> str:
    """Sentences about CPUs, cases of the same order together."""
    by_order: dict[tuple, list] = {}
    for words, panel in wanted:
        grouped = groups(ranking(files, panel, xs))
        if sum(map(len, grouped)) > 1:
            names = tuple(tuple(sorted(f.cpu for f, _ in group)) for group in grouped)
            by_order.setdefault(names, []).append((words, grouped))
    if not by_order:
        return "too few sure rows of several CPUs for a verdict."
    sentences = []
    for found in by_order.values():
        where = "" if len(by_order) == 1 else f"for {subjects([words for words, _ in found])} "
        sentences.append(where + order([grouped for _, grouped in found]))
    return "; ".join(sentences) + "."


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
            found.append(f"{span(ratios)} times {'' if found else 'as fast as '}{engine}")
    return ", ".join(found) or "not measured beside an engine"


def kernels(f: Results, xs: list[X]) -> str:
    found = [f.fastest(panel, x) for _, panel in cases([f]) for x in xs]
    names = [pair[0] for pair in found if pair]
    return joined(sorted(set(names), key=lambda name: (-names.count(name), name)))


def verdict(files: list[Results]) -> list[tuple[str, str]]:
    """Lines of the verdict: what they are about, and a sentence."""
    lines = []
    for title, xs in (
        ("In cache", cache_sizes(files)),
        ("Beyond cache", memory_sizes(files)),
    ):
        where = f"{title} (filters of {joined(map(size_name, xs))})" if xs else title
        if len(files) > 1 and xs:
            lines.append((where, compare(files, cases(files), xs)))
        elif xs:
            words = against_engines(files[0], xs)
            lines.append((where, f"the best kernel ({kernels(files[0], xs)}) is {words}."))
    if len(files) > 1:
        both = sorted({*cache_sizes(files), *memory_sizes(files)})
        words = (f"on {f.cpu} lanebloom is {against_engines(f, both)}" for f in files)
        lines.append(("Against the engines", "; ".join(words) + "."))
    return lines


def caveats(files: list[Results]) -> list[str]:
    """What a reader of the verdict must know."""
    out = [RULE] if len(files) > 1 or any(f.context.get("unsure") for f in files) else []
    largest = max(memory_sizes(files), default=0)
    for f in files:
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
    ranked = [groups(found) for _, panel in cases(files) if (found := ranking(files, panel, [x]))]
    ranked = [grouped for grouped in ranked if sum(map(len, grouped)) > 1]
    if len(files) == 1:
        points = [found for _, panel in cases(files) if (found := sure(files[0], panel, x))]
        most = rate(min(points, default=None))
        words = f"{against_engines(files[0], [x])}; by {kernels(files[0], [x])}"
        return f"Up to {most} million keys a second", words
    if not ranked:
        return "No verdict", "too few sure rows"
    winners = {grouped[0][0][0].cpu for grouped in ranked if len(grouped[0]) == 1}
    ratios = [grouped[1][0][1].value / grouped[0][0][1].value for grouped in ranked if grouped[1:]]
    if not winners:
        return "Equal", "the fastest are equal for all of these"
    if len(winners) > 1:
        return "It depends", f"on format and keys: up to {times(max(ratios))} times between them"
    behind = {grouped[1][0][0].cpu for grouped in ranked if grouped[1:]}
    than = behind.pop() if len(behind) == 1 else "the next"
    if any(len(grouped[0]) > 1 for grouped in ranked):
        return winners.pop() + " or equal", f"up to {times(max(ratios))} times as fast as {than}"
    return winners.pop(), f"{span(ratios)} times as fast as {than}"


def ahead(files: list[Results], panel: Panel, x: int) -> str:
    """The last cell of a case: over the engine if there is one CPU, else over the next CPU."""
    if len(files) == 1:
        ratio = over_engine(files[0], panel, [x])
        return f"{times(ratio[0])} ×" if ratio else "–"
    grouped = groups(ranking(files, panel, [x]))
    if sum(map(len, grouped)) < 2:
        return "–"
    if len(grouped[0]) > 1:
        return "equal"
    return f"{times(grouped[1][0][1].value / grouped[0][0][1].value)} ×"


def rate(point: Point | None) -> str:
    """Million keys per second."""
    if not point:
        return "–"
    value = 1e3 / point.value
    return (f"{value:,.0f}" if value >= 9.95 else digits(value)) + (" ?" if point.unsure else "")
