"""From the tables of a declared kind to the contents of a report: KPIs, samples, figures, tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.blocks import Cell, Field, Note, Section, Table, number
from perfanalysis.drawing.wording import listed
from perfanalysis.files.bounded import content
from perfanalysis.files.discovery import Lab, Place, lab_of
from perfanalysis.files.documents import load_json, mapping
from perfanalysis.files.tables import specs_of
from perfanalysis.workloads.declared.checks import split
from perfanalysis.workloads.declared.columns import Columns, each_value, name_of
from perfanalysis.workloads.declared.model import SampleDeclared, WorkloadDeclared
from perfanalysis.workloads.declared.plots import figures
from perfanalysis.workloads.kpis import Kpi, evaluate
from perfanalysis.workloads.percentiles import STATED, STATISTICS, Method, estimates
from perfanalysis.workloads.shown import data_table, value_cell
from perfanalysis.workloads.workload_type import Analysis, Sample

MOST_FACTS = 5
MOST_MARKER_BYTES = 1 << 20


@dataclass(frozen=True)
class Analyser:
    """Return the function `analyse` of a declared kind."""

    declared: WorkloadDeclared
    kpis: tuple[Kpi[Any], ...]

    def __call__(self, tables: Any, place: Place, method: Method) -> Analysis:
        """Return the complete analysis of one recording."""
        columns = Columns(self.declared, tables, method)
        specs = specs_of(type(tables))
        samples = tuple(sample for entry in self.declared.samples for sample in _samples(entry, columns))
        entries = {one.name: one for entry in self.declared.kpis for one in entry.each}
        kpis = tuple(one for kpi in self.kpis for one in each_value(kpi, entries.get(kpi.name), columns))
        return Analysis(
            place=place,
            title=self.declared.title,
            lab=_lab(place),
            frames={spec.name: getattr(tables, name) for name, spec in specs.items()},
            specs={spec.name: spec for spec in specs.values()},
            kpis=evaluate(kpis, columns),
            samples=samples,
            make_sections=lambda: self._sections(columns, samples),
            findings=(),
            facts=self._facts(columns),
            period=self._period(columns),
            method=method,
        )

    def _facts(self, columns: Columns) -> dict[str, str]:
        found = {name: columns.texts(fact.of, fact.where) for name, fact in self.declared.facts.items()}
        return {name: listed(texts, MOST_FACTS) for name, texts in found.items() if texts}

    def _period(self, columns: Columns) -> tuple[float, float] | None:
        period = self.declared.period
        if period is None:
            return None
        begins, ends = columns.numbers(period.begin, {}), columns.numbers(period.end, {})
        if not (np.isfinite(begins).any() and np.isfinite(ends).any()):
            return None
        begin, end = float(np.nanmin(begins)), float(np.nanmax(ends))
        return (begin, end) if begin <= end else None

    def _sections(self, columns: Columns, samples: tuple[Sample, ...]) -> tuple[Section, ...]:
        specs = specs_of(type(columns.tables))
        made = (
            Section("plots", "Plots", "", tuple(_drawn(columns))),
            Section("percentiles", "Percentiles", "", (_percentiles(samples, columns.method),) if samples else ()),
            Section(
                "tables",
                "Tables",
                "",
                tuple(
                    data_table(specs[name].help, getattr(columns.tables, name), specs[name].columns)
                    for name in self.declared.shown
                ),
            ),
        )
        return tuple(section for section in made if section.blocks)


def _samples(entry: SampleDeclared, columns: Columns) -> Iterator[Sample]:
    """Yield the sample; if it is declared with `by`, one for each of its values."""
    if entry.by is None:
        yield _sample(entry, entry.name, entry.label, columns.numbers(entry.of, entry.where))
        return
    for text in columns.values_of(entry.by, entry.where):
        where = {**entry.where, split(entry.by)[1]: text}
        yield _sample(entry, name_of(entry, text), f"{entry.label}: {text}", columns.numbers(entry.of, where))


def _sample(entry: SampleDeclared, name: str, label: str, values: NDArray[np.float64]) -> Sample:
    return Sample(name, label, entry.unit, values[np.isfinite(values)], entry.things)


def _lab(place: Place) -> Lab:
    """Return the lab that the marker states, if it is a document of psap.perf."""
    path = place.directory / place.marker
    try:
        small = path.suffix == ".json" and path.stat().st_size <= MOST_MARKER_BYTES
        return lab_of(mapping(load_json(content(path)))) if small else Lab()
    except (OSError, ValueError):
        return Lab()


def _drawn(columns: Columns) -> list[Any]:
    return [
        figure if figure is not None else Note(f"{plot.title}: no row has these values.")
        for plot, figure in figures(columns)
    ]


def _percentiles(samples: tuple[Sample, ...], method: Method) -> Table:
    """Return a row per sample, with intervals, and the reason if one is refused."""
    rows = []
    for sample in samples:
        cells = [Cell(sample.label), Cell(number(len(sample.values)), sort=len(sample.values))]
        cells += [value_cell(found, sample.unit) for found in estimates(sample.values, method).values()]
        rows.append(tuple(cells))
    fields = (
        Field("Values"),
        Field("Count", "number"),
        *(Field(name.capitalize() if name == "max" else name.upper(), "number") for name in STATISTICS),
    )
    note = f"{STATED[method]} Small print: 95 % bootstrap interval."
    return Table("Percentiles", fields, tuple(rows), note)
