"""Reads result files of the benchmark suite; orders and names their rows; finds the floor.
SPDX-License-Identifier: MIT"""

from __future__ import annotations
import json
import math
import re
import statistics
from dataclasses import dataclass, field
from typing import Iterable, NamedTuple, Union

from cpu_names import cpu_name

X = Union[
    int, str
]  # a filter size in KiB, a key width in bytes, a count; or the name of a set of keys of many sizes
TEXTS = ["lengths:0-100", "lengths:129-240", "lengths:17-240", "lengths:5-30", "words"]
FORMATS = ["leveldb", "leveldb-signed", "rocksdb-legacy", "rocksdb-local"]
SIZES = [16, 256, 1024, 16384, 262144]  # KiB
WIDTHS = [4, 8, 12, 16, 20, 32, 64, 200, 300, *TEXTS]
MAIN_K = 6
GUESTS = {
    "libbloom": "leveldb"
}  # a peer with a filter of its own is shown with the format of the same shape
MARK = "†"  # follows the name of a CPU that is not compared
FILL = 0.45  # the share of bits that are set at 10 bits per key

SUBJECT = r"/(?P<subject>[^/]+)/(?P<series>[^/]+)"
KEYS = rf"(bytes:(?P<x>[1-9]\d*)|(?P<text>{'|'.join(TEXTS)}))"
NAMES = [
    re.compile(pattern)
    for pattern in (
        rf"(?P<question>hash){SUBJECT}/{KEYS}",
        rf"(?P<question>keys){SUBJECT}/(?P<mode>KiB:[1-9]\d*)/hits:(?P<hits>\d+)/{KEYS}",
        rf"(?P<question>screen){SUBJECT}/KiB:(?P<x>[1-9]\d*)/hits:(?P<hits>\d+)"
        r"/k:(?P<k>[1-9]\d*)/(?P<mode>(with|no)-hash)",
        rf"(?P<question>build){SUBJECT}/KiB:(?P<x>[1-9]\d*)",
        rf"(?P<question>batch){SUBJECT}/(?P<mode>KiB:[1-9]\d*)/hits:(?P<hits>\d+)"
        r"/keys:(?P<x>[1-9]\d*)",
        rf"(?P<question>threads){SUBJECT}/(?P<mode>KiB:[1-9]\d*)/hits:(?P<hits>\d+)"
        r"/threads:(?P<x>[1-9]\d*)",
        rf"(?P<question>command){SUBJECT}/(?P<mode>KiB:[1-9]\d*)/hits:(?P<hits>\d+)"
        r"/jobs:(?P<x>[1-9]\d*)",
        r"threads/(?P<question>floor)/(?P<series>line)/(?P<mode>KiB:[1-9]\d*)"
        r"/threads:(?P<x>[1-9]\d*)",
        rf"(?P<question>many){SUBJECT}/filters:(?P<x>[1-9]\d*)",
        r"(?P<question>load)/(?P<series>load|map)/KiB:(?P<x>[1-9]\d*)",
        r"(?P<question>floor)/(?P<series>line|gather|read)/KiB:(?P<x>[1-9]\d*)",
    )
]
RUN_OPTION = re.compile(
    r"(repeats|iterations|\w+_time)(:|$)"
)  # google/benchmark adds these parts to names


class BadInput(Exception):
    pass


class Point(NamedTuple):
    """The result of a row's repetitions: ns per key, line, element or call; GB/s for floor/read."""

    value: float  # the median of the repetitions
    best: float
    slow: float  # the upper quartile; the median if a file does not have it
    unsure: bool = False  # the file says that its repetitions differ too much


class Panel(NamedTuple):
    """The rows that share one set of axes. The fields are the common parts of their names."""

    question: str
    subject: str = ""  # a format, or a hash
    hits: int = 0
    k: int = 0
    mode: str = ""


