#!/usr/bin/env python3
"""Checks the links of all documents below a folder: links.py FOLDER. Their files and headings must
exist, and links must lead from docs/README.md to all of docs/. Web addresses are not checked.
SPDX-License-Identifier: MIT"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(
    r"!?\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)|<(?:img|a)\s[^>]*(?:src|href)=\"([^\"]+)\""
)
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1[`~]*$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?:(?: {4}|\t).*\n)+")
SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)


def blank(match: re.Match) -> str:
    """Blanks the text and keeps the lines."""
    return "\n" * match[0].count("\n")


def anchors(text: str) -> set[str]:
    """Lists the names that GitHub gives headings; a repeated name ends with a number."""
    found: dict[str, int] = {}
    names = set(re.findall(r"<[^>]*\sid=\"([^\"]+)\"", text))
    for heading in re.findall(r"^#{1,6} +(.*?)[ #]*$", FENCE.sub(blank, text), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return names


def links(text: str) -> list[tuple[int, str]]:
    """Lists links and their lines. A picture that is itself a link counts as two."""
    prose = SPAN.sub(blank, INDENTED.sub(blank, FENCE.sub(blank, text)))
    prose = re.sub(r"\[(!\[[^\]]*\]\([^)]*\))\]", r"\1[]", prose)
    return [(prose.count("\n", 0, m.start()) + 1, m[1] or m[2]) for m in LINK.finditer(prose)]


def documents(root: Path) -> list[Path]:
    """Lists the project's documents, without those that builds and other tools leave."""
    inside = [p for p in root.iterdir() if p.is_dir() and p.name[0] != "." and p.name != "build"]
    return sorted([*root.glob("*.md"), *(file for f in inside for file in f.rglob("*.md"))])


def check(root: Path) -> tuple[int, list[str]]:
    """Returns the number of links and the faults."""
    nlinks, faults = 0, []
    targets: dict[Path, set[Path]] = {}
    for document in documents(root):
        targets[document] = set()
        for line, link in links(document.read_text()):
            if re.match(r"[a-z]+:", link):
                continue
            nlinks += 1
            path, _, anchor = unquote(link).partition("#")
            target = (document.parent / path).resolve() if path else document
            where = f"{document.relative_to(root)}:{line}"
            if not target.exists():
                faults.append(f"{where}: {path} is not there")
            elif not target.is_relative_to(root):
                faults.append(f"{where}: {path} is outside of the project")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                faults.append(f"{where}: {path or document.name} has no heading #{anchor}")
            else:
                targets[document].add(target)
    index = root / "docs" / "README.md"
    reached, left = set(), [index]
    while left:
        document = left.pop()
        if document not in reached:
            reached.add(document)
            left += targets.get(document, set())
    docs = [*index.parent.glob("*.md"), *index.parent.glob("*.html")]
    for document in sorted(set(docs) - reached):
        faults.append(f"{document.relative_to(root)}: no links lead there from docs/README.md")
    return nlinks, faults


if __name__ == "__main__":
    nlinks, faults = check(Path(sys.argv[1]).resolve())
    print(*faults, f"{nlinks} links, {len(faults)} faults", sep="\n")
    sys.exit(bool(faults))
