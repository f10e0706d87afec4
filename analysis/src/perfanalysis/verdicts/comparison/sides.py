"""The sides of a comparison in one form: runs, of a directory or of a history, or parts of a matrix.

The cells of one run are sides too: by one of their settings, or each cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.wording import value_text
from perfanalysis.errors import UsageError, did_you_mean
from perfanalysis.files.cache import scratch_folder
from perfanalysis.files.discovery import Lab, Run, lab_of
from perfanalysis.files.documents import Document, listing, mapping, text_or_none
from perfanalysis.results.history.documents import history_document, kpis_of_document
from perfanalysis.results.history.folder import load, run_named
from perfanalysis.verdicts.thresholds.threshold import values_of_step
from perfanalysis.workloads.kpis import Direction, KpiValue
from perfanalysis.workloads.labels import key_settings, labels_of, recording_label, settings_of
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.run_analysis import AnalysisOptions, RunAnalysis, analyse_run
from perfanalysis.workloads.workload_type import Analysis

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SECONDS = ("s", "seconds")


@dataclass(frozen=True)
class Sampled:
    """Finite values of one measure of a recording; `of` is what each value describes, in the plural."""

    name: str
    help: str
    unit: str
    direction: Direction
    values: NDArray[np.float64]
    of: str = "workloads"
    method: Method = "linear"
    """The method of their percentiles."""


@dataclass(frozen=True)
class Recording:
    """One recording. `keys` determine comparable recordings; recordings of a history have no samples."""

    label: str
    labels: Mapping[str, str]
    kind: str
    keys: Mapping[str, Any]
    kpis: tuple[KpiValue, ...]
    samples: Mapping[str, Sampled] = field(default_factory=dict)


@dataclass(frozen=True)
class Side:
    """One of the compared sides; the first of them is the baseline."""

    name: str
    recordings: tuple[Recording, ...]
    facts: Mapping[str, Any]
    """Settings, versions and other facts that may distinguish it."""
    lab: Lab = field(default_factory=Lab)
    notes: tuple[str, ...] = ()
    data_errors: tuple[str, ...] = ()
    """What makes its numbers incomplete: lost workloads, accounts that do not add up, unreadable lines."""
    keyless: bool = False
    """Whether it does not state which settings must be equal."""
    started: str | None = None
    status: str = ""
    heading: str = ""
    """Its name in tables; empty: a letter."""
    method: Method = "linear"
    """The method of its percentiles."""


def headings(sides: Sequence[Side]) -> tuple[str, ...]:
    """Return the headings of the columns of tables: distinct words."""
    given = [side.heading for side in sides]
    if all(given) and len(set(given)) == len(given):
        return tuple(given)
    return tuple(LETTERS[place] if place < len(LETTERS) else f"run {place + 1}" for place in range(len(sides)))


def side_of_run(result: RunAnalysis) -> Side:
    """Return the side of an analysed run directory."""
    document = history_document(result)
    return Side(
        name=result.run.id,
        recordings=tuple(recording_of(analysis, result.run) for analysis in result.analyses),
        facts={**key_settings(result.run), **_without_prefix(mapping(document.get("facts")))},
        lab=result.lab,
        data_errors=data_errors(result),
        keyless=not key_settings(result.run),
        started=text_or_none(document.get("started")),
        status=result.run.status,
        method=result.options.method,
    )


def data_errors(result: RunAnalysis) -> tuple[str, ...]:
    """Return what makes the data of a run incomplete."""
    errors = (finding for finding in result.findings if finding.severity == "error")
    return tuple(f"{result.run.id}: {finding.where}: {finding.text}" for finding in errors)


def recording_of(analysis: Analysis, run: Run) -> Recording:
    """Return a recording with its samples."""
    return Recording(
        label=recording_label(analysis, run),
        labels=labels_of(analysis),
        kind=analysis.place.marker,
        keys=settings_of(analysis, run),
        kpis=analysis.kpis,
        samples={sampled.name: sampled for sampled in sampled_of(analysis)},
    )


def sampled_of(analysis: Analysis) -> Iterable[Sampled]:
    """Return the compared values: the values whose statistics are KPIs, then further values of the kind."""
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


def _without_prefix(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix("setting."): value for name, value in facts.items()}


def side_of_document(document: Document) -> Side:
    """Return the side of a document of a history: its KPIs with their intervals, and no samples."""
    recordings = [mapping(each) for each in listing(document.get("recordings"))]
    common = [set(mapping(each.get("keys")).items()) for each in recordings if _hashable(mapping(each.get("keys")))]
    shared = dict(set.intersection(*common)) if common else {}
    return Side(
        name=str(document.get("run")),
        recordings=tuple(_of_history(each) for each in recordings),
        facts={**shared, **_without_prefix(mapping(document.get("facts")))},
        lab=lab_of(document),
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
    """Return a side for each word: a run directory, or else the id (or its beginning) of a run in one of the histories.

    Raises UsageError for a word that is neither, and for a beginning that several runs share.
    """
    loaded = [load(folder) for folder in histories]
    documents = [document for history in loaded for document in history.documents]
    found = tuple(_side_of_word(word, documents, options) for word in words)
    notes = tuple(f"{finding.where}: {finding.text}" for each in loaded for finding in each.findings)
    return (replace(found[0], notes=found[0].notes + notes), *found[1:]) if notes else found


def _side_of_word(word: str, documents: Sequence[Document], options: AnalysisOptions) -> Side:
    if Path(word).is_dir():
        with scratch_folder() as folder:
            return side_of_run(analyse_run(Path(word), folder, options))
    if not any(str(document["run"]).startswith(word) for document in documents):
        where = "and in no history of --history" if documents else "; name a history with --history FOLDER"
        raise UsageError(f"{word} is not a run directory {where}")
    document = run_named(word, documents, "the history")
    if options.method != "linear":
        raise UsageError(f"{document['run']} is in a history, which has only linear percentiles; pass its directory")
    return side_of_document(document)


def sides_of_cells(result: RunAnalysis, by: str | None, baseline: str | None) -> tuple[Side, ...]:
    """Return a side for each value of the setting *by*, or for each cell; the first, or the one *baseline* names,
    leads.

    *baseline* is a value of *by*; without it a cell's number, or values as `name=value,name=value`. Cells are compared
    if their other settings are equal. Raises UsageError for a run without cells, an unknown setting or baseline.
    """
    matrix = Matrix(result)
    if not matrix.analyses:
        raise UsageError(f"{result.run.id} has no recordings of cells: nothing to compare")
    key = None if by is None else matrix.setting(by)
    sides = _without_what_follows(matrix.by_cell() if key is None else matrix.by_value(key))
    if len(sides) < 2:
        raise UsageError(f"{result.run.id} has only {sides[0].heading}: nothing to compare it with")
    first = 0 if baseline is None else matrix.baseline(sides, baseline, key)
    ordered = (sides[first], *sides[:first], *sides[first + 1 :])
    return (replace(ordered[0], data_errors=data_errors(result)), *ordered[1:])


def _values(analysis: Analysis) -> Mapping[str, Any]:
    return analysis.place.cell.values if analysis.place.cell is not None else {}


@dataclass(frozen=True)
class Matrix:
    """The recordings of a run's cells."""

    result: RunAnalysis

    @property
    def analyses(self) -> tuple[Analysis, ...]:
        """Return those that belong to a cell."""
        return tuple(analysis for analysis in self.result.analyses if analysis.place.cell is not None)

    @property
    def varying(self) -> tuple[str, ...]:
        """Return the settings in which they differ."""
        names = dict.fromkeys(name for analysis in self.analyses for name in _values(analysis))
        return tuple(name for name in names if len({value_text(_values(one).get(name)) for one in self.analyses}) > 1)

    def short(self, name: str) -> str:
        """Return a setting's name without the prefix of the flow."""
        return name.removeprefix(f"{self.result.run.document.get('flow')}_")

    def setting(self, by: str) -> str:
        """Return the setting that a reader names completely or by its end."""
        fitting = [name for name in self.varying if name == by]
        fitting = fitting or [name for name in self.varying if name.endswith((f"_{by}", f".{by}"))]
        if len(fitting) == 1:
            return fitting[0]
        meant = did_you_mean(by, map(self.short, self.varying), 0.4)
        raise UsageError(
            f"the cells of {self.result.run.id} do not differ in {by}; {f'{meant} ' if meant else ''}"
            f"they differ in {', '.join(self.varying) or 'nothing'}"
        )

    def by_value(self, key: str) -> tuple[Side, ...]:
        """Return a side for each value of a setting, in the order of the cells."""
        values = dict.fromkeys(value_text(_values(one).get(key)) for one in self.analyses)
        others = tuple(name for name in self.varying if name != key)
        return tuple(self._side_of_value(key, value, others) for value in values)

    def _side_of_value(self, key: str, value: str, others: Sequence[str]) -> Side:
        alike = [one for one in self.analyses if value_text(_values(one).get(key)) == value]
        name = f"{self.short(key)} {value}"
        return Side(
            method=self.result.options.method,
            name=f"{self.result.run.id}: {name}",
            recordings=tuple(self._recording(one, (key,), others) for one in alike),
            facts={key: _values(alike[0]).get(key)},
            lab=self.result.lab,
            heading=name,
        )

    def by_cell(self) -> tuple[Side, ...]:
        """Return a side for each cell, in order."""
        # of several attempts at a cell, the last one is in the cells
        cells = {one.place.cell.index: one.place.cell for one in self.analyses if one.place.cell is not None}
        return tuple(
            Side(
                method=self.result.options.method,
                name=f"{self.result.run.id}: cell {cell.index}",
                recordings=tuple(
                    self._recording(one, self.varying, ())
                    for one in self.analyses
                    if one.place.cell is not None and one.place.cell.index == index
                ),
                facts={name: cell.values.get(name) for name in self.varying},
                lab=self.result.lab,
                status=cell.status,
                heading=f"cell {cell.index}",
            )
            for index, cell in sorted(cells.items())
        )

    def _recording(self, analysis: Analysis, free: Sequence[str], named: Sequence[str]) -> Recording:
        """Return a recording of a cell, without the settings whose difference is compared."""
        recording = recording_of(analysis, self.result.run)
        keys = {name: value for name, value in recording.keys.items() if name not in free}
        values = [f"{self.short(name)} {value_text(_values(analysis).get(name))}" for name in named]
        return replace(recording, keys=keys, label=", ".join(values) or analysis.title)

    def baseline(self, sides: Sequence[Side], text: str, key: str | None) -> int:
        """Return the index of the side that a reader names."""
        for place, side in enumerate(sides):
            values = {name: value_text(value) for name, value in side.facts.items()}
            named = values | {self.short(name): value for name, value in values.items()}
            parts = [part.strip().partition("=") for part in text.split(",")]
            if key is not None:
                fits = values[key] == text
            else:
                fits = side.heading in (text, f"cell {text}") or all(named.get(one) == of for one, _, of in parts)
            if fits:
                return place
        raise UsageError(f"--baseline {text}: not found; known: {', '.join(side.heading for side in sides)}")


def _without_what_follows(sides: Sequence[Side]) -> tuple[Side, ...]:
    """Return the sides without keys that depend on what distinguishes the sides, such as the model."""
    names = dict.fromkeys(name for side in sides for one in side.recordings for name in one.keys)
    values = {name: [{value_text(one.keys.get(name)) for one in side.recordings} for side in sides] for name in names}
    following = {
        name for name, found in values.items() if all(len(each) == 1 for each in found) and len(set().union(*found)) > 1
    }

    def rest(recording: Recording) -> Recording:
        return replace(recording, keys={name: of for name, of in recording.keys.items() if name not in following})

    return tuple(replace(side, recordings=tuple(map(rest, side.recordings))) for side in sides)
