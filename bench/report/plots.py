"""Plots of the report: SVG that stands inside an HTML page.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import io
import math
import re
from html import escape

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from results import (
    Panel,
    Results,
    floor_of,
    in_order,
    is_peer,
    panels_of,
    series_of,
    size_name,
    x_name,
    xs_of,
)

PALETTE = [
    "#000000",
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
]  # Okabe-Ito without its yellow
MARKERS = "osD^vPX*<>"
PEER_DASHES = [(0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1))]
FLOOR = dict(facecolor="#dddddd", edgecolor="#777777", linewidth=1.2)
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "lanebloom",
        "svg.fonttype": "none",
        "font.size": 8.5,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
    }
)


def short(name: str) -> str:
    """256 KiB as 256K, for an axis."""
    return re.sub(r" ([KMG])iB$", r"\1", name)


def mark_caches(axes, results: Results) -> None:
    """A vertical line per data cache, its name above the axes."""
    low, high = axes.get_xlim()
    caches = [
        cache for cache in results.context.get("caches", []) if cache["type"] != "Instruction"
    ]
    for level, kib in {cache["level"]: cache["size"] / 1024 for cache in caches}.items():
        if low < kib < high:
            axes.axvline(kib, color="#555555", linewidth=0.8, linestyle=(0, (1, 2)), zorder=0.5)
            axes.annotate(
                f"L{level} {short(size_name(kib))}",
                (kib, 1),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=7,
                color="#333333",
            )


class Plots:
    """Draws figures in which a kernel or peer looks the same everywhere."""

    def __init__(self, files: list[Results]):
        self.files = files
        self.count = 0
        self.styles = {}
        drawn = [
            panel for f in files for panel in f.rows if panel.question not in ("floor", "load")
        ]
        names = series_of(files, drawn)
        peers = [name for name in names if is_peer(name)]
        for i, name in enumerate([*names, "load", "map"]):
            color = PALETTE[i % len(PALETTE)]
            style = dict(color=color, marker=MARKERS[i % len(MARKERS)], markersize=5, linewidth=1.5)
            if name in peers:
                style.update(
                    markerfacecolor="white",
                    linestyle=PEER_DASHES[peers.index(name) % len(PEER_DASHES)],
                )
            self.styles[name] = style

    def draw(
        self, panels: list[Panel], titles: list[str], xlabel: str, ylabel: str, scale: float = 1
    ) -> str:
        """A line of axes per file, a column per panel, all to one scale."""
        lines, columns = len(self.files), len(panels)
        size = (11.5 if columns > 2 else 4.5 * columns + 1, 2.75 * lines + 0.75)
        figure, grid = pyplot.subplots(
            lines, columns, sharex=True, sharey=True, squeeze=False, figsize=size
        )
        for results, line in zip(self.files, grid):
            for panel, title, axes in zip(panels, titles, line):
                self.set_axes(axes, panel, xs_of(self.files, panels), scale)
                self.fill(axes, results, panel, xs_of(self.files, panels), scale)
                axes.set_title(
                    results.prefix + title, fontsize=9, fontweight="bold", loc="left", pad=16
                )
            line[0].set_ylabel(ylabel)
        for axes in grid[-1]:
            axes.set_xlabel(xlabel)
        self.legend(figure, panels, size)
        return self.svg(figure, f"{ylabel} against {xlabel}: {', '.join(titles)}")

    def set_axes(self, axes, panel: Panel, xs: list, scale: float) -> None:
        """Scales that all plots of a question share."""
        peers = panels_of(self.files, panel.question, mode=panel.mode, k=panel.k)
        rows = [by_x for f in self.files for p in peers for by_x in f.rows.get(p, {}).values()]
        times = [ns / scale for by_x in rows for ns in by_x.values()]
        times += [
            ns for f in self.files for p in peers for x, ns in floor_of(f, p).items() if x in xs
        ]
        axes.set_yscale("log")
        axes.set_ylim(min(times) / 1.4, max(times) * 1.4)
        steps = (1, 2, 5) if max(times) < 2000 * min(times) else (1,)
        axes.yaxis.set_major_locator(LogLocator(10, subs=steps, numticks=99))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.10g}"))
        if panel.question != "hash":
            axes.set_xscale("log", base=2)
            axes.set_xlim(xs[0] / 1.7, xs[-1] * 1.7)
        ticks = list(range(len(xs))) if panel.question == "hash" else xs
        step = 2 if len(xs) > 8 and panel.question != "hash" else 1
        axes.xaxis.set_major_locator(FixedLocator(ticks[::step]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticklabels([short(x_name(panel.question, x)) for x in xs[::step]])
        axes.tick_params(labelbottom=True, labelleft=True, labelsize=7.5)
        axes.grid(True, which="major", color="#e4e4e4", linewidth=0.6)

    def fill(self, axes, results: Results, panel: Panel, xs: list, scale: float) -> None:
        place = {x: i if panel.question == "hash" else x for i, x in enumerate(xs)}
        if floor := {x: ns for x, ns in floor_of(results, panel).items() if x in place}:
            axes.fill_between(list(floor), list(floor.values()), axes.get_ylim()[0], **FLOOR)
        there = results.rows.get(panel, {})
        for series in in_order(there):
            texts = [[x] for x in xs if isinstance(x, str)]  # to which no line leads
            for part in ([x for x in xs if isinstance(x, int)], *texts):
                times = [there[series].get(x, math.nan) / scale for x in part]
                axes.plot([place[x] for x in part], times, **self.styles[series])
        if not there:
            axes.text(0.5, 0.5, "no rows", transform=axes.transAxes, ha="center", color="#555555")
        if panel.question in ("screen", "build", "load"):
            mark_caches(axes, results)

    def legend(self, figure, panels: list[Panel], size: tuple[float, float]) -> None:
        handles: list = [
            Line2D([], [], label=name, **self.styles[name])
            for name in series_of(self.files, panels)
        ]
        if any(floor_of(f, panel) for f in self.files for panel in panels):
            handles.append(Patch(label="floor", **FLOOR))
        columns = int(size[0] / 1.65)
        space = 0.06 + 0.2 * math.ceil(len(handles) / columns)
        figure.tight_layout(rect=(0, 0, 1, 1 - space / size[1]), w_pad=1.2, h_pad=1.2)
        figure.legend(
            handles=handles,
            loc="upper left",
            ncol=columns,
            fontsize=8.5,
            frameon=False,
            handlelength=3.2,
            bbox_to_anchor=(0, 1),
            borderaxespad=0.2,
        )

    def svg(self, figure, title: str) -> str:
        """The figure with ids of its own, and without what only a file of its own needs."""
        self.count += 1
        out = io.StringIO()
        figure.savefig(
            out, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
        )
        pyplot.close(figure)
        text = out.getvalue()
        text = re.sub(
            r"\s*<defs>\s*<style.*?</defs>", "", text[text.index("<svg") :], count=1, flags=re.S
        )
        text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
        text = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>f{self.count}-", text)
        return text.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
