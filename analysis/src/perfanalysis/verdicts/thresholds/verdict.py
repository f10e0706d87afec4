"""Verdicts: every threshold on every recording, and the result for the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from perfanalysis.drawing.blocks import quantity
from perfanalysis.drawing.wording import counted
from perfanalysis.errors import AnalysisError, DataQualityError, HistoryError, ThresholdError
from perfanalysis.files.discovery import Run, lab_of
from perfanalysis.files.documents import Document, read_document, text_or_none
from perfanalysis.verdicts.thresholds.threshold import ANY_KIND, Measure, Threshold, accounting_of, measure_of
from perfanalysis.workloads.kpis import measured
from perfanalysis.workloads.labels import labels_of
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.run_analysis import RunAnalysis
from perfanalysis.workloads.workload_type import Analysis

Outcome = Literal["met", "missed", "not judged"]
LOSSES = ("lost", "lost_ratio")
"""Measures whose threshold replaces the rule that no workload may be lost."""
MOST_LISTED = 5


@dataclass(frozen=True)
class Judged:
    """A threshold and the value of its measure."""

    threshold: Threshold
    measured: Value

    @property
    def outcome(self) -> Outcome:
        """Return whether it was met; a refused or missing measure cannot be judged."""
        if self.measured.number is None:
            return "not judged"
        return "met" if self.threshold.holds(self.measured.number) else "missed"

    @property
    def sentence(self) -> str:
        """Return `time_to_ready_p99 <= 5s: 6.02 s`."""
        if self.measured.number is None:
            return f"{self.threshold.name}: {self.measured.reason}"
        return f"{self.threshold.name}: {quantity(self.measured.number, self.threshold.measure.unit)}"


@dataclass(frozen=True)
class RecordingVerdict:
    """The verdicts on one recording; `labels` distinguish it from others."""

    labels: Mapping[str, str]
    judged: tuple[Judged, ...]

    @property
    def name(self) -> str:
        """Return the cell, else the recording's directory."""
        return f"cell {self.labels['cell']}" if "cell" in self.labels else self.labels["recording"]


@dataclass(frozen=True)
class Verdict:
    """All verdicts on a run. `data_errors` are sentences about lost workloads and contradictions."""

    run: Mapping[str, object]
    recordings: tuple[RecordingVerdict, ...]
    data_errors: tuple[str, ...]
    unjudged_allowed: bool

    def of(self, outcome: Outcome) -> tuple[str, ...]:
        """Return the sentences of one outcome, with the cell before them if there are several."""
        several = len(self.recordings) > 1
        return tuple(
            f"{recording.name}: {judged.sentence}" if several else judged.sentence
            for recording in self.recordings
            for judged in recording.judged
            if judged.outcome == outcome
        )

    @property
    def lost(self) -> bool:
        """Return whether a threshold on lost workloads was missed."""
        return any(
            judged.outcome == "missed" and judged.threshold.measure.name in LOSSES
            for recording in self.recordings
            for judged in recording.judged
        )

    @cached_property
    def error(self) -> AnalysisError | None:
        """Return the error to exit with: bad data, else a missed threshold, else one that could not be judged."""
        missed, unjudged = self.of("missed"), self.of("not judged")
        if self.data_errors or self.lost:
            return DataQualityError(f"the data is incomplete: {_first_of(self.data_errors + missed)}")
        if missed:
            return ThresholdError(f"{counted(len(missed), 'threshold')} missed: {_first_of(missed)}")
        if not self.recordings:
            return HistoryError("nothing to judge: the run has no recording")
        if unjudged and not self.unjudged_allowed:
            return HistoryError(f"cannot judge {counted(len(unjudged), 'threshold')}: {_first_of(unjudged)}")
        return None


def _first_of(sentences: tuple[str, ...]) -> str:
    more = len(sentences) - MOST_LISTED
    return "; ".join(sentences[:MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")


def judge(result: RunAnalysis, thresholds: tuple[Threshold, ...], *, unjudged_allowed: bool = False) -> Verdict:
    """Judge every recording of a run by every threshold on the measures of its kind.

    A threshold on a measure that no recording of the run has is not judged in all of them.
    """
    with_measure = {one.name: _recordings_with(one.measure, result.analyses) for one in thresholds}
    recordings = []
    for analysis in result.analyses:
        value_of = measure_of(analysis, accounting_of(analysis))
        own = (one for one in thresholds if not with_measure[one.name] or analysis in with_measure[one.name])
        judged = tuple(Judged(threshold, value_of(threshold.measure)) for threshold in own)
        recordings.append(RecordingVerdict(labels_of(analysis), judged))
    judges_losses = any(one.measure.name in LOSSES for one in thresholds)
    errors = tuple(
        f"{finding.where}: {finding.text}"
        for finding in result.findings
        if finding.severity == "error" and not (judges_losses and finding.cause == "lost")
    )
    return Verdict(_about(result.run), tuple(recordings), errors, unjudged_allowed)


def _recordings_with(measure: Measure, analyses: tuple[Analysis, ...]) -> list[Analysis]:
    if measure.markers != ANY_KIND:
        return [analysis for analysis in analyses if analysis.place.marker in measure.markers]
    return [analysis for analysis in analyses if any(kpi.name == measure.name for kpi in analysis.kpis)]


def _about(run: Run) -> Document:
    """Return the id of the run; for a part without run.json, of the run that contains it."""
    document = run.document or next(filter(None, map(_run_document, run.directory.parents)), {})
    return {
        "run": str(document.get("id") or run.id),
        "flow": text_or_none(document.get("flow")),
        "lab": lab_of(document).document(),
    }


def _run_document(directory: Path) -> Document | None:
    path = directory / "run.json"
    return read_document(path, "run", path.name)[0] if path.is_file() else None


def verdict_document(verdict: Verdict) -> Document:
    """Return the document psap.perf/verdict/1."""
    error = verdict.error
    return {
        "schema": "psap.perf/verdict/1",
        **verdict.run,
        "thresholds": {
            "exit_code": 0 if error is None else error.exit_code,
            "reason": None if error is None else str(error),
        },
        "unjudged_allowed": verdict.unjudged_allowed,
        "data_errors": list(verdict.data_errors),
        "recordings": [
            {"labels": dict(recording.labels), "thresholds": [_entry(judged) for judged in recording.judged]}
            for recording in verdict.recordings
        ],
    }


def _entry(judged: Judged) -> Document:
    threshold = judged.threshold
    return {
        "measure": threshold.measure.name,
        "help": threshold.measure.help,
        "unit": threshold.measure.unit,
        "direction": threshold.measure.direction,
        "operator": threshold.operator,
        "limit": threshold.limit,
        "text": threshold.text,
        "outcome": judged.outcome,
        **measured(judged.measured),
    }
