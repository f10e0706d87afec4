"""Judge a run by a history and write the verdict: documents, Markdown, JUnit and a page of trends.

The documents are psap.perf/regression/1, suites of JUnit and Markdown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from perfanalysis.drawing.blocks import Cell, Field, quantity
from perfanalysis.drawing.matplotlib import Format
from perfanalysis.drawing.wording import plain, table_lines
from perfanalysis.errors import AnalysisError, UsageError
from perfanalysis.files.cache import scratch_folder
from perfanalysis.files.documents import Document, write_json, write_text
from perfanalysis.files.findings import Finding
from perfanalysis.results.history.documents import entries_of, history_document
from perfanalysis.results.history.folder import History, load, run_named
from perfanalysis.verdicts.comparison.sides import data_errors
from perfanalysis.verdicts.files import VERDICT_FILE, Case, Outcome, Suite, junit_text, write_verdict
from perfanalysis.verdicts.regression.page import write_trends
from perfanalysis.verdicts.regression.tables import changed_with
from perfanalysis.verdicts.regression.verdict import CHANGED, Change, KpiVerdict, Options, Regression, regress
from perfanalysis.verdicts.regression.watched import Acknowledged
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run

CHANGES = (Field("verdict"), Field("recording"), Field("KPI"), Field("what changed"))


def regression_document(regression: Regression) -> Document:
    """Return the document psap.perf/regression/1."""
    error, options = regression.error, regression.options
    return {
        "schema": "psap.perf/regression/1",
        "run": regression.run,
        "method": options.method,
        "margin": options.margin,
        "recent": options.recent,
        "compared": sorted(options.selection.compared),
        "ignored": sorted(options.selection.ignored),
        "sorted_by": list(options.selection.sorted_by),
        "same": sorted(options.selection.same),
        "skipped": [f"{name}={value}" for name, value in options.selection.skipped],
        "exit_code": 0 if error is None else error.exit_code,
        "reason": None if error is None else str(error),
        "counts": {word.replace(" ", "_"): number for word, number in regression.counts().items()},
        "notes": list(regression.notes),
        "recordings": [
            {
                "recording": each.entry.recording,
                "keys": dict(each.entry.keys),
                "earlier_runs": len(each.earlier),
                "kpis": [_kpi(kpi) for kpi in each.kpis],
            }
            for each in regression.recordings
        ],
    }


def _kpi(verdict: KpiVerdict) -> Document:
    return {
        "name": verdict.kpi.series,
        "unit": verdict.kpi.unit,
        "direction": verdict.direction,
        "value": verdict.kpi.number,
        "earlier_values": verdict.count,
        "verdict": verdict.word,
        "reason": verdict.reason or None,
        "older_changes": list(verdict.older),
        "levels": _levels(verdict),
        "change": None if verdict.change is None else _change(verdict, verdict.change),
    }


def _levels(verdict: KpiVerdict) -> list[Document]:
    entries = () if verdict.series is None else verdict.series.entries
    return [
        {
            "since": entries[level.begin].run,
            "runs": level.end - level.begin,
            "value": level.value,
            "low": level.low,
            "high": level.high,
        }
        for level in verdict.levels
    ]


def _change(verdict: KpiVerdict, change: Change) -> Document:
    return {
        "since": change.first.run,
        "runs": change.runs,
        "before": change.effect.before,
        "after": change.effect.after,
        "change": change.effect.change,
        "low": change.effect.low,
        "high": change.effect.high,
        "hedges_g": change.effect.g,
        "p": change.p,
        "q": change.q,
        "statistic": None if change.statistic is None else dict(zip(("name", "value"), change.statistic, strict=True)),
        "changed_with": {name: list(values) for name, values in changed_with(verdict).items()}
        if verdict.word in CHANGED
        else {},
    }


def sentence(verdict: KpiVerdict) -> str:
    """Return `from 4.10 s to 5.30 s (+29 %, 95 % interval +20 % to +38 %) since RUN`, or why there is no verdict."""
    if verdict.change is None:
        return verdict.reason or "no change"
    effect = verdict.change.effect
    moved = "" if effect.change is None else f"{effect.change:+.1%}"
    sure = "" if effect.low is None or effect.high is None else f"95 % interval {effect.low:+.1%} to {effect.high:+.1%}"
    change = ", ".join(filter(None, (moved, sure, f"q = {verdict.change.q:.2g}")))
    before, after = (quantity(value, verdict.kpi.unit) for value in (effect.before, effect.after))
    text = f"from {before} to {after} ({change}) since {verdict.change.first.run}"
    return f"{text}; {verdict.reason}" if verdict.reason else text


def suites_of(regression: Regression) -> tuple[Suite, ...]:
    """Return a suite per recording, a test case per KPI; worse fails, too little history is skipped."""
    return tuple(
        Suite(
            recording.entry.recording,
            f"{recording.entry.flow or 'run'}.{recording.entry.recording}",
            tuple(Case(kpi.kpi.series, *_outcome(kpi)) for kpi in recording.kpis),
        )
        for recording in regression.recordings
    )


def _outcome(kpi: KpiVerdict) -> tuple[Outcome, str]:
    outcomes: dict[str, Outcome] = {"worse": "failure", "too little history": "skipped"}
    outcome = outcomes.get(kpi.word, "")
    return outcome, sentence(kpi) if outcome else ""


def markdown_text(regression: Regression) -> str:
    """Return a summary for a pull request: the counts, then a table of all changes."""
    counts = ", ".join(f"{number} {word}" for word, number in regression.counts().items() if number)
    lines = [f"# {plain(regression.run)} against its history", "", f"{counts or 'nothing to judge'}.", ""]
    changed = [(word, each, kpi) for word in CHANGED for each, kpi in regression.of(word)]
    if changed:
        rows = (
            tuple(map(Cell, (word, each.entry.recording, kpi.kpi.series, sentence(kpi)))) for word, each, kpi in changed
        )
        lines += [*table_lines(CHANGES, rows, lambda cell: plain(cell.text)), ""]
    lines += [f"* {plain(note)}" for note in regression.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


STEM = "regression"


@dataclass(frozen=True)
class Written:
    """The paths of the verdict, its document, the findings, and the error to exit with."""

    json: Path
    markdown: Path
    junit: Path
    page: Path
    document: Document
    findings: tuple[Finding, ...]
    error: AnalysisError | None


def regress_run(
    run: Path | str,
    folder: Path,
    options: Options,
    acknowledged: Acknowledged,
    output: Path,
    kinds: Kinds,
    formats: tuple[Format, ...] = (),
) -> Written:
    """Judge a run directory, or a run of the history by its id, by the history in *folder*, which is not changed.

    Raises UsageError if there is no such run or no such history.
    """
    history = load(folder)
    document, errors = _document(run, history, folder, kinds)
    return regress_document(document, errors, history, options, acknowledged, output, formats)


def regress_document(
    document: Document,
    errors: tuple[str, ...],
    history: History,
    options: Options,
    acknowledged: Acknowledged,
    output: Path,
    formats: tuple[Format, ...] = (),
) -> Written:
    """Judge a run by its document of a history, and write the files.

    Args:
        errors: What makes the data of the run incomplete.

    Raises UsageError if the run has no recording, or an option names an unknown key.
    """
    current = entries_of(document)
    if not current:
        raise UsageError(f"{document['run']} has no recording: nothing to judge")
    regression = regress(current, history.entries(), options, acknowledged)
    complete = replace(regression, data_errors=errors, notes=(*errors, *regression.notes))
    return _write(complete, document, history.findings, output, formats)


def _document(run: Path | str, history: History, folder: Path, kinds: Kinds) -> tuple[Document, tuple[str, ...]]:
    """Return the history's document of the run, and what makes its data incomplete."""
    if Path(run).is_dir():
        with scratch_folder() as tables:
            result = analyse_run(Path(run), tables, AnalysisOptions(kinds))
        return history_document(result), data_errors(result)
    return run_named(str(run), history.documents, str(folder)), ()


def _write(
    regression: Regression, document: Document, findings: tuple[Finding, ...], output: Path, formats: tuple[Format, ...]
) -> Written:
    paths = {ending: output / f"{STEM}.{ending}" for ending in ("json", "md", "xml")}
    judged = regression_document(regression)
    write_json(paths["json"], judged)
    write_text(paths["md"], markdown_text(regression))
    write_text(paths["xml"], junit_text(regression.run, suites_of(regression)))
    page = write_trends(regression, output, formats)
    part = {name: judged[name] for name in ("exit_code", "reason", "method", "counts")} | {"document": f"{STEM}.json"}
    facts = {name: document.get(name) for name in ("run", "flow", "lab")}
    write_verdict(output / VERDICT_FILE, {**facts, "regression": part})
    return Written(paths["json"], paths["md"], paths["xml"], page, judged, findings, regression.error)
