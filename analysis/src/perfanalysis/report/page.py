"""The report's page: one HTML file that needs nothing else, made from templates that ship with the package."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from perfanalysis.charts.embed import embedded
from perfanalysis.charts.model import Figure
from perfanalysis.discover import Run
from perfanalysis.documents import listing, mapping, parse_time
from perfanalysis.pipeline import RunAnalysis
from perfanalysis.report.run_sections import (
    comparison_tables,
    kpi_cell,
    kpi_table,
    recording_label,
    settings_table,
    timeline_bars,
    versions_table,
)
from perfanalysis.sections import Cell, Note, Section, Table, duration

TIMELINE_FILE = "timeline.png"
MOST_DETAILED = 8
"""Recordings whose charts are in the page; those of further ones are PNG files beside it, to keep the page small."""


@dataclass(frozen=True)
class Drawn:
    """A figure, the recording it belongs to (empty: the run), and its PNG file."""

    recording: str
    figure: Figure
    file: str
    compares: bool = False
    """Whether it compares recordings; else, without a recording, it is of the run as a whole."""


@dataclass(frozen=True)
class Fact:
    """A line of the page's head."""

    label: str
    text: str
    detail: str = ""


@dataclass(frozen=True)
class Group:
    """The sections of one recording; `anchor` tells its headings from those of other recordings."""

    anchor: str
    label: str
    sections: tuple[Section, ...]
    detailed: bool


def render_page(result: RunAnalysis, drawn: tuple[Drawn, ...], verdicts: tuple[Table, ...] = ()) -> str:
    """The page's text; the same run gives the same text."""
    template = page_environment(drawn).get_template("index.html.j2")
    context = _context(result, _groups(result), drawn)
    return template.render(**context, verdicts=verdicts, assets=page_assets())


def page_environment(drawn: Iterable[Drawn]) -> Environment:
    """What the templates of pages need: blocks told apart, and charts collected as they are shown."""
    environment = Environment(
        loader=PackageLoader("perfanalysis.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.tests["figure"] = lambda block: isinstance(block, Figure)
    environment.tests["table"] = lambda block: isinstance(block, Table)
    environment.tests["note"] = lambda block: isinstance(block, Note)
    charts = _Charts(drawn)
    environment.globals["chart"] = charts.register
    environment.globals["chart_data"] = charts.text
    return environment


class _Charts:
    """Collects the figures that the templates show, for the script that draws them."""

    def __init__(self, drawn: Iterable[Drawn]) -> None:
        self.data: dict[str, Any] = {}
        self._files = {id(item.figure): item.file for item in drawn}

    def register(self, figure: Figure, anchor: str) -> dict[str, str]:
        """Take a figure in; returns the identifier its element must have, and its PNG file."""
        identifier = f"chart-{anchor}{figure.name}"
        self.data[identifier] = embedded(figure)
        return {"id": identifier, "file": self._files[id(figure)]}

    def text(self) -> Markup:
        """All figures taken in so far, as JSON that cannot end the script element it stands in."""
        data = json.dumps(self.data, separators=(",", ":"), allow_nan=False)
        return Markup(data.replace("<", "\\u003c"))  # noqa: S704


def page_assets() -> dict[str, Markup]:
    """Style and script, which stand in the page itself."""
    folder = files("perfanalysis.report") / "templates"
    # Markup is safe here: both are files of this package, none of their text comes from a run.
    return {name: Markup((folder / file).read_text()) for name, file in (("css", "style.css"), ("js", "charts.js"))}  # noqa: S704


def _groups(result: RunAnalysis) -> tuple[Group, ...]:
    several = len(result.analyses) > 1
    return tuple(
        Group(
            anchor=f"r{place}-" if several else "",
            label=recording_label(analysis, result.run),
            sections=analysis.sections,
            detailed=place < MOST_DETAILED,
        )
        for place, analysis in enumerate(result.analyses)
    )


def _context(result: RunAnalysis, groups: tuple[Group, ...], drawn: tuple[Drawn, ...]) -> dict[str, Any]:
    run = result.run
    return {
        "title": run.id,
        "flow": str(run.document.get("flow") or "run"),
        "status": run.status,
        "reason": _reason(run.document.get("reason")),
        "marks": result.marks,
        "facts": _facts(run),
        "tiles": _tiles(result) if len(result.analyses) == 1 else (),
        "findings": result.findings,
        "failures": [command for command in run.commands if command.failure or command.status == "failed"],
        "groups": groups,
        "comparison": comparison_tables(result) if max(len(result.analyses), len(run.cells)) > 1 else (),
        "comparison_figures": [item.figure for item in drawn if item.compares],
        "kpis": kpi_table(result) if result.analyses else None,
        "settings": settings_table(run),
        "versions": versions_table(run),
        "timeline": next((item.figure for item in drawn if item.file == TIMELINE_FILE), None),
        "run_sections": result.sections,
        "bars": timeline_bars(run),
        "attempts": listing(run.document.get("attempts")),
    }


def _reason(reason: object) -> dict[str, str]:
    known = reason if isinstance(reason, dict) else {"what": reason}
    return {name: str(known.get(name) or "") for name in ("what", "where", "directory")}


def _facts(run: Run) -> tuple[Fact, ...]:
    document = run.document
    started, ended = parse_time(document.get("started")), parse_time(document.get("ended"))
    length = duration(ended - started) if started is not None and ended is not None else ""
    cluster = mapping(document.get("cluster"))
    version = str(cluster.get("version") or "")
    facts = (
        Fact("Started", _moment(started)),
        Fact("Took", length, "" if length else f"status: {run.status}"),
        Fact("Presets", ", ".join(str(name) for name in listing(document.get("presets"))) or "none"),
        Fact("Site", str(document.get("site") or "unknown")),
        Fact("Cluster", version or "unknown", "lab" if document.get("lab") else ""),
        Fact("Commands", str(len(run.commands))),
    )
    return tuple(fact for fact in facts if fact.text or fact.detail)


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _tiles(result: RunAnalysis) -> tuple[tuple[str, Cell, str], ...]:
    """Headline KPIs: label, value, what it is."""
    values = result.analyses[0].kpis
    return tuple((value.headline, kpi_cell(value), value.help) for value in values if value.headline)
