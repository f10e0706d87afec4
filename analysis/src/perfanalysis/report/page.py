"""The report's page: one HTML file that needs nothing else, made from templates that ship with the package."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from perfanalysis.charts.embed import embedded
from perfanalysis.charts.model import Figure
from perfanalysis.charts.palette import DARK, LIGHT, SOLID
from perfanalysis.discover import Run
from perfanalysis.documents import listing, mapping, parse_time
from perfanalysis.pipeline import RunAnalysis
from perfanalysis.report.arrange import Passage
from perfanalysis.sections import Failure, Note, Remarks, Table, Tiles, duration

FEWEST_TO_SORT = 3
"""Rows from which on a reader can order a table."""


@dataclass(frozen=True)
class Drawn:
    """A figure, the recording it belongs to (empty: the run), its PNG file, and its SVG file where one is written."""

    recording: str
    figure: Figure
    file: str
    svg: str = ""


@dataclass(frozen=True)
class Fact:
    """A line of the page's head."""

    label: str
    text: str
    detail: str = ""


@dataclass(frozen=True)
class Head:
    """What a report is about, above its sections; `reason` has what, why and where."""

    title: str
    flow: str
    status: str
    marks: tuple[str, ...]
    reason: dict[str, str]
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Sheet:
    """A report ready to be written: its head, what it shows, and the way from its folder to the run directory."""

    head: Head
    passages: tuple[Passage, ...]
    base: str
    twin: str
    """The file of the other form: the Markdown's for the page."""


def render_page(sheet: Sheet, drawn: tuple[Drawn, ...]) -> str:
    """The page's text; the same run gives the same text."""
    template = page_environment(drawn, sheet.base).get_template("index.html.j2")
    return template.render(head=sheet.head, passages=sheet.passages, twin=sheet.twin, assets=page_assets())


def page_environment(drawn: Iterable[Drawn], base: str = "") -> Environment:
    """What the templates of pages need: blocks told apart, and charts collected as they are shown.

    `base` leads from the page's folder to the directory that links of cells are in.
    """
    environment = Environment(
        loader=PackageLoader("perfanalysis.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    kinds = {"figure": Figure, "table": Table, "note": Note, "tiles": Tiles, "remarks": Remarks, "failure": Failure}
    for name, kind in kinds.items():
        environment.tests[name] = lambda block, kind=kind: isinstance(block, kind)
    charts = _Charts(drawn)
    environment.globals["chart"] = charts.register
    environment.globals["chart_data"] = charts.text
    environment.globals["href"] = lambda path: href(base, path)
    environment.globals["sortable"] = lambda table: table.sort or len(table.rows) >= FEWEST_TO_SORT
    return environment


def href(base: str, path: str) -> str:
    """A link to a file or folder of the run, relative to the report's folder, so that both can be moved."""
    return quote(f"{base}/{path}" if base else path)


class _Charts:
    """Collects the figures that the templates show, for the script that draws them."""

    def __init__(self, drawn: Iterable[Drawn]) -> None:
        self.data: dict[str, Any] = {}
        self._files = {id(item.figure): item for item in drawn}

    def register(self, figure: Figure, anchor: str) -> dict[str, str]:
        """Take a figure in; returns the identifier its element must have, and its files."""
        wanted = f"chart-{anchor}{figure.name}"
        taken = sum(name == wanted or name.startswith(f"{wanted}--") for name in self.data)
        identifier = f"{wanted}--{taken + 1}" if taken else wanted
        self.data[identifier] = embedded(figure)
        item = self._files[id(figure)]
        return {"id": identifier, "file": item.file, "svg": item.svg}

    def text(self) -> Markup:
        """All figures taken in so far, as JSON that cannot end the script element it stands in."""
        return _json(self.data)


def _json(value: object) -> Markup:
    data = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(data.replace("<", "\\u003c"))  # noqa: S704


def page_assets() -> dict[str, Markup]:
    """Style and script, which stand in the page itself; the script begins with the colours of layers."""
    folder = files("perfanalysis.report") / "templates"
    # Markup is safe here: both are files of this package, none of their text comes from a run.
    css, script = (Markup((folder / file).read_text(encoding="utf-8")) for file in ("style.css", "charts.js"))  # noqa: S704
    colours = _json({"light": LIGHT, "dark": DARK, "solid": SOLID})
    return {"css": css, "js": Markup("const PALETTE = {};\n{}").format(colours, script)}


def head_of(result: RunAnalysis, title: str = "") -> Head:
    """The head of a run's report."""
    run = result.run
    return Head(
        title=title or run.id,
        flow=str(run.document.get("flow") or "run"),
        status=run.status,
        marks=result.marks,
        reason=_reason(run.document.get("reason")),
        facts=_facts(run, run.id if title else ""),
    )


def _reason(reason: object) -> dict[str, str]:
    known = reason if isinstance(reason, dict) else {"what": reason}
    return {name: str(known.get(name) or "") for name in ("what", "why", "where")}


def _facts(run: Run, identifier: str) -> tuple[Fact, ...]:
    document = run.document
    started, ended = parse_time(document.get("started")), parse_time(document.get("ended"))
    length = duration(ended - started) if started is not None and ended is not None else ""
    cluster = mapping(document.get("cluster"))
    version = str(cluster.get("version") or "")
    facts = (
        Fact("Run", identifier),
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