@dataclass
class Results:
    """One result file."""

    path: str
    context: dict
    cpu: str = ""  # a short name that no other file has
    prefix: str = ""  # cpu with a colon; "" if it is the only file
    compared: bool = True  # whether the library's code was the same as that of other files
    rows: dict[Panel, dict[str, dict[X, Point]]] = field(
        default_factory=dict
    )  # by kernel or peer, then x
    spreads: list[tuple[float, str]] = field(
        default_factory=list
    )  # (range / best, name) for repeated rows
    commands: list[dict] = field(default_factory=list)  # what bench/screen.sh added
    unknown: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    def point(self, panel: Panel, series: str, x: X) -> Point | None:
        return self.rows.get(panel, {}).get(series, {}).get(x)

    def get(self, panel: Panel, series: str, x: X) -> float | None:
        point = self.point(panel, series, x)
        return point.value if point else None

    def fastest(self, panel: Panel, x: X, peers: bool = False) -> tuple[str, Point] | None:
        """Finds the kernel or engine with the best median: its name and its point."""
        there = self.rows.get(panel, {}).items()
        found = [
            (name, by_x[x])
            for name, by_x in there
            if x in by_x and is_peer(name) == peers and name.removeprefix("peer:") not in GUESTS
        ]
        return min(found, key=lambda pair: pair[1].value, default=None)

    def cache_kib(self, level: int) -> float:
        """Returns the size of a level's data cache, or 0 if the system names none."""
        caches = [c for c in self.context["caches"] if c["type"] != "Instruction"]
        return max((c["size"] / 1024 for c in caches if c["level"] == level), default=0)


# ---- reading


def load_all(paths: list[str]) -> list[Results]:
    files = [load(path) for path in paths]
    for f in files:
        f.cpu = cpu_name(f.context)
    for tell_apart in (lambda f: str(f.context.get("commit")), lambda f: f.name, lambda f: f.path):
        names = [f.cpu for f in files]
        for f in files:
            f.cpu += f" ({tell_apart(f)})" if names.count(f.cpu) > 1 else ""
    mark_others(files)
    for f in files:
        f.prefix = f"{f.cpu}: " if len(files) > 1 else ""
    return files


def code_of(results: Results) -> str:
    """Identifies the library's code by git's hash of src/ or, in older files, by the commit."""
    commit = str(results.context.get("commit") or "")
    known = commit and not commit.endswith("-dirty")
    return str(results.context.get("library_tree") or (commit if known else results.path))


def mark_others(files: list[Results]) -> None:
    """Chooses the largest set of files with equal code, or the newest one of such sets, and marks
    all other files. If all files are of one CPU, they compare code, and none is marked."""
    if len({cpu_name(f.context) for f in files}) == 1:
        return
    codes = [code_of(f) for f in files]
    chosen = max(files, key=lambda f: (codes.count(code_of(f)), str(f.context.get("date", ""))))
    for f in files:
        if code_of(f) != code_of(chosen):
            f.compared = False
            f.cpu += MARK


def load(path: str) -> Results:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise BadInput(f"{path}: expected a readable file, found: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{path}: expected google/benchmark's JSON, found something else: {error}"
        ) from None
    members = document if isinstance(document, dict) else {}
    context, rows = members.get("context"), members.get("benchmarks")
    if not isinstance(context, dict) or not isinstance(rows, list):
        found = (
            f"members {', '.join(sorted(members)) or '(none)'}"
            if members is document
            else type(document).__name__
        )
        raise BadInput(
            f'{path}: expected an object with an object "context" and a list "benchmarks", '
            f"found {found}"
        )
    check_caches(path, context)
    results, named = Results(path, context, commands=commands_of(path, members)), {}
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("name"), str):
            found = json.dumps(row)[:80]
            raise BadInput(
                f'{path}: expected each of "benchmarks" to be an object with a name, found {found}'
            )
        named.setdefault(plain(str(row.get("run_name", row["name"]))), []).append(row)
    unsure = {plain(name) for name in str(context.get("unsure", "")).split()}
    for name, repetitions in named.items():
        add_row(results, name, repetitions, name in unsure)
    if not results.rows:
        found = ", ".join((results.unknown + results.failed)[:3]) or "none"
        example = "screen/leveldb/scalar/KiB:256/hits:0/k:6/with-hash"
        raise BadInput(f"{path}: expected rows such as {example}, found {found}")
    return results


