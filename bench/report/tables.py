"""Makes the folded part of the report, with every number of every kernel and peer.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import json
import statistics
from html import escape
from typing import Callable

from results import (
    FORMATS,
    MAIN_K,
    SIZES,
    WIDTHS,
    Panel,
    Results,
    X,
    digits,
    floor_of,
    in_order,
    is_peer,
    over,
    panels_of,
    series_of,
    size_name,
    x_name,
    xs_in_order,
    xs_of,
)

# Pairs of ns per absent key and per present key, from trials before this project began. Each column
# is for a filter size; the last one is 1 GiB.
CITED_SIZES = SIZES + [1 << 20]
CITED_LEVELDB = [(20, 17), (22, 17), (22, 18), (34, 28), (86, 88), (96, 91)]
CITED = {
    "Columbia vectorised Bloom (AVX2, other hash, same shape)": [
        (2.7, 7.8), (3.2, 9.4), (3.9, 12), (9.4, 29), (29, 92), None
    ],
    "Boost classic, bulk (scalar, pipelined)": [
        (5.6, 12), (5.0, 11), (5.6, 12), (9.4, 23), (28, 57), (35, 81)
    ],
    "RocksDB FastLocalBloom compiled for AVX2, 32-key batches": [
        (6.2, 6.1), (6.9, 6.2), (7.0, 7.1), (7.7, 7.8), (19, 19), (21, 21)
    ],
    "one-line blocked filters of research code (AVX-512, cheap hash)": [
        (1.7, 1.6), (1.8, 1.7), (2.2, 2.2), (4.5, 4.5), (13, 13), (16, 16)
    ],
    "best split-block bulk code (AVX2, four blocks in flight)": [
        (1.2, 1.2), (1.3, 1.3), (1.5, 1.5), (2.9, 3.0), (10, 10), (12, 12)
    ],
}
CITED_NOTE = """<p class="note">Cited, not measured here: one Sapphire Rapids class Xeon in a
virtual machine, one thread, 10 bits per key, 8-byte keys, about 10 % noise (the project's trials
of 2026, from before it began). Each ratio is to LevelDB on the same machine. These filters write
other bits than LevelDB's; a cheaper hash or filter is part of the ratio.</p>"""
HOW = """<p>What one thread, if nothing else is said, needs to hash keys, to build Bloom filters
in the formats of LevelDB and RocksDB, and to screen keys against them in batches: each kernel of
lanebloom and each peer, in one run with what the memory allows. Time is CPU time; that of several
threads, real time. A number is the median of its repetitions; a dash was not measured. Libbloom's
filter is its own, and stands beside LevelDB's format because it has the same shape. Nanoseconds
per key: lower is better. “Times as fast”: higher is better. “Multiple of the floor”: how far from
what the memory allows, which is 1.</p>
<p>The floor is the random accesses that a key cannot do without, each as fast as the best
repetition of the same run fetched a line or gathered an element of a table of that size, whichever
was faster; for building, a line. RocksDB's formats need one access per key. LevelDB's need k for a
key that is there, and for one that is not (1 − 0.45<sup>k</sup>) / 0.55, 1.8 at k = 6, because
45 % of the bits are set at 10 bits per key. Hashing and arithmetic are not in it.</p>"""
BELOW = " *"
BELOW_NOTE = """* Below 1, the kernel is faster than the loop that measured the floor. That loop is
one way to fetch random lines and not the fastest possible one; and a batch gets more than one
probe from a line where keys share it, which the floor counts as an access each."""
Line = "tuple[str, list[str]]"  # a name and its cells


# ---- tables


def table(caption: str, columns: list[str], groups: list[tuple[str, list[Line]]]) -> str:
    """Makes a table without optional end tags, which would be a third of a page."""
    body = []
    for title, lines in groups:
        if title and lines:
            body.append(f'<tr class="group"><th colspan="{len(columns) + 1}">{escape(title)}')
        for name, cells in lines:
            row = "".join(f"<td>{escape(cell)}" for cell in cells)
            body.append(f"<tr><th>{escape(name)}{row}")
    head = "".join(f"<th>{escape(column)}" for column in columns)
    top = f"<table><caption>{escape(caption)}</caption><thead><tr><th>{head}<tbody>"
    return "\n".join([top, *body, "</table>\n"])


