"""The report's page, and its head."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from perfanalysis.drawing.blocks import duration
from perfanalysis.drawing.page import Drawn, page_assets, page_environment
from perfanalysis.files.discovery import Run
from perfanalysis.files.documents import Document, listing, mapping, parse_time
from perfanalysis.reports.arrange import Passage
from perfanalysis.workloads.run_analysis import RunAnalysis


@dataclass(frozen=True)
class Fact:
    """A line of the page's head."""

    label: str
    text: str
    detail: str = ""


@dataclass(frozen=True)
class Head:
    """The subject of a report, above its sections; `reason` has what, why and where."""

    title: str
    flow: str
    status: str
    marks: tuple[str, ...]
    reason: dict[str, str]
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Sheet:
    """A report to write: its head, its contents, and the path from its folder to the run directory."""

    head: Head
    passages: tuple[Passage, ...]
    base: str
    twin: str
    """The file of the other format: the Markdown's for the page."""


def render_page(sheet: Sheet, drawn: tuple[Drawn, ...]) -> str:
    """Return the page's text; equal runs have equal texts."""
    template = page_environment(drawn, sheet.base).get_template("index.html.j2")
    return template.render(head=sheet.head, passages=sheet.passages, twin=sheet.twin, assets=page_assets())


def head_of(result: RunAnalysis, title: str = "") -> Head:
    """Return the head of a run's report."""
    run = result.run
    return Head(
        title=title or run.id,
        flow=str(run.document.get("flow") or "run"),
        status=run.status,
        marks=result.phrases,
        reason=_reason(run.document.get("reason")),
        facts=_facts(run, run.id if title else ""),
    )


def _reason(reason: object) -> dict[str, str]:
    known = reason if isinstance(reason, dict) else {"what": reason}
    return {name: str(known.get(name) or "") for name in ("what", "why", "where")}


def _facts(run: Run, identifier: str) -> tuple[Fact, ...]:
    document = run.document
    started, seconds = parse_time(document.get("started")), _seconds_taken(document)
    length = duration(seconds) if seconds is not None else ""
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


def _seconds_taken(document: Document) -> float | None:
    """Return the duration of all attempts, without the time between them; None if the end of one is unknown."""
    attempts = [mapping(each) for each in listing(document.get("attempts"))] or [document]
    spans = [(parse_time(each.get("started")), parse_time(each.get("ended"))) for each in attempts]
    seconds = [ended - started for started, ended in spans if started is not None and ended is not None]
    return sum(seconds) if len(seconds) == len(spans) else None


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
