"""The contents of a report as data: sections of figures, tables and notes, which every kind of workload returns."""

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
"""The number of places listed for one finding."""


@dataclass(frozen=True)
class Field:
    """A column of a table. Numbers are right-aligned; `unit` follows the heading. A badge is the word of a verdict.

    A span shows each cell's part of the length of the whole column.
    """

    name: str
    kind: Literal["text", "number", "code", "status", "badge", "span"] = "text"
    unit: str = ""
    help: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        detail: Small print below the value, such as an interval.
        reason: Why the value is missing.
        sort: The number that orders rows; by default, the text does.
        link: Path of a file or folder in the run directory.
        span: Start and length of a bar, in percent; its colour is `detail`, a status.
        verdict: The verdict on the value, if any.
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
    """Return whether a reader can order the rows by any column, even if there are few."""

    @property
    def name(self) -> str:
        """Return its name in `report.yml`: the title in lower case, words joined by `_`."""
        return identifier(self.title)

    @property
    def search(self) -> bool:
        """Return whether a reader can search the rows: if they do not all fit on a screen."""
        return len(self.rows) > MOST_WITHOUT_SEARCH


@dataclass(frozen=True)
class Note:
    """A sentence that explains missing content, or comments on the content above it."""

    text: str


@dataclass(frozen=True)
class Tile:
    """A headline: name, value, and a sentence of explanation."""

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
    """A file or folder of the run: `path` in the run directory; `detail`, such as its size."""

    path: str
    text: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Remarks:
    """Findings about the data; `links` has the places that are paths in the run directory."""

    findings: tuple[Finding, ...]
    links: frozenset[str]
    name: str = "findings"

    def grouped(self) -> tuple[tuple[Finding, tuple[str, ...]], ...]:
        """Return findings with equal texts once, with their places or the first of many; notes come last."""
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
    """The end of a log, and the path of the complete log."""

    link: Link
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """A failure: its name, its task's file and line, its message, the end of its logs, and captured files."""

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
    """Return a title as a name: lower case, without apostrophes, words joined by `_`."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub("['\u2019]", "", title.lower())).strip("_")


DASH = "\u2013"


def number(value: float, digits: int = 3) -> str:
    """Format a number: integers exactly, other numbers with a number of significant digits; never with an exponent."""
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{places}f}".replace(",", "\u202f")


WHOLE = frozenset(unit.name for unit in TABLE if unit.reason == COUNTED)
"""Units of counts: a whole number of them is shown exactly, 40 pods and not 40.0."""


def quantity(value: float, unit: str) -> str:
    """Format a number with its unit; seconds below one as milliseconds, ratios as percent."""
    if unit == "seconds":
        return duration(value)
    if unit == "seconds/run":
        return f"{duration(value)}/run"
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
    """Format bytes as B, kB, MB or GB."""
    factor, unit = next((pair for pair in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if abs(size) >= pair[0]), (1.0, "B"))
    return f"{number(size / factor)}\u202f{unit}"


def duration(seconds: float) -> str:
    """Format a duration as µs, ms, s or min."""
    magnitude = abs(seconds)
    if magnitude >= 600:
        return f"{number(seconds / 60)}\u202fmin"
    if magnitude >= 1 or magnitude == 0:
        return f"{number(seconds)}\u202fs"
    if magnitude >= 0.001:
        return f"{number(1000 * seconds)}\u202fms"
    return f"{number(1e6 * seconds, 2)}\u202fµs"
