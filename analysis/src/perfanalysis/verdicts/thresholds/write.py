"""Judge a run directory and write its verdict.

The JUnit file has a suite per recording with a test case per threshold, and a suite for the data as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from perfanalysis.errors import UsageError
from perfanalysis.files.cache import scratch_folder
from perfanalysis.files.documents import Document, mapping, read_document, write_text
from perfanalysis.verdicts.files import VERDICT_FILE, Case, Outcome, Suite, junit_text, write_verdict
from perfanalysis.verdicts.thresholds.threshold import Threshold, check_samples, declared_measures, parse_thresholds
from perfanalysis.verdicts.thresholds.verdict import Judged, RecordingVerdict, Verdict, judge, verdict_document
from perfanalysis.workloads.kinds import Kinds, shipped
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run


def suites_of(verdict: Verdict) -> tuple[Suite, ...]:
    """Return the suites, the suite of the data last."""
    flow = str(verdict.run["flow"] or "run")
    lost = "; ".join(verdict.data_errors)
    data = Case("every workload is accounted for", "failure" if lost else "", lost)
    return (
        *(_suite(recording, verdict, flow) for recording in verdict.recordings),
        Suite("data", f"{flow}.data", (data,)),
    )


def _suite(recording: RecordingVerdict, verdict: Verdict, flow: str) -> Suite:
    cases = tuple(_case(judged, unjudged_allowed=verdict.unjudged_allowed) for judged in recording.judged)
    return Suite(recording.name, f"{flow}.{recording.name.replace(' ', '_')}", cases, recording.labels)


def _case(judged: Judged, *, unjudged_allowed: bool) -> Case:
    refused: Outcome = "skipped" if unjudged_allowed else "error"
    outcome: Outcome = "failure" if judged.outcome == "missed" else refused if judged.outcome == "not judged" else ""
    return Case(judged.threshold.name, outcome, judged.sentence if outcome else "")


JUNIT_FILE = "junit.xml"
SETTING_END = "_thresholds"


@dataclass(frozen=True)
class VerdictPaths:
    """A verdict and the paths of its files."""

    verdict: Verdict
    document: Document
    json: Path
    junit: Path


def check_thresholds(
    given: Mapping[str, object], kinds: Kinds | None = None, *, workloads: int | None = None
) -> tuple[Threshold, ...]:
    """Return the checked thresholds of a mapping, for recordings of at least so many workloads if that is known.

    Raises UsageError with all mistakes.
    """
    kinds = kinds or shipped()
    thresholds = parse_thresholds(given, declared_measures(kinds))
    if workloads is not None:
        check_samples(thresholds, kinds, workloads)
    return thresholds


def judge_run(
    run_directory: Path | str,
    thresholds: Mapping[str, object],
    output: Path | str,
    kinds: Kinds | None = None,
    *,
    unjudged_allowed: bool = False,
) -> VerdictPaths:
    """Judge a run, or a part of one that has recordings; write verdict.json and junit.xml to `output`.

    Raises UsageError if a threshold is invalid or it is not a run directory. A missed threshold raises no error: see
    the `error` of the verdict.
    """
    checked = check_thresholds(thresholds, kinds)
    if not checked:
        raise UsageError("no threshold to judge by; pass one, such as time_to_ready_p99=5s")
    target = Path(output)
    with scratch_folder() as tables:
        result = analyse_run(Path(run_directory), tables, AnalysisOptions(kinds or shipped()))
    verdict = judge(result, checked, unjudged_allowed=unjudged_allowed)
    document = write_verdict(target / VERDICT_FILE, verdict_document(verdict))
    write_text(target / JUNIT_FILE, junit_text(str(verdict.run["run"]), suites_of(verdict)))
    return VerdictPaths(verdict, document, target / VERDICT_FILE, target / JUNIT_FILE)


def thresholds_of_settings(run_directory: Path) -> dict[str, object]:
    """Return the thresholds of the run itself: its setting whose name ends with `_thresholds`.

    Raises UsageError if the run has no such setting, or it is empty.
    """
    document, findings = read_document(run_directory / "settings.yml", "settings", "settings.yml")
    if document is None:
        raise UsageError(f"{run_directory}/settings.yml: {findings[0].text}; pass thresholds with --threshold")
    for name, entry in mapping(document.get("all")).items():
        value = mapping(mapping(entry).get("value"))
        if name.endswith(SETTING_END) and value:
            return value
    raise UsageError(f"{run_directory}/settings.yml has no thresholds; pass them with --threshold")