def panel_table(
    files: list[Results], panel: Panel, caption: str, unit: str, scale: float = 1
) -> str:
    """Makes a table of the numbers of one set of axes and their ratios."""
    xs = xs_of(files, [panel])

    def lines(names: list[str], cell: Callable[[str, X], float | None]) -> list[Line]:
        return [(name, [digits(cell(name, x)) for x in xs]) for name in names]

    groups = []
    for f in files:
        names, floor = in_order(f.rows.get(panel, {})), floor_of(f, panel)

        def ns(name: str, x: X, f: Results = f) -> float | None:
            return f.get(panel, name, x)

        numbers = lines(names, lambda name, x: over(ns(name, x), scale)) or [
            ("no rows", ["–"] * len(xs))
        ]
        groups.append(
            (
                f.prefix + unit,
                numbers + (lines(["floor"], lambda _, x: floor.get(x)) if floor else []),
            )
        )
        kernels = [name for name in names if not is_peer(name)]
        for base in (name for name in names if name == "scalar" or is_peer(name)):
            others = [name for name in kernels if name != base]
            own = min(f.rows[panel][base]) if panel.question == "batch" and is_peer(base) else None
            ratios = lines(others, lambda name, x: over(ns(base, own or x), ns(name, x)))
            groups.append((f"{f.prefix}times as fast as {base}", ratios))
        if panel.question == "batch":
            alone = lines(kernels, lambda name, x: over(ns(name, 1), ns(name, x)))
            groups.append((f"{f.prefix}times as fast as 1 key per call", alone))
        if floor:
            multiples = [
                (name, [multiple(over(ns(name, x), floor.get(x))) for x in xs]) for name in names
            ]
            groups.append((f"{f.prefix}multiple of the floor", multiples))
    return table(caption, [x_name(panel.question, x) for x in xs], groups)


def scrolling(cells: str) -> str:
    """Makes a box that scrolls sideways if the screen is too narrow."""
    return f'<div class="tables">{cells}</div>'


def multiple(value: float | None) -> str:
    return digits(value) + (BELOW if value and value < 0.995 else "")


def tables(
    files: list[Results], panels: list[Panel], captions: list[str], unit: str, scale: float = 1
) -> str:
    pairs = list(zip(panels, captions))
    cells = "".join(panel_table(files, panel, caption, unit, scale) for panel, caption in pairs)
    gaps = "; ".join(
        gap for f in files for panel, caption in pairs for gap in missing(files, f, panel, caption)
    )
    below = f'<p class="note">{BELOW_NOTE}</p>' if BELOW in cells else ""
    return f"{scrolling(cells)}{below}" + (
        f'<p class="note">Missing rows: {escape(gaps)}.</p>' if gaps else ""
    )


def missing(files: list[Results], f: Results, panel: Panel, caption: str) -> list[str]:
    """Lists the rows of kernels and peers that are missing here."""
    wanted = xs_of(files, [panel])
    if panel.question in ("screen", "build"):
        wanted = xs_in_order([*wanted, *SIZES])
    elif panel.question == "hash":
        wanted = xs_in_order([*wanted, *WIDTHS])
    related = panels_of([f], panel.question, subject=panel.subject)
    kernels = [name for name in series_of([f], related) if not is_peer(name)]
    absent: dict[str, list[str]] = {}
    peers = [name for name in f.rows.get(panel, {}) if is_peer(name) and panel.question != "batch"]
    for name in in_order([*kernels, *peers]):
        if gap := ", ".join(
            x_name(panel.question, x) for x in wanted if f.get(panel, name, x) is None
        ):
            absent.setdefault(gap, []).append(name)
    return [f"{f.prefix}{caption}, {' and '.join(names)}: {gap}" for gap, names in absent.items()]


# ---- sections


def folded(anchor: str, title: str, *parts: str) -> str:
    body = "\n".join(part for part in parts if part)
    return (
        f'<details id="{escape(anchor)}"><summary>{escape(title)}</summary>\n{body}</details>\n'
        if body
        else ""
    )


