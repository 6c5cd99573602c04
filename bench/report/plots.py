"""Draws the report's charts as SVG and PNG: one per question, with a colour for each CPU.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import io
import re
import textwrap
from html import escape
from typing import NamedTuple

import matplotlib

matplotlib.use("svg")
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from results import (
    MAIN_K,
    Panel,
    Point,
    Results,
    X,
    floor_of,
    panels_of,
    size_name,
    x_name,
    xs_of,
)
from verdict import ENGINES

COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]  # Okabe and Ito
MARKERS = "osD^vP"
INK, GRID, PAPER = "#000000", "#E4E4E4", "#FFFFFF"
SIZE = (400, 265)  # points of one chart, about the pixels of a phone
LEFT, RIGHT, BOTTOM, TOP = 44, 112, 38, 18  # its margins, in points
MAX_CPUS = len(COLORS)
RATE, COST = "million keys per second, higher is better", "ns per key, lower is better"
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "lanebloom",
        "svg.fonttype": "none",
        "font.family": "DejaVu Sans",
        "font.size": 10.5,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
    }
)


class Question(NamedTuple):
    name: str  # the name of the picture's file and of the anchor in the page
    title: str
    unit: str
    xlabel: str
    charts: list[tuple[str, Panel]]  # captions and panels


class Label(NamedTuple):
    x: float
    y: float
    text: str
    color: str
    connected: bool  # a connection to a single point would look like data
    weight: str = "normal"


def questions(files: list[Results]) -> list[Question]:
    """Lists the questions that at least one file has rows of."""
    size = "size of the filter"
    screens = [
        Question(
            f"screen-{subject}",
            f"Screening a filter of {engine}",
            RATE,
            size,
            [
                (f"{keys} keys", Panel("screen", subject, hits, MAIN_K, "with-hash"))
                for keys, hits in (("absent", 0), ("present", 100))
            ],
        )
        for subject, engine in ENGINES.items()
    ]
    threads = [panel for panel in panels_of(files, "threads", hits=0) if panel.subject in ENGINES]
    largest = max((int(panel.mode[4:]) for panel in threads), default=0)
    formats = [(engine, subject) for subject, engine in ENGINES.items()]
    found = [
        *screens,
        Question(
            "threads",
            "Threads, all together"
            + (f": one filter of {size_name(largest)}, absent keys" if largest else ""),
            RATE,
            "threads",
            [(e, Panel("threads", s, 0, 0, f"KiB:{largest}")) for e, s in formats],
        ),
        Question(
            "hash",
            "Hashing",
            RATE,
            "bytes per key",
            [
                ("LevelDB’s hash", Panel("hash", "bloomhash")),
                ("RocksDB’s hash (XXPH3)", Panel("hash", "xxph3")),
            ],
        ),
        Question(
            "batch",
            "Small batches: a filter of 256 KiB, absent keys",
            COST,
            "keys per call",
            [(e, Panel("batch", s, 0, 0, "KiB:256")) for e, s in formats],
        ),
        Question(
            "command",
            "The whole command: a filter of 256 KiB, absent lines",
            RATE.replace("keys", "lines"),
            "jobs",
            [(e, Panel("command", s, 0, 0, "KiB:256")) for e, s in formats],
        ),
        Question(
            "build", "Building a filter", RATE, size, [(e, Panel("build", s)) for e, s in formats]
        ),
    ]
    there = {
        panel
        for f in files
        for panel in f.rows
        if any(f.fastest(panel, x) for x in xs_of([f], [panel]) if isinstance(x, int))
    }
    kept = (q._replace(charts=[c for c in q.charts if c[1] in there]) for q in found)
    return [question for question in kept if question.charts]


def color(i: int) -> str:
    return COLORS[i % MAX_CPUS]


def draw(axes, files: list[Results], question: Question, panel: Panel) -> None:
    xs = [x for x in xs_of(files, [panel]) if isinstance(x, int)]
    by_rank = panel.question == "hash"
    place = {x: float(i) if by_rank else float(x) for i, x in enumerate(xs)}
    labels, drawn = [], []
    engine_name, limit = ENGINES.get(panel.subject, "LevelDB"), "memory’s limit"
    shared = {engine_name, limit} if files[2:] else set()  # colours show whose lines these are

    def name(text: str, f: Results) -> str:
        return f"{text},\n{f.cpu}" if len(files) == 2 else text

    def height(ns: float) -> float:
        return ns if question.unit == COST else 1e3 / ns

    def line(points: dict[X, Point], i: int, text: str, **style) -> None:
        """Draws a line of medians with the name at its end. A single median of a line without
        markers is a dash."""
        at = [place[x] for x in points]
        heights = [height(point.value) for point in points.values()]
        if len(at) == 1 and "linestyle" in style:
            style = {"marker": "_", "markersize": 10}
        axes.plot(at, heights, color=color(i), **style)
        if text not in (label.text for label in labels):
            ink = INK if text in shared else color(i)
            labels.append(Label(at[-1], heights[-1], text, ink, len(at) > 1))
        drawn.extend(heights)

    for i, f in enumerate(files):
        best = {x: pair[1] for x in xs if (pair := f.fastest(panel, x))}
        engine = {x: pair[1] for x in xs if (pair := f.fastest(panel, x, peers=True))}
        if engine:
            if panel.question == "batch":  # an engine's calls do not depend on ours
                engine = dict.fromkeys(xs, min(engine.values(), key=lambda point: point.value))
            line(engine, i, name(engine_name, f), linewidth=1, linestyle=(0, (4, 2.5)))
        if not best:
            continue
        line(best, i, f.cpu, linewidth=2)
        labels[-1] = labels[-1]._replace(weight="bold")
        for x, point in best.items():
            ends = sorted(map(height, (point.best, point.slow)))
            axes.plot([place[x]] * 2, ends, color=color(i), linewidth=1.2, marker="_", markersize=6)
            paper = PAPER if point.unsure else color(i)
            axes.plot(
                place[x],
                height(point.value),
                color=color(i),
                marker=MARKERS[i % MAX_CPUS],
                markersize=6,
                markerfacecolor=paper,
            )
            drawn.extend(ends)
            if point.unsure:
                at = (place[x], height(point.value))
                axes.annotate("?", at, (6, 5), textcoords="offset points", color=color(i))
        floor = {x: ns for x, ns in floor_of(f, panel).items() if x in place}
        if floor and panel.question == "threads":
            limits = {x: Point(ns, ns, ns) for x, ns in floor.items()}
            line(limits, i, name(limit, f), linewidth=1, linestyle=(0, (1, 1.5)))
    scales(axes, question, panel, xs, drawn)
    if panel.question in ("screen", "build"):
        mark_caches(axes, files, panel)
    place_labels(axes, labels)


def scales(axes, question: Question, panel: Panel, xs: list[int], heights: list[float]) -> None:
    linear = panel.question in ("threads", "command")
    if linear:
        axes.set_ylim(0, max(heights) * 1.1)
        margin = 0.08 * (xs[-1] - xs[0] or 1)
        axes.set_xlim(xs[0] - margin, xs[-1] + margin)
    else:
        axes.set_yscale("log")
        axes.set_ylim(min(heights) / 1.25, max(heights) * 1.25)
        steps = (1, 2, 5) if max(heights) < 300 * min(heights) else (1,)
        axes.yaxis.set_major_locator(LogLocator(10, subs=steps, numticks=99))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.10g}"))
    by_rank = panel.question == "hash"
    if by_rank:
        axes.set_xlim(-0.4, len(xs) - 0.7)
    elif not linear:
        axes.set_xscale("log", base=2)
        axes.set_xlim(xs[0] / 1.5, xs[-1] * 1.3)
    axes.xaxis.set_major_locator(FixedLocator(list(range(len(xs))) if by_rank else xs))
    axes.xaxis.set_minor_locator(NullLocator())
    names = [x_name(panel.question, x) for x in xs]
    axes.set_xticklabels([re.sub(r" ([KMG])iB$| B$", r"\1", name) for name in names])
    axes.set_xlabel(question.xlabel, fontsize=10, labelpad=2)
    axes.tick_params(labelsize=10.5, length=3)
    axes.grid(True, axis="y", color=GRID, linewidth=0.8)


def mark_caches(axes, files: list[Results], panel: Panel) -> None:
    """Draws dotted lines at the sizes of L2 and L3 of each CPU that has rows."""
    low, high = axes.get_xlim()
    for i, f in enumerate(files):
        for level in (2, 3):
            kib = f.cache_kib(level)
            if low < kib < high and panel in f.rows:
                axes.axvline(kib, color=color(i), linewidth=0.8, linestyle=(0, (1, 2)), zorder=0.5)
                axes.annotate(
                    f"L{level}",
                    (kib, 1),
                    (0, 2),
                    xycoords=("data", "axes fraction"),
                    textcoords="offset points",
                    ha="center",
                    fontsize=9.5,
                    color=color(i),
                )


def place_labels(axes, labels: list[Label]) -> None:
    """Writes names to the right of the axes, where their lines end, but not over each other."""
    points = axes.bbox.height * 72 / axes.figure.dpi
    per_line, gap = 11, 3
    lowest = -gap
    heights, texts = [], []
    to_points = axes.transAxes.inverted()
    for label in sorted(labels, key=lambda label: axes.transData.transform((1, label.y))[1]):
        wrapped = [part for row in label.text.split("\n") for part in textwrap.wrap(row, 15)]
        tall = per_line * len(wrapped)
        wanted = to_points.transform(axes.transData.transform((label.x, label.y)))[1] * points
        heights.append(max(wanted, lowest + gap + tall / 2))
        lowest = heights[-1] + tall / 2
        texts.append((label, wrapped, tall))
    ceiling = points + 8
    for i in reversed(range(len(texts))):
        tall = texts[i][2]
        heights[i] = min(heights[i], ceiling - tall / 2)
        ceiling = heights[i] - tall / 2 - gap
    for at, (label, wrapped, _) in zip(heights, texts):
        if label.connected:
            arrow = {"arrowstyle": "-", "color": label.color, "linewidth": 0.6, "shrinkB": 4}
            axes.annotate(
                "",
                (label.x, label.y),
                (1.045, at / points),
                textcoords="axes fraction",
                arrowprops=arrow,
                annotation_clip=False,
            )
        for row, text in enumerate(wrapped):
            axes.annotate(
                text,
                (1.06, at / points),
                (0, per_line * ((len(wrapped) - 1) / 2 - row)),
                xycoords="axes fraction",
                textcoords="offset points",
                va="center_baseline",
                fontsize=10,
                color=label.color,
                fontweight=label.weight,
            )


# ---- files


def add_axes(figure: Figure, column: int, columns: int, above: float):
    """Adds axes with fixed margins, whatever the font; `above` has the points for titles."""
    width, height = SIZE
    all_wide, all_high = width * columns, height + above
    box = (
        (column * width + LEFT) / all_wide,
        BOTTOM / all_high,
        (width - LEFT - RIGHT) / all_wide,
        (height - BOTTOM - TOP) / all_high,
    )
    return figure.add_axes(box)


def svg(files: list[Results], question: Question, caption: str, panel: Panel, name: str) -> str:
    """Makes one chart with unique ids and the page's colours and font."""
    figure = Figure((SIZE[0] / 72, SIZE[1] / 72), dpi=72)
    draw(add_axes(figure, 0, 1, 0), files, question, panel)
    out = io.StringIO()
    figure.patch.set_visible(False)
    for axes in figure.axes:
        axes.patch.set_visible(False)
    figure.savefig(
        out, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
    )
    text = out.getvalue()
    text = re.sub(
        r"\s*<defs>\s*<style.*?</defs>", "", text[text.index("<svg") :], count=1, flags=re.S
    )
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r"<!--.*?-->\n?", "", text)
    text = re.sub(r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}", text)
    text = re.sub(r' transform="rotate\(-0 [^"]*"', "", text)
    text = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-", text)
    for i, value in enumerate(COLORS):
        text = re.sub(value, f"var(--cpu{i})", text, flags=re.I)
    for value, variable in ((INK, "currentColor"), (GRID, "var(--grid)"), (PAPER, "var(--paper)")):
        text = re.sub(value, variable, text, flags=re.I)
    text = re.sub(r"font: (bold )?(?:\d+ )?([\d.]+)px [^;\"]*", font, text)
    words = f"{question.title}, {caption}: {question.unit}"
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(words)}"', 1)


def font(match: re.Match) -> str:
    bold = "font-weight: bold; " if "bold" in match[0] or "700" in match[0] else ""
    return f"{bold}font-size: {match[2]}px"


def png(files: list[Results], question: Question, path: str) -> None:
    """Writes all charts of a question side by side, on white."""
    columns, above = len(question.charts), 40
    figure = Figure((SIZE[0] * columns / 72, (SIZE[1] + above) / 72), dpi=130, facecolor=PAPER)
    for column, (caption, panel) in enumerate(question.charts):
        axes = add_axes(figure, column, columns, above)
        draw(axes, files, question, panel)
        axes.set_title(caption, fontsize=10.5, loc="left", pad=14)
    top = 1 - 14 / (SIZE[1] + above)
    title = f"{question.title}: {question.unit}" if columns > 1 else question.title
    figure.text(8 / SIZE[0] / columns, top, title, fontsize=11.5, fontweight="bold", va="center")
    figure.savefig(path, format="png", metadata={"Software": None})
