"""The contents of a report as data: sections of figures, tables and notes. Every kind of workload gives these."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from perfanalysis.drawing.charts import Figure
from perfanalysis.files.findings import Finding
from perfanalysis.units import COUNTED, TABLE

MOST_WITHOUT_SEARCH = 8
MOST_PLACES = 3
"""Places of one finding that are named."""


@dataclass(frozen=True)
class Field:
    """A column of a shown table. Numbers stand right; `unit` goes behind the heading. A badge is a verdict's word.

    A span shows each cell's part of the whole column's length.
    """

    name: str
    kind: Literal["text", "number", "code", "status", "badge", "span"] = "text"
    unit: str = ""
    help: str = ""


@dataclass(frozen=True)
class Cell:
    """A shown value. `detail` is small print below it, an interval for example; a missing value has `reason`.

    `sort` is the number that rows are ordered by; without one the text is. `link` is the path of a file or folder in
    the run directory. `span` is where a bar begins and how long it is, in percent; its colour is `detail`, a status.
    `verdict` is the word about the value, where there is one.
    """

    text: str
    detail: str = ""
    reason: str = ""
    sort: float | None = None
    link: str = ""
    span: tuple[float, float] | None = None
    verdict: str = ""


@dataclass(frozen=True)
class Table:
    """A table of a report."""

    title: str
    fields: tuple[Field, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    sort: bool = False
    """Whether a reader can order the rows by any column, few as they may be."""

    @property
    def name(self) -> str:
        """What `report.yml` calls it: its title in lower case, words joined by `_`."""
        return identifier(self.title)

    @property
    def search(self) -> bool:
        """Whether a reader can search its rows: where they are more than are seen at once."""
        return len(self.rows) > MOST_WITHOUT_SEARCH


@dataclass(frozen=True)
class Note:
    """A sentence in place of what could not be shown, or below what is."""

    text: str


@dataclass(frozen=True)
class Tile:
    """A headline: what it is called, its value, and the sentence that says what it is."""

    label: str
    value: Cell
    help: str


@dataclass(frozen=True)
class Tiles:
    """Headlines side by side."""

    tiles: tuple[Tile, ...]
    name: str = "headlines"


@dataclass(frozen=True)
class Link:
    """A file or folder of the run: `path` in the run directory; `detail` is its size, for example."""

    path: str
    text: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Remarks:
    """What the reader must know about the data; `links` has what findings name as paths in the run directory."""

    findings: tuple[Finding, ...]
    links: frozenset[str]
    name: str = "findings"

    def told(self) -> tuple[tuple[Finding, tuple[str, ...]], ...]:
        """The findings, those of the same words once, with their places or the first of many; notes come last."""
        places: dict[tuple[str, str], list[Finding]] = {}
        for one in self.findings:
            places.setdefault((one.severity, one.text), []).append(one)
        found = [(same[0], _first_few([one.where for one in same])) for same in places.values()]
        return tuple(sorted(found, key=lambda one: one[0].severity == "note"))


def _first_few(places: list[str]) -> tuple[str, ...]:
    more = len(places) - MOST_PLACES
    return (*places[:MOST_PLACES], *((f"and {more} more",) if more > 0 else ()))


@dataclass(frozen=True)
class Log:
    """The end of a log, and where the whole of it is."""

    link: Link
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """Something that failed: what, its task's file and line, its message, the end of its logs, what was captured."""

    title: str
    word: str
    what: str
    where: str
    why: str
    directory: Link | None
    logs: tuple[Log, ...] = ()
    captured: tuple[Link, ...] = ()
    name: str = "failure"


Block = Figure | Table | Note | Tiles | Remarks | Failure


@dataclass(frozen=True)
class Section:
    """A part of the report with a heading."""

    name: str
    title: str
    text: str
    blocks: tuple[Block, ...]


def identifier(title: str) -> str:
    """A title as a name: lower case, without apostrophes, words joined by `_`."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub("['\u2019]", "", title.lower())).strip("_")


DASH = "\u2013"


def number(value: float, digits: int = 3) -> str:
    """A number for readers: whole numbers (int) exactly, others with so many significant digits; no exponent."""
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{places}f}".replace(",", "\u202f")


WHOLE = frozenset(unit.name for unit in TABLE if unit.reason == COUNTED)
"""Units of what is counted: a whole number of them is shown exactly, 40 pods and not 40.0."""


def quantity(value: float, unit: str) -> str:
    """A number with its unit; seconds below one are shown as milliseconds, ratios as percent."""
    if unit == "seconds":
        return duration(value)
    if unit == "ratio":
        return f"{number(100 * value)}\u202f%"
    if unit == "bytes":
        return data_size(value)
    if unit.endswith("/s") and unit != "Gbit/s":
        return f"{number(value)}\u202f/s"
    if unit in WHOLE - {"count", "workloads"} and value == round(value):
        return f"{number(round(value))}\u202f{unit}"
    return number(round(value)) if unit in ("count", "workloads") else f"{number(value)}\u202f{unit}"


def data_size(size: float) -> str:
    """Bytes for readers: B, kB, MB or GB."""
    factor, unit = next((pair for pair in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if abs(size) >= pair[0]), (1.0, "B"))
    return f"{number(size / factor)}\u202f{unit}"


def duration(seconds: float) -> str:
    """A duration for readers: µs, ms, s or min."""
    magnitude = abs(seconds)
    if magnitude >= 600:
        return f"{number(seconds / 60)}\u202fmin"
    if magnitude >= 1 or magnitude == 0:
        return f"{number(seconds)}\u202fs"
    if magnitude >= 0.001:
        return f"{number(1000 * seconds)}\u202fms"
    return f"{number(1e6 * seconds, 2)}\u202fµs"
