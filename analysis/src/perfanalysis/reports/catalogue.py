"""What there is to show: in a run, and by the kinds of workloads whether or not it occurred in this one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from perfanalysis.drawing.blocks import Note, Section, Table
from perfanalysis.drawing.charts import Figure
from perfanalysis.reports.content import Content

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
    here = [row for section in _each(content) for row in _rows(section)]
    names = {row[1] for row in here}
    absent = [
        (section, name, "not in this run", "" if kind == "run" else f"of the kind {kind}")
        for kind, of in catalogue().items()
        for section, own in of.items()
        for name in (own or [section])
        if name not in names
    ]
    return list(dict.fromkeys([*here, *absent]))


def _each(content: Content) -> list[Section]:
    return [*(section for group in content.groups for section in group.sections), *content.sections]


def _rows(section: Section) -> list[tuple[str, str, str, str]]:
    rows = [
        (section.name, block.name, _kind(block), getattr(block, "title", section.title))
        for block in section.blocks
        if not isinstance(block, Note)
    ]
    return rows or [(section.name, section.name, "text", section.title)]


def _kind(block: object) -> str:
    return "plot" if isinstance(block, Figure) else "table" if isinstance(block, Table) else "text"
