"""A verdict as suites of JUnit: one a recording with a test case a threshold, and one for the data as a whole."""

from __future__ import annotations

from perfanalysis.verdicts.junit import Case, Outcome, Suite
from perfanalysis.verdicts.thresholds.verdict import Judged, RecordingVerdict, Verdict


def suites_of(verdict: Verdict) -> tuple[Suite, ...]:
    """The suites, that of the data last."""
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
