"""What is compared: runs, of a directory or of a history, or parts of a matrix, all in one form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfanalysis.drawing.wording import value_text
from perfanalysis.errors import UsageError
from perfanalysis.files.discovery import Marks, marks_of
from perfanalysis.files.documents import Document, listing, mapping, text_or_none
from perfanalysis.files.scratch import scratch_folder
from perfanalysis.results.history.document import history_document
from perfanalysis.results.history.entries import kpis_of_document
from perfanalysis.results.history.folder import load
from perfanalysis.verdicts.thresholds.measured import values_of_step
from perfanalysis.workloads.kpis import Direction, KpiValue
from perfanalysis.workloads.labels import key_settings, labels_of, recording_label, settings_of
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.run_analysis import AnalysisOptions, RunAnalysis, analyse_run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from perfanalysis.files.discovery import Run
    from perfanalysis.workloads.workload_type import Analysis

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SECONDS = ("s", "seconds")


@dataclass(frozen=True)
class Sampled:
    """Finite values of one measure of a recording; `of` is what each is of, in the plural."""

    name: str
    help: str
    unit: str
    direction: Direction
    values: NDArray[np.float64]
    of: str = "workloads"
    method: Method = "linear"
    """By which percentiles of them are taken."""


@dataclass(frozen=True)
class Recording:
    """One recording. `keys` decide what it may be compared with; one of a history has no samples."""

    label: str
    labels: Mapping[str, str]
    kind: str
    keys: Mapping[str, Any]
    kpis: tuple[KpiValue, ...]
    samples: Mapping[str, Sampled] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """One of those compared; the first of them is the baseline."""

    name: str
    recordings: tuple[Recording, ...]
    facts: Mapping[str, Any]
    """Settings, versions and whatever else may tell it from others."""
    marks: Marks = field(default_factory=Marks)
    notes: tuple[str, ...] = ()
    data_errors: tuple[str, ...] = ()
    """What makes its numbers incomplete: workloads lost, accounts that do not add up, lines that cannot be read."""
    keyless: bool = False
    """Whether it does not say which settings must be equal."""
    started: str | None = None
    status: str = ""
    heading: str = ""
    """Its name in tables; empty: a letter."""
    method: Method = "linear"
    """By which its percentiles are taken."""


def headings(sides: Sequence[Side]) -> tuple[str, ...]:
    """What the columns of tables are called: each a word of its own."""
    given = [side.heading for side in sides]
    if all(given) and len(set(given)) == len(given):
        return tuple(given)
    return tuple(LETTERS[place] if place < len(LETTERS) else f"run {place + 1}" for place in range(len(sides)))


def side_of_run(result: RunAnalysis) -> Side:
    """The side that an analysed run directory is."""
    document = history_document(result)
    return Side(
        name=result.run.id,
        recordings=tuple(recording_of(analysis, result.run) for analysis in result.analyses),
        facts={**key_settings(result.run), **_shown(mapping(document.get("facts")))},
        marks=result.marks,
        data_errors=data_errors(result),
        keyless=not key_settings(result.run),
        started=text_or_none(document.get("started")),
        status=result.run.status,
        method=result.options.method,
    )


def data_errors(result: RunAnalysis) -> tuple[str, ...]:
    """What makes the data of a run incomplete."""
    errors = (finding for finding in result.findings if finding.severity == "error")
    return tuple(f"{result.run.id}: {finding.where}: {finding.text}" for finding in errors)


def recording_of(analysis: Analysis, run: Run) -> Recording:
    """A recording with its samples."""
    return Recording(
        label=recording_label(analysis, run),
        labels=labels_of(analysis),
        kind=analysis.place.marker,
        keys=settings_of(analysis, run),
        kpis=analysis.kpis,
        samples={sampled.name: sampled for sampled in sampled_of(analysis)},
    )


def sampled_of(analysis: Analysis) -> Iterable[Sampled]:
    """The values that are compared: what KPIs are statistics of, as they say it, then what else the kind compares."""
    samples = {sample.name: sample for sample in analysis.samples}
    stated = {kpi.of.measure: (kpi.of.help, kpi) for kpi in reversed(analysis.kpis) if kpi.of is not None}
    for name, (words, kpi) in reversed(stated.items()):
        of = samples[name].of if name in samples else "workloads"
        values = values_of_step(analysis, name)
        yield Sampled(name, words, kpi.unit, kpi.direction, values, of, analysis.method)
    for name, sample in samples.items():
        if name not in stated:
            unit = "seconds" if sample.unit in SECONDS else sample.unit
            values = values_of_step(analysis, name)
            yield Sampled(name, sample.label, unit, "neither", values, sample.of, analysis.method)


def _shown(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix("setting."): value for name, value in facts.items()}


def side_of_document(document: Document) -> Side:
    """The side that a document of a history is: its KPIs with their intervals, and no samples."""
    recordings = [mapping(each) for each in listing(document.get("recordings"))]
    common = [set(mapping(each.get("keys")).items()) for each in recordings if _hashable(mapping(each.get("keys")))]
    shared = dict(set.intersection(*common)) if common else {}
    return Side(
        name=str(document.get("run")),
        recordings=tuple(_of_history(each) for each in recordings),
        facts={**shared, **_shown(mapping(document.get("facts")))},
        marks=marks_of(document),
        keyless=not any(mapping(each.get("keys")) for each in recordings),
        started=text_or_none(document.get("started")),
        status=str(document.get("status")),
    )


def _hashable(keys: Mapping[str, Any]) -> bool:
    return all(not isinstance(value, list | dict) for value in keys.values())


def _of_history(recording: Document) -> Recording:
    labels = {str(name): value_text(value) for name, value in mapping(recording.get("labels")).items()}
    name = str(recording.get("recording"))
    return Recording(
        label=f"cell {labels['cell']}" if "cell" in labels else name,
        labels={"recording": name, **labels},
        kind=str(recording.get("kind")),
        keys=mapping(recording.get("keys")),
        kpis=kpis_of_document(recording),
    )


def sides_of(words: Sequence[str], histories: Sequence[Path], options: AnalysisOptions) -> tuple[Side, ...]:
    """A side for each word: a run directory, or else the id (or its beginning) of a run in one of the histories.

    Raises UsageError for a word that is neither, and for a beginning that several runs share.
    """
    loaded = [load(folder) for folder in histories]
    documents = [document for history in loaded for document in history.documents]
    found = tuple(_side_of_word(word, documents, options) for word in words)
    notes = tuple(f"{finding.where}: {finding.text}" for each in loaded for finding in each.findings)
    return (_with_notes(found[0], notes), *found[1:]) if notes else found


def _with_notes(side: Side, notes: tuple[str, ...]) -> Side:
    return replace(side, notes=side.notes + notes)


def _side_of_word(word: str, documents: Sequence[Document], options: AnalysisOptions) -> Side:
    if Path(word).is_dir():
        return side_of_run(_analysed(Path(word), options))
    names = dict.fromkeys(str(document["run"]) for document in documents)
    exact = [name for name in names if name == word] or [name for name in names if name.startswith(word)]
    if not exact:
        where = "and in no history that was given with --history" if documents else "; --history FOLDER names one"
        raise UsageError(f"{word} is no run directory {where}")
    if len(exact) > 1:
        raise UsageError(f"{word} is the beginning of {len(exact)} runs: {', '.join(exact)}")
    if options.method != "linear":
        raise UsageError(f"{exact[0]} is of a history, whose percentiles are linear ones; give its directory")
    return side_of_document(next(document for document in documents if document["run"] == exact[0]))


def _analysed(run: Path, options: AnalysisOptions) -> RunAnalysis:
    with scratch_folder() as folder:
        return analyse_run(run, folder, options)
