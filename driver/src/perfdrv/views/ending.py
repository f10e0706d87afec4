"""The end of a run: report, last lines of output, exit code."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.run.phases import TOOLBOX_FLOW

from perfdrv.errors import EXIT_OK
from perfdrv.project import shown_path
from perfdrv.runs.durations import duration_text
from perfdrv.runs.outcome import Outcome
from perfdrv.runs.store import run_word
from perfdrv.runs.tree import RunTree, read_document

_REPORT_SETTING = "report_enabled"


def conclude(outcome: Outcome, flow: str, seconds: float, report_wanted: bool) -> int:
    """Generate the report if wanted, print how the run ended, and return the exit code.

    If the report fails, the reason is printed; the exit code does not change.
    """
    report = make_report_of(outcome.directory)[0] if report_wanted and wants_report(outcome.directory) else ""
    # a closed pipe does not change the exit code
    with contextlib.suppress(OSError):
        for line in ending_lines(outcome, flow, seconds):
            click.echo(line, err=outcome.status == "refused")
        # a refused run has no directory
        if outcome.directory.is_dir():
            click.echo(f"run     {shown_path(outcome.directory)}")
        if report:
            click.echo(f"report  {report}")
    return EXIT_OK if outcome.status == "ok" else outcome.exit_code


def ending_lines(outcome: Outcome, flow: str, seconds: float) -> list[str]:
    """Return lines with status and duration, then the first failure: what, why, where, directory."""
    lines = [f"{flow}: {outcome.status} after {duration_text(seconds)}"]
    reason: Mapping[str, Any] = outcome.reason or {}
    for label in ("what", "why", "where"):
        lines += _indented(label, str(reason.get(label) or ""))
    if reason.get("directory"):
        lines += _indented("see", shown_path(outcome.directory / str(reason["directory"])))
    return lines + _indented("next", _next_step(outcome))


def _next_step(outcome: Outcome) -> str:
    """Return the commands that complete an interrupted run (not a single command) and clean up after it."""
    if outcome.status != "interrupted" or not (outcome.directory / "settings.yml").is_file():
        return ""
    document, name = read_document(outcome.directory / "run.json"), run_word(outcome.directory)
    steps = [] if document.get("flow") == TOOLBOX_FLOW else [f"perfdrv run --resume {name} completes it"]
    if not document.get("finalized"):
        steps.append(f"perfdrv runs finalize {name} cleans up after it")
    return "; ".join(steps)


def make_report_of(run_directory: Path) -> tuple[str, bool]:
    """Generate the report of a run; return its path or why it failed, and whether it was generated."""
    try:
        from perfanalysis.reports.writing import make_report

        return shown_path(make_report(run_directory).index), True
    except KeyboardInterrupt:
        return f"not finished; generate it with: perfdrv report {run_word(run_directory)}", False
    except Exception as error:
        return f"failed: {error}; try again with: perfdrv report {run_word(run_directory)}", False


def wants_report(run_directory: Path) -> bool:
    """Return whether the run's settings enable the report, and at least one command ran."""
    path = run_directory / "settings.yml"
    if not path.is_file() or not RunTree(run_directory).steps():
        return False
    entry = read_yaml(path).get("all", {}).get(_REPORT_SETTING, {})
    return bool(entry.get("value", True))


def _indented(label: str, text: str) -> list[str]:
    lines = text.replace(f"{Path.cwd()}{os.sep}", "").strip().splitlines()
    return [f"  {label if number == 0 else '':<6}{line}" for number, line in enumerate(lines)]
