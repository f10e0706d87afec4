"""Layouts: which sections a report has, in which order, and the names to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal

from perfanalysis.drawing.blocks import Note, Section, Table
from perfanalysis.drawing.charts import Figure
from perfanalysis.errors import UsageError
from perfanalysis.files.typed_yaml import load_typed
from perfanalysis.reports.content import Content

SCHEMA = "psap.perf/report/1"
EVERYTHING = "*"
MAIN = "index"
"""The report that is called index.html and report.md; others are called by their id."""
TAKEN = ("report", "comparison", "regression")
"""Files of these names are written by others."""
Asked = str | int | float | bool | tuple[str | int | float | bool, ...]
Where = Mapping[str, Asked]
WHERE_HELP = (
    "only recordings of which each named thing has this value, or one of these values: recording, cell, a setting that "
    "the cells vary, a fact such as model; * and ? stand for any letters"
)
NAMES_HELP = (
    "names of sections, or of single plots and tables; section.name where a name stands in several; * and ? stand for "
    "any letters, and * alone for every section that is not named"
)


@dataclass(frozen=True)
class Entry:
    """Sections, plots and tables under a heading of the team's own, or of some recordings only."""

    generate: Annotated[tuple[str, ...], NAMES_HELP]
    section: Annotated[str, "a heading above all of them in place of their own"] = ""
    text: Annotated[str, "a sentence below that heading"] = ""
    where: Annotated[Where, WHERE_HELP] = field(default_factory=dict)
    at: str = ""


@dataclass(frozen=True)
class Page:
    """One report."""

    id: Annotated[str, "the report's files: index is index.html and report.md, any other ID is ID.html and ID.md"]
    generate: Annotated[tuple[str | Entry, ...], f"what it shows, in this order: {NAMES_HELP}; or parts"]
    title: Annotated[str, "what it is called; by default the run's id"] = ""
    where: Annotated[Where, WHERE_HELP] = field(default_factory=dict)
    at: str = ""

    @property
    def stem(self) -> tuple[str, str]:
        """The names of the page and of its Markdown twin."""
        return (f"{MAIN}.html", "report.md") if self.id == MAIN else (f"{self.id}.html", f"{self.id}.md")

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What it shows, each entry as a part."""
        return tuple(Entry((entry,), at=self.at) if isinstance(entry, str) else entry for entry in self.generate)


@dataclass(frozen=True)
class Layout:
    """report.yml: the reports of a run. Readers refuse what they do not know."""

    schema: Annotated[Literal["psap.perf/report/1"], "always this"]
    visualize: Annotated[tuple[Page, ...], "the reports"]


def read_layout(path: Path) -> Layout:
    """Read a report.yml. Raises UsageError with file and line."""
    layout = load_typed(path, Layout)
    seen: set[str] = set()
    for page in layout.visualize:
        if page.id in TAKEN or not page.id.replace("-", "_").isidentifier():
            raise UsageError(f"{page.at}: a report cannot have the id {page.id!r}; use letters, digits, - and _")
        if page.id in seen:
            raise UsageError(f"{page.at}: two reports have the id {page.id}; each needs its own")
        seen.add(page.id)
    if not layout.visualize:
        raise UsageError(f"{path}: visualize is empty: it needs one report at least")
    return layout


@cache
def default_layout() -> Layout:
    """The layout that ships with the package: everything, in reading order."""
    with as_file(files("perfanalysis.reports") / "default_layout.yml") as path:
        return read_layout(path)


FILE = "known_names.yml"


@cache
def catalogue() -> dict[str, dict[str, list[str]]]:
    """Plots and tables by kind of workload (`run`: of the run itself) and by section."""
    import yaml

    loaded: dict[str, Any] = yaml.safe_load((files("perfanalysis.reports") / FILE).read_text(encoding="utf-8"))
    return {kind: {section: list(names or ()) for section, names in of.items()} for kind, of in loaded.items()}


@cache
def known_names() -> frozenset[str]:
    """Every name of a section, plot or table that the kinds of workloads know."""
    sections = [(section, names) for of in catalogue().values() for section, names in of.items()]
    return frozenset(name for section, names in sections for name in (section, *names))


def listed(content: Content) -> list[tuple[str, str, str, str]]:
    """Section, name, what it is, and title of all that a run can show; what it has not stands last, with its kind."""
    of_recordings = (section for group in content.groups for section in group.sections)
    here = [row for section in (*of_recordings, *content.sections) for row in _rows(section)]
    names = {row[1] for row in here}
    absent = [
        (section, name, "not in this run", "" if kind == "run" else f"of the kind {kind}")
        for kind, of in catalogue().items()
        for section, own in of.items()
        for name in (own or [section])
        if name not in names
    ]
    return list(dict.fromkeys([*here, *absent]))


def _rows(section: Section) -> list[tuple[str, str, str, str]]:
    rows = []
    for block in section.blocks:
        if not isinstance(block, Note):
            kind = "plot" if isinstance(block, Figure) else "table" if isinstance(block, Table) else "text"
            rows.append((section.name, block.name, kind, getattr(block, "title", section.title)))
    return rows or [(section.name, section.name, "text", section.title)]