def commands_of(path: str, members: dict) -> list[dict]:
    """Returns the commands: each has a name, lines_per_second and peak_kib."""
    commands = members.get("commands", [])
    for command in commands if isinstance(commands, list) else [commands]:
        numbers = ("lines_per_second", "peak_kib")
        if not isinstance(command, dict) or not all(
            isinstance(command.get(key), (int, float)) and command[key] > 0 for key in numbers
        ):
            raise BadInput(
                f"{path}: expected commands with lines_per_second and peak_kib, found "
                f"{json.dumps(command)[:80]}"
            )
    return commands


def plain(name: str) -> str:
    """Returns a row's name without the parts that google/benchmark adds."""
    return "/".join(part for part in name.split("/") if not RUN_OPTION.match(part))


def check_caches(path: str, context: dict) -> None:
    caches = context.setdefault("caches", [])
    for cache in caches if isinstance(caches, list) else [caches]:
        whole = isinstance(cache, dict) and {"type", "level", "size"} <= cache.keys()
        if not whole or not isinstance(cache["size"], int):
            found = json.dumps(cache)[:80]
            raise BadInput(
                f"{path}: expected caches with type, level and size in the context, found {found}"
            )


def add_row(results: Results, name: str, repetitions: list[dict], unsure: bool) -> None:
    match = next(filter(None, (pattern.fullmatch(name) for pattern in NAMES)), None)
    errors = [
        str(row.get("error_message") or "no reason given")
        for row in repetitions
        if row.get("error_occurred")
    ]
    if not match or errors:
        (results.failed if match else results.unknown).append(
            f"{name} ({errors[0]})" if errors else name
        )
        return
    part = match.groupdict()
    subject = part.get("subject") or ""
    panel = Panel(
        part["question"],
        GUESTS.get(subject, subject),
        int(part.get("hits") or 0),
        int(part.get("k") or 0),
        part.get("mode") or "",
    )
    point, spread = summary(results.path, name, repetitions, panel.question, part["series"])
    x = int(part["x"]) if part["x"] else part["text"]
    by_x = results.rows.setdefault(panel, {}).setdefault(part["series"], {})
    by_x[x] = point._replace(unsure=unsure)
    if spread is not None:
        results.spreads.append((spread, name))


def summary(
    path: str, name: str, repetitions: list[dict], question: str, series: str
) -> tuple[Point, float | None]:
    """Returns the median, best and upper quartile, and range / best of several repetitions."""
    by_kind: dict[str | None, list[dict]] = {}
    for row in repetitions:
        by_kind.setdefault(row.get("aggregate_name"), []).append(row)
    if None in by_kind:
        times = sorted(measure(path, row, question, series) for row in by_kind[None])
        quartiles = statistics.quantiles(times, method="inclusive") if times[1:] else times * 3
        best, slow = times[0], quartiles[2]
        if (question, series) == ("floor", "read"):  # GB/s: more is better
            best, slow = times[-1], quartiles[0]
        spread = (times[-1] - times[0]) / best if times[1:] else None
        return Point(statistics.median(times), best, slow), spread
    middle = (by_kind.get("median") or by_kind.get("mean") or [None])[0]
    if not middle:
        found = ", ".join(map(str, by_kind))
        raise BadInput(
            f"{path}: expected an iteration, a median or a mean of row {name!r}, found {found}"
        )
    value = measure(path, middle, question, series)
    clock = "real_time" if "/real_time" in middle["name"] or question == "load" else "cpu_time"

    def end(kind: str) -> float:
        """Computes an end of an error bar from times, because rates are aggregated separately."""
        row = by_kind.get(kind, [middle])[0]
        ratio = over(row.get(clock), middle.get(clock)) or 1
        return value / ratio if (question, series) == ("floor", "read") else value * ratio

    return Point(value, end("min"), end("upper_quartile")), None


