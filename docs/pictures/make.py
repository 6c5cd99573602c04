#!/usr/bin/env python3
"""Draws the pictures of docs/how-the-kernels-work.md: make.py [FOLDER], by default its own.
SPDX-License-Identifier: MIT"""

import sys
from html import escape
from math import hypot
from pathlib import Path

WIDTH = 640
STYLE = """<style>
  text { font: 16px sans-serif; fill: #222; text-anchor: middle }
  .left { text-anchor: start }
  .small { font-size: 14px; fill: #555 }
  .box { fill: #eef2f7; stroke: #8796a8 }
  .good { fill: #bfe3c6; stroke: #3f8f50 }
  .idle { fill: #fff; stroke: #b9b9b9; stroke-dasharray: 4 3 }
  .warm { fill: #fbe0b5; stroke: #b9802a }
  path { stroke: #555; fill: none; stroke-width: 1.5 }
  .tip { fill: #555; stroke: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #eee }
    .small { fill: #bbb }
    .box { fill: #2a333f; stroke: #71829a }
    .good { fill: #24502e; stroke: #6fbf80 }
    .idle { fill: #16191d; stroke: #666 }
    .warm { fill: #5a4216; stroke: #d9a44a }
    path { stroke: #bbb }
    .tip { fill: #bbb }
  }
</style>"""


class Picture:
    """Shapes in units of a picture that is WIDTH wide; (x, y) is the upper left corner."""

    def __init__(self, name: str, height: int, title: str, description: str):
        self.name = name
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            "<desc>",
            *(escape(line) for line in description.splitlines()),
            "</desc>",
            STYLE,
        ]

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        attribute = f' class="{kind}"' if kind else ""
        self.lines += [f'<text x="{x:g}" y="{y:g}"{attribute}>', f"{escape(text)}</text>"]

    def box(self, x: float, y: float, width: float, text: str, kind="box", height=32) -> None:
        at = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        self.lines.append(f'<rect class="{kind}" {at} rx="3"/>')
        self.text(x + width / 2, y + height / 2 + 5.5, text)

    def row(self, x: float, y: float, width: float, texts: list[str], kinds: str = "") -> None:
        """Boxes side by side. Kinds, a letter each: g good, i idle, w warm, others plain."""
        names = {"g": "good", "i": "idle", "w": "warm"}
        for i, text in enumerate(texts):
            self.box(x + i * width, y, width, text, names.get(kinds[i : i + 1], "box"))

    def arrow(self, x0: float, y0: float, x1: float, y1: float) -> None:
        length = hypot(x1 - x0, y1 - y0)
        dx, dy = 8 * (x1 - x0) / length, 8 * (y1 - y0) / length  # the tip
        x, y = x1 - dx, y1 - dy
        self.lines.append(f'<path d="M{x0:g} {y0:g} L{x:.1f} {y:.1f}"/>')
        points = [(x1, y1), (x - dy / 2, y + dx / 2), (x + dy / 2, y - dx / 2)]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.lines.append(f'<polygon class="tip" points="{corners}"/>')

    def save(self, folder: Path) -> None:
        (folder / f"{self.name}.svg").write_text("\n".join([*self.lines, "</svg>", ""]))


def compaction() -> Picture:
    picture = Picture(
        "compaction",
        330,
        "Compaction",
        "Two registers of eight keys. Of the first, keys 0, 3 and 5 pass probe 0; of the second,\n"
        "keys 9, 10, 12 and 15. Survivors move together in their order, with their numbers, and\n"
        "fill the first seven lanes of the register that makes probe 1.",
    )
    picture.text(320, 22, "Probe 0 of 16 keys: green lanes pass")
    picture.row(16, 36, 38, [str(i) for i in range(8)], "gxxgxgxx")
    picture.row(320, 36, 38, [str(i) for i in range(8, 16)], "xggxgxxg")
    survivors = [0, 3, 5, 9, 10, 12, 15]
    for to, key in enumerate(survivors):
        left = 16 + 38 * key + 19 if key < 8 else 320 + 38 * (key - 8) + 19
        picture.arrow(left, 70, 168 + 38 * to + 19, 126)
    picture.row(168, 128, 38, [str(i) for i in survivors] + [""], "gggggggi")
    picture.text(320, 184, "Survivors: hashes, and the numbers of their keys, in order", "small")
    picture.text(320, 222, "Probe 1 works on full registers again, until the last probe")
    picture.row(168, 236, 38, [str(i) for i in survivors] + [""], "xgxxgxxi")
    picture.arrow(225, 270, 225, 296)
    picture.arrow(339, 270, 339, 296)
    picture.text(320, 318, "Their numbers are the bits of the bitmap to set: 3 and 10", "small")
    return picture


