"""Writes parts of Markdown documents.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import textwrap


def markdown_table(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    return textwrap.fill(
        text, 100, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