def measure(path: str, row: dict, question: str, series: str) -> float:
    def number(key: str) -> float:
        value = row.get(key)
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not 0 < value < math.inf
        ):
            raise BadInput(
                f"{path}: expected a positive number as {key} of row {row['name']!r}, "
                f"found {value!r}"
            )
        return value

    if question == "floor" and series == "read":
        return number("bytes_per_second") / 1e9
    if question != "load":
        return 1e9 / number("items_per_second")
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}  # loading is measured per call
    unit = row.get("time_unit")
    if unit not in list(units):
        raise BadInput(
            f"{path}: expected ns, us, ms or s as time_unit of row {row['name']!r}, found {unit!r}"
        )
    return number("real_time") * units[unit]


# ---- order and words


def is_peer(series: str) -> bool:
    return series.startswith("peer:")


def in_order(names: Iterable[str]) -> list[str]:
    """Sorts: first scalar, then the other kernels (avx2 before avx512), then peers."""

    def rank(name: str) -> tuple:
        natural = [
            (part.isdigit(), int(part) if part.isdigit() else 0, part)
            for part in re.split(r"(\d+)", name)
        ]
        return is_peer(name), name != "scalar", natural

    return sorted(set(names), key=rank)


def panels_of(files: list[Results], question: str, **wanted) -> list[Panel]:
    def rank(panel: Panel) -> tuple:
        return FORMATS.index(panel.subject) if panel.subject in FORMATS else len(FORMATS), panel

    found = {panel for f in files for panel in f.rows if panel.question == question}
    return sorted(
        (p for p in found if all(getattr(p, key) == value for key, value in wanted.items())),
        key=rank,
    )


def series_of(files: list[Results], panels: list[Panel]) -> list[str]:
    return in_order(series for f in files for panel in panels for series in f.rows.get(panel, {}))


def xs_of(files: list[Results], panels: list[Panel]) -> list[X]:
    return xs_in_order(
        x
        for f in files
        for panel in panels
        for by_x in f.rows.get(panel, {}).values()
        for x in by_x
    )


def xs_in_order(xs: Iterable[X]) -> list[X]:
    return sorted(set(xs), key=lambda x: (isinstance(x, str), x))


def size_name(kib: float) -> str:
    power = 2 if kib >= 1 << 20 else 1 if kib >= 1 << 10 else 0
    return f"{kib / 1024**power:.4g} {'KMG'[power]}iB"


def x_name(question: str, x: X) -> str:
    if question in ("batch", "many", "threads", "command"):
        return f"{x:,}"
    if isinstance(x, str):
        return x.removeprefix("lengths:") + (" B" if x != "words" else "")
    return f"{x} B" if question in ("hash", "keys") else size_name(x)


def digits(value: float | None) -> str:
    """Writes three significant digits without an exponent; a dash if there is no row."""
    if value is None:
        return "–"
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.{max(0, 2 - math.floor(math.log10(rounded)))}f}"


def over(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


# ---- the floor


def accesses(panel: Panel) -> float:
    """Returns the least number of random accesses that a key needs."""
    if not panel.subject.startswith("leveldb"):
        return 1  # RocksDB's formats store a key's bits in one line
    if panel.question == "build":
        return MAIN_K
    k = panel.k or MAIN_K
    negative = (1 - FILL**k) / (1 - FILL)
    return negative + (k - negative) * panel.hits / 100


def floor_of(results: Results, panel: Panel) -> dict[X, float]:
    """Returns the least ns per key, by filter size or number of threads. Each access takes the
    best time of a prefetched line or, for reading, of a gathered element if that is faster."""
    threads = panel.question == "threads"
    kinds = {"screen": ("line", "gather"), "build": ("line",), "threads": ("line",)}
    floor = results.rows.get(Panel("floor", mode=panel.mode if threads else ""), {})
    measured = [floor.get(kind, {}) for kind in kinds.get(panel.question, ())]
    xs = sorted({x for by_x in measured for x in by_x})
    return {x: accesses(panel) * min(by_x[x].best for by_x in measured if x in by_x) for x in xs}
