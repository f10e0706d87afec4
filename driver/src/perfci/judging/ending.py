"""The judgement at the end of a run or job, if its settings name a history."""

from __future__ import annotations

from pathlib import Path

import click
from ansible_collections.psap.perf.plugins.module_utils.run.directory import read_run
from ansible_collections.psap.perf.plugins.module_utils.run.measured import FACT as ONLY_IF_NEW
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run
from perfanalysis.files.documents import mapping

from perfci.judging.record import Verdict


def judge_ended(run: Path, pull_request: bool) -> Verdict:
    """Judge a run by its history, add it to the history, and print the result.

    A run that had nothing to measure is only reported.
    """
    why = why_skipped(run)
    if why:
        click.echo(f"skipped {why}")
    if why or not names_history(run):
        return Verdict()
    # slow to import, and most runs have no history
    from perfci.judging.judge import judge

    return judge(run, pull_request)


def names_history(run: Path) -> bool:
    """Return whether the settings of a run name a history; a refused run has none."""
    return (run / "settings.yml").is_file() and bool(values_of_run(run).get("history_source"))


def why_skipped(run: Path) -> str:
    """Return why a run had nothing to measure; empty if it measured."""
    if not (run / "run.json").is_file():
        return ""
    answer = mapping(read_run(run).document.get(ONLY_IF_NEW))
    return str(answer["why"]) if answer.get("measured_by") else ""
