"""Descriptions of a run: a line, a page, JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from perfanalysis.drawing.wording import shortened
from perfanalysis.files.discovery import lab_of
from perfanalysis.output import Drawn, drawing_stream, one_line
from rich.console import Console

from perfdrv.project import shown_path
from perfdrv.runs.bookings import bookings
from perfdrv.runs.durations import duration_text, seconds_between, step_seconds, utc_now, when_text
from perfdrv.runs.outcome import read_outcome, verdict_text
from perfdrv.runs.store import RunEntry
from perfdrv.runs.tree import Step
from perfdrv.views.ending import ending_lines
from perfdrv.views.live import steps_table
from perfdrv.views.percentiles import percentile_lines
from perfdrv.views.remarks import remark_text


def run_row(entry: RunEntry) -> tuple[str, ...]:
    """Return the row of a run in the list; its id begins with the flow."""
    return (
        entry.id,
        # a run.json from elsewhere may contain any text
        shortened(entry.status, len("interrupted")),
        shortened(str(entry.verdict.get("status") or ""), len("not judged")),
        when_text(entry.document.get("started")),
        duration_text(_took(entry)),
        entry.reason,
    )


def run_summary(entry: RunEntry) -> dict[str, Any]:
    """Return run.json with the current status, as JSON."""
    return {**entry.document, "id": entry.id, "status": entry.status, "directory": str(entry.directory)}


def step_document(step: Step, run_directory: Path) -> dict[str, Any]:
    """Return a step and the steps below it as JSON."""
    return {
        "directory": str(step.directory.relative_to(run_directory)),
        "kind": step.kind,
        "name": step.name,
        "status": step.status or None,
        "started": step.started,
        "ended": step.ended,
        "error": step.error or None,
        "values": step.values,
        "progress": step.progress,
        "steps": [step_document(child, run_directory) for child in step.children],
    }


def run_details(entry: RunEntry, steps: Sequence[Step]) -> None:
    """Print everything about a run."""
    for label, text in _facts(entry):
        if text:
            click.echo(f"{label:<10}{one_line(text)}")
    if entry.status not in ("running", "ok", "damaged"):
        for line in ending_lines(read_outcome(entry.directory), str(entry.document.get("flow")), _took(entry) or 0)[1:]:
            click.echo(line)
    if not steps:
        return
    click.echo()
    console = Console(file=drawing_stream())
    if console.is_terminal:
        console.print(Drawn(steps_table(steps, utc_now(), None)))
    else:
        for step in _all(steps):
            click.echo(_step_line(step, entry.directory))
    for step in _all(steps):
        lines = percentile_lines(step.progress or {})
        if lines:
            so_far = " so far" if step.status == "running" else ""
            click.echo("\n".join((f"\n{step.directory.relative_to(entry.directory)}{so_far}", *lines)))


def _all(steps: Sequence[Step]) -> list[Step]:
    return [step for top in steps for step in top.walk()]


def _facts(entry: RunEntry) -> list[tuple[str, str]]:
    document = entry.document
    report = entry.directory / "report" / "index.html"
    return [
        ("run", entry.id),
        ("flow", str(document.get("flow", ""))),
        ("status", entry.status),
        ("verdict", verdict_text(entry.verdict)),
        ("started", when_text(document.get("started"))),
        ("took", duration_text(_took(entry))),
        ("site", str(document.get("site") or "")),
        ("presets", ", ".join(map(str, document.get("presets") or []))),
        ("cluster", _cluster_text(document.get("cluster"))),
        ("lab", lab_of(document).line),
        ("booked", "; ".join(each.text(utc_now()) for each in bookings(entry.directory))),
        ("attempts", _attempts_text(document.get("attempts") or [])),
        ("problem", entry.problem),
        ("folder", shown_path(entry.directory)),
        ("report", shown_path(report) if report.is_file() else ""),
    ]


def _took(entry: RunEntry) -> float | None:
    """Return the seconds of all attempts, without the time between them."""
    document = entry.document
    if entry.status == "interrupted" and not document.get("ended"):
        return None
    now = utc_now()
    spans = [seconds_between(each.get("started"), each.get("ended"), now) for each in document.get("attempts") or []]
    return sum(span or 0.0 for span in spans) if spans else None


def _cluster_text(cluster: Any) -> str:
    if not isinstance(cluster, Mapping):
        return ""
    return ", ".join(str(cluster[key]) for key in ("server", "version") if cluster.get(key))


def _attempts_text(attempts: Sequence[Mapping[str, Any]]) -> str:
    if len(attempts) < 2:
        return ""
    return ", ".join(f"{attempt.get('number')} {attempt.get('status')}" for attempt in attempts)


def _step_line(step: Step, run_directory: Path) -> str:
    now = utc_now()
    place = str(step.directory.relative_to(run_directory))
    took = duration_text(step_seconds(step.status, step.started, step.ended, now))
    return "  ".join(filter(None, (f"{step.status or step.kind:<11} {place}", took, remark_text(step, now))))