def screen_section(files: list[Results], subject: str) -> str:
    out = []
    for mode, words in (("with-hash", "hash included"), ("no-hash", "hash excluded")):
        every = panels_of(files, "screen", subject=subject, mode=mode)
        ks = sorted({panel.k for panel in every})
        for k in [MAIN_K] if MAIN_K in ks else ks[:1]:
            panels = [panel for panel in every if panel.k == k]
            out += [
                f"<h3>{words}, k = {k}</h3>",
                tables(files, panels, [f"hits {panel.hits} %" for panel in panels], "ns per key"),
                other_probes(files, [panel for panel in every if panel.k != k], words),
            ]
    return folded(f"screen-{subject}", f"Screening, {subject}", *out)


def other_probes(files: list[Results], panels: list[Panel], words: str) -> str:
    if not panels:
        return ""
    columns = [
        (k, x)
        for k in sorted({p.k for p in panels})
        for x in xs_of(files, [p for p in panels if p.k == k])
    ]
    groups = []
    for f in files:
        for hits in sorted({panel.hits for panel in panels}):
            at = {panel.k: panel for panel in panels if panel.hits == hits}
            lines = [
                (name, [digits(f.get(at[k], name, x) if k in at else None) for k, x in columns])
                for name in series_of([f], list(at.values()))
            ]
            groups.append((f"{f.prefix}hits {hits} %", lines))
    cells = table(
        f"Other k, {words}: ns per key", [f"k {k}, {size_name(x)}" for k, x in columns], groups
    )
    return scrolling(cells)


def section(
    files: list[Results], question: str, title: str, unit: str = "ns per key", scale: float = 1
) -> str:
    panels = panels_of(files, question)
    captions = [panel.subject or title for panel in panels]
    return folded(question, title, *([tables(files, panels, captions, unit, scale)] * bool(panels)))


def filters_section(files: list[Results], question: str, title: str) -> str:
    """Makes tables for each format and size of filter."""
    every = panels_of(files, question)
    out = []
    for subject in dict.fromkeys(panel.subject for panel in every):
        mine = [panel for panel in every if panel.subject == subject]
        for mode in sorted({panel.mode for panel in mine}, key=lambda mode: int(mode[4:] or 0)):
            panels = [panel for panel in mine if panel.mode == mode]
            captions = [f"hits {panel.hits} %" for panel in panels]
            size = f", {size_name(int(mode[4:]))}" if mode else ""
            out += [
                f"<h3>{escape(subject)}{size}</h3>",
                tables(files, panels, captions, "ns per key"),
            ]
    return folded(question, title, *out)


def keys_section(files: list[Results]) -> str:
    """Makes the tables of screening with keys of other sizes."""
    panels = panels_of(files, "keys")
    if not panels:
        return ""
    out = [f"<p>ns per key, hash included, k = {MAIN_K}.</p>"]
    for subject in dict.fromkeys(panel.subject for panel in panels):
        mine = sorted(
            (panel for panel in panels if panel.subject == subject),
            key=lambda panel: (int(panel.mode[4:]), panel.hits),
        )
        captions = [f"{subject}, {size_name(int(p.mode[4:]))}, hits {p.hits} %" for p in mine]
        out.append(tables(files, mine, captions, "ns per key"))
    return folded("keys", "Screening keys of other sizes", *out)


def floor_section(files: list[Results]) -> str:
    panel, xs = Panel("floor"), xs_of(files, [Panel("floor")])
    if not xs:
        return ""
    kinds = {
        "line": "random lines, ns each",
        "gather": "gathered 4-byte elements, ns each",
        "read": "sequential reading, GB/s",
    }
    groups = [
        (
            f.cpu if files[1:] else "",
            [(words, [digits(f.get(panel, kind, x)) for x in xs]) for kind, words in kinds.items()],
        )
        for f in files
    ]
    cells = table("Measured in the same run", [size_name(x) for x in xs], groups)
    return folded("floor", "What the hardware allows", scrolling(cells))