def lookup() -> Picture:
    picture = Picture(
        "lookup",
        342,
        "A look-up in a cache line",
        "A cache line of 64 bytes is 16 dwords in a register. The top four bits of each probe\n"
        "choose a dword, the next five a bit in it. One permute looks up all probes of a key.",
    )
    picture.text(320, 22, "One load: a cache line of 64 bytes, 16 dwords in registers")
    picture.row(16, 36, 38, [str(i) for i in range(16)], "xxwxxxwxxxxwxxwx")
    probes = [6, 2, 14, 11, 2, 6]
    picture.text(16, 128, "Top 4 bits of a probe", "left small")
    picture.row(260, 107, 46, [str(dword) for dword in probes] + ["6", "6"], "xxxxxxii")
    picture.text(16, 190, "One permute", "left small")
    for i in range(8):
        picture.arrow(283 + 46 * i, 141, 283 + 46 * i, 168)
    picture.row(260, 170, 46, [f"d{dword}" for dword in probes] + ["d6", "d6"], "wwwwwwii")
    picture.text(16, 252, "Next 5 bits: rotate, test bit 0", "left small")
    for i in range(8):
        picture.arrow(283 + 46 * i, 204, 283 + 46 * i, 230)
    picture.row(260, 232, 46, ["1", "1", "1", "0", "1", "1", "1", "1"], "gggxggii")
    picture.text(320, 300, "Six bits must be 1: this key fails. Lanes 6 and 7 repeat a probe.")
    picture.text(320, 326, "AVX-512: two keys. AVX2: half a line, twice. NEON: tbl.", "small")
    return picture


def two_blocks() -> Picture:
    picture = Picture(
        "two-blocks",
        270,
        "Two blocks in a pipeline",
        "While block 0 is tested, the cache lines of block 1 are on their way: block 1 was\n"
        "located and prefetched just before. So its lines have the time of a whole test to\n"
        "arrive.",
    )
    picture.text(320, 22, "Time →")
    slot = 76
    for block, (locate, test) in enumerate(((0, 2), (1, 4), (3, 6))):
        y = 40 + 52 * block
        picture.text(12, y + 22, f"Block {block}", "left")
        picture.box(92 + slot * locate, y, slot, "locate")
        lines = slot * (test - locate - 1)
        coming = "on the way" if lines > slot else ""
        picture.box(92 + slot * (locate + 1), y, lines, coming, "idle")
        picture.box(92 + slot * test, y, slot, "test", "good")
    picture.text(320, 214, "The CPU locates 0, locates 1, tests 0, locates 2, tests 1, …")
    picture.text(320, 240, "To locate is to hash the keys of a block, and to compute and", "small")
    picture.text(320, 258, "prefetch their cache lines. Tests find them in the cache.", "small")
    return picture


def gather() -> Picture:
    picture = Picture(
        "gather",
        356,
        "A gather, and loads instead",
        "A gather loads a dword for each lane from an address of its own, in one instruction.\n"
        "Where it is slow, positions are stored, and bytes are loaded and inserted into a\n"
        "register one by one.",
    )
    for x, title in ((16, "Gather"), (344, "Loads")):
        picture.text(x + 140, 22, title)
        picture.row(x, 36, 70, ["key A", "key B", "key C", "key D"])
    for i, place in enumerate((4, 0, 5, 2)):
        picture.arrow(51 + 70 * i, 70, 34 + 46.6 * place, 148)
    picture.row(16, 150, 46.6, ["", "", "", "", "", ""], "wxwxww")
    picture.text(156, 204, "the filter: dwords", "small")
    for i, place in enumerate((4, 0, 5, 2)):
        picture.arrow(34 + 46.6 * place, 216, 51 + 70 * i, 278)
    picture.row(16, 280, 70, ["A", "B", "C", "D"], "wwww")
    picture.text(156, 336, "eight lanes: 39 operations on a Zen 3", "small")
    picture.arrow(484, 70, 484, 90)
    picture.row(344, 92, 70, ["at[0]", "at[1]", "at[2]", "at[3]"])
    picture.text(484, 146, "positions, stored in memory", "small")
    for i in range(4):
        y = 160 + 28 * i
        picture.box(344, y, 280, f"byte {'ABCD'[i]}: load payload[at[{i}]], insert", "warm", 26)
    picture.arrow(484, 272, 484, 280)
    picture.row(344, 280, 70, ["A", "B", "C", "D"], "wwww")
    picture.text(484, 336, "a load and an insert per key", "small")
    return picture


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for draw in (compaction, lookup, two_blocks, gather):
        draw().save(folder)
