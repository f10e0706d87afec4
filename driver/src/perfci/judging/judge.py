"""Judge a run by its history, and add it to the history.

The history is pulled before the run is pushed, and documents are named after their content: judging a run again gives
the same verdict and pushes nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.run.directory import REPORT_FOLDER, read_run
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run
from perfanalysis.drawing.wording import counted
from perfanalysis.errors import AnalysisError
from perfanalysis.files.documents import Document, mapping
from perfanalysis.reports.writing import write_report
from perfanalysis.results.history.documents import history_document
from perfanalysis.results.history.folder import History
from perfanalysis.verdicts.comparison.sides import data_errors
from perfanalysis.verdicts.regression.write import regress_document
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run, report_directory
from perfdrv.errors import EXIT_FAILED, DriverError
from perfdrv.runs.store import run_word
from perfdrv.views.ending import wants_report

from perfci.judging.record import FACT, Verdict, record
from perfci.judging.settings import HistorySettings, RegressSettings
from perfci.judging.sources import Source, source_of

_STATUS = {0: "ok", 4: "worse", 5: "incomplete", 6: "unjudged"}
_ERRORS = (AnalysisError, PerfError, DriverError, OSError)


def judge(run: Path, pull_request: bool, given: Mapping[str, Any] = MappingProxyType({})) -> Verdict:
    """Judge a run by its settings, print the result, and record it in run.json.

    If the history cannot be read or written, the verdict has the reason; the exit code changes only if the settings
    require the history.

    Args:
        pull_request: Whether this is a run of a pull request.
        given: Values that override the recorded settings.
    """
    values = {**values_of_run(run), **given}
    history, former = HistorySettings.of(values), mapping(read_run(run).document.get(FACT))
    of_pull = pull_request or bool(values.get("notify_github_pull") or former.get("pull_request"))
    verdict = Verdict(source=history.source, pull_request=of_pull)
    try:
        verdict = _judged(run, values, verdict)
    except KeyboardInterrupt:
        verdict = replace(verdict, lost="not finished")
    if verdict.lost:
        _print(f"history {verdict.lost}; try again with: perfdrv judge {run_word(run)}", err=True)
        code = verdict.exit_code or (EXIT_FAILED if history.required else 0)
        verdict = replace(verdict, exit_code=code)
    if verdict.note:
        _print(f"history {verdict.note}: check the clocks of the machines", err=True)
    _print(f"verdict {verdict.line}")
    with contextlib.suppress(PerfError):
        record(run, verdict)
    return verdict


def _print(line: str, *, err: bool = False) -> None:
    # the reader of the output may have closed it
    with contextlib.suppress(OSError):
        click.echo(line, err=err)


def _judged(run: Path, values: Mapping[str, Any], verdict: Verdict) -> Verdict:
    """Return the verdict after pulling, judging and pushing; each of them may fail without the others."""
    history, regression = HistorySettings.of(values), RegressSettings.of(values)
    status = read_run(run).status
    judges = regression.enabled and status == "ok"
    pushes = history.push == "always" or (history.push == "success" and status == "ok")
    pushes = pushes and (history.push_pull_requests or not verdict.pull_request)
    if not judges and not pushes:
        return replace(verdict, reason=f"the run is {status}")
    try:
        source = source_of(history)
        result = analyse_run(run, report_directory(run, None))
        document = source.shown(history_document(result))
    except _ERRORS as error:
        return replace(verdict, lost=str(error))
    if not document["recordings"]:
        return replace(verdict, reason="the run has no recording")
    if judges:
        verdict = _compared(result, document, source, regression, verdict)
    if pushes:
        verdict = _pushed(document, source, verdict)
    return verdict


def _compared(
    result: RunAnalysis, document: Document, source: Source, settings: RegressSettings, verdict: Verdict
) -> Verdict:
    """Return the verdict of the history; the report shows it."""
    run = result.run.directory
    target = run / REPORT_FOLDER
    try:
        known = source.pull(str(document.get("flow")))
        written = regress_document(
            document, data_errors(result), known, settings.options(), settings.accepted(), target
        )
        if wants_report(run):
            write_report(result, target)
    except _ERRORS as error:
        return replace(verdict, lost=str(error))
    found = int(written.document["exit_code"])
    return replace(
        verdict,
        status=_STATUS[found],
        exit_code=settings.exit_code(found),
        reason=written.document["reason"] or "",
        note=_clocks(known),
        counts=written.document["counts"],
        runs=sum(each["run"] != document["run"] for each in known.documents),
    )


def _clocks(known: History) -> str:
    """Return a sentence about runs that began in the future, which are not compared; empty if there are none."""
    later = [str(each["run"]) for each in known.documents if str(each.get("started") or "") > utc_now()]
    return f"{counted(len(later), 'run')} of the history began in the future, such as {later[0]}" if later else ""


def _pushed(document: Document, source: Source, verdict: Verdict) -> Verdict:
    try:
        return replace(verdict, pushed="new" if source.push(document) else "already there")
    except _ERRORS as error:
        lost = "; ".join(filter(None, (verdict.lost, f"not added to the history: {error}")))
        return replace(verdict, pushed="failed", lost=lost)
