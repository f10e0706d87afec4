"""Layouts: the sections of a report, their order, and the names to choose from."""

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
"""The report that is called index.html and report.md; others have their id as name."""
TAKEN = ("report", "comparison", "regression")
"""Other writers use these file names."""
Asked = str | int | float | bool | tuple[str | int | float | bool, ...]
Where = Mapping[str, Asked]
WHERE_HELP = (
    "show only recordings whose properties all match: recording, cell, a setting that the cells vary, or a "
    "fact such as model, each with a value or a list of values; * and ? are wildcards"
)
NAMES_HELP = (
    "names of sections, or of single plots and tables; write section.name if several sections have the name; "
    "* and ? are wildcards, and * alone stands for all sections not listed"
)


@dataclass(frozen=True)
class Entry:
    """Sections, plots and tables under a custom heading, or of some recordings only."""

    generate: Annotated[tuple[str, ...], NAMES_HELP]
    section: Annotated[str, "heading above all of them, instead of their own headings"] = ""
    text: Annotated[str, "sentence below that heading"] = ""
    where: Annotated[Where, WHERE_HELP] = field(default_factory=dict)
    at: str = ""


@dataclass(frozen=True)
class Page:
    """One report."""

    id: Annotated[str, "files of the report: index is index.html and report.md, any other ID is ID.html and ID.md"]
    generate: Annotated[tuple[str | Entry, ...], f"contents in this order: {NAMES_HELP}; or parts"]
    title: Annotated[str, "title; by default the run's id"] = ""
    where: Annotated[Where, WHERE_HELP] = field(default_factory=dict)
    at: str = ""

    @property
    def stem(self) -> tuple[str, str]:
        """Return the names of the page and of its Markdown version."""
        return (f"{MAIN}.html", "report.md") if self.id == MAIN else (f"{self.id}.html", f"{self.id}.md")

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return its contents, each entry as a part."""
        return tuple(Entry((entry,), at=self.at) if isinstance(entry, str) else entry for entry in self.generate)


@dataclass(frozen=True)
class Layout:
    """report.yml: the reports of a run. Unknown keys are errors."""

    schema: Annotated[Literal["psap.perf/report/1"], "always this"]
    visualize: Annotated[tuple[Page, ...], "the reports"]


def read_layout(path: Path) -> Layout:
    """Read a report.yml. Raises UsageError with file and line."""
    layout = load_typed(path, Layout)
    seen: set[str] = set()
    for page in layout.visualize:
        if page.id in TAKEN or not page.id.replace("-", "_").isidentifier():
            raise UsageError(f"{page.at}: invalid report id {page.id!r}; use letters, digits, - and _")
        if page.id in seen:
            raise UsageError(f"{page.at}: two reports have the id {page.id}; rename one")
        seen.add(page.id)
    if not layout.visualize:
        raise UsageError(f"{path}: visualize is empty; add at least one report")
    return layout


@cache
def default_layout() -> Layout:
    """Return the default layout of the package: everything, in reading order."""
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
    """Return every name of a section, plot or table that the kinds of workloads have."""
    sections = [(section, names) for of in catalogue().values() for section, names in of.items()]
    return frozenset(name for section, names in sections for name in (section, *names))


def listed(content: Content) -> list[tuple[str, str, str, str]]:
    """Return section, name, type and title of everything that a run can show; missing ones last, with their kind."""
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