def cited_section(files: list[Results]) -> str:
    cited = [
        (
            name,
            [
                (
                    "–"
                    if times is None
                    else " / ".join(digits(over(*pair)) for pair in zip(base, times))
                )
                for base, times in zip(CITED_LEVELDB, row)
            ],
        )
        for name, row in CITED.items()
    ]
    groups = [("cited, not measured here", cited)]
    pair = [Panel("screen", "leveldb", hits, MAIN_K, "with-hash") for hits in (0, 100)]
    for f in files:
        lines = []
        for name in (name for name in series_of([f], pair) if not is_peer(name)):
            cells = [
                " / ".join(
                    digits(over(f.get(panel, "peer:leveldb", x), f.get(panel, name, x)))
                    for panel in pair
                )
                for x in CITED_SIZES
            ]
            lines.append(
                (
                    f"lanebloom, leveldb, {name}",
                    ["–" if cell == "– / –" else cell for cell in cells],
                )
            )
        groups.append((f"measured here{': ' + f.cpu if files[1:] else ''}", lines))
    caption = "Times as fast as LevelDB's KeyMayMatch, negative / positive keys"
    cells = table(caption, list(map(size_name, CITED_SIZES)), groups)
    return folded("cited", "Peers that no registry has", CITED_NOTE, scrolling(cells))


def not_measured(f: Results) -> list[str]:
    """Lists the parts of the suite that a file has no row of."""
    parts = [("hash", hash_name) for hash_name in ("bloomhash", "bloomhash-signed", "xxph3")]
    parts += [
        ("screen", subject, hits, MAIN_K, mode)
        for subject in FORMATS
        for mode in ("with-hash", "no-hash")
        for hits in (0, 100)
    ]
    parts += [(question, subject) for question in ("build", "many") for subject in FORMATS]
    parts += [("batch", subject, 0, 0, "KiB:256") for subject in FORMATS]
    parts += [("threads", subject, 0, 0, "KiB:16384") for subject in FORMATS]
    absent = [panel for part in parts if (panel := Panel(*part)) not in f.rows]
    names = [
        f"{p.question}/{p.subject}" + (f"/hits:{p.hits}/k:{p.k}/{p.mode}" if p.k else "")
        for p in absent
    ]
    kinds = [
        ("load", "load"),
        ("load", "map"),
        ("floor", "line"),
        ("floor", "gather"),
        ("floor", "read"),
    ]
    return names + [
        "/".join(kind) for kind in kinds if kind[1] not in f.rows.get(Panel(kind[0]), {})
    ]


def machine(f: Results) -> str:
    context = dict(f.context)
    caches = [
        f"L{c['level']} {c['type']} {size_name(c['size'] / 1024)} "
        f"(shared by {c.get('num_sharing')})"
        for c in context.pop("caches", [])
    ]
    nrows = sum(len(by_x) for panel in f.rows.values() for by_x in panel.values())
    lines = [("file", f.name)]
    lines += [
        (key, value if isinstance(value, str) else json.dumps(value))
        for key, value in sorted(context.items())
    ]
    lines += [("caches", ", ".join(caches) or "not in the file"), ("rows", str(nrows))]
    if f.spreads:
        widest, name = max(f.spreads)
        middle = statistics.median(spread for spread, _ in f.spreads)
        lines.append(
            ("repetitions", f"range / best: {middle:.1%} in the median row, {widest:.1%} in {name}")
        )
    for title, names in (
        ("no rows of", not_measured(f)),
        ("rows without a result", f.failed),
        ("rows not understood", f.unknown),
    ):
        lines += [(title, ", ".join(names))] if names else []
    items = "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in lines)
    return f"<h3>{escape(f.cpu)}</h3><dl>{items}</dl>"


def all_tables(files: list[Results]) -> str:
    formats = dict.fromkeys(panel.subject for panel in panels_of(files, "screen"))
    return "".join(
        [
            folded("how", "What was measured, and what the words mean", HOW),
            *(screen_section(files, subject) for subject in formats),
            section(files, "hash", "Hashing"),
            keys_section(files),
            section(files, "build", "Building"),
            filters_section(files, "batch", "Batch size"),
            filters_section(files, "threads", "Threads, all together"),
            filters_section(files, "command", "The whole command, per line"),
            section(files, "many", "One batch against many filters"),
            section(files, "load", "Loading and mapping", "µs per call", 1e3),
            floor_section(files),
            cited_section(files),
            folded("machines", "Machines and files", *map(machine, files)),
        ]
    )
