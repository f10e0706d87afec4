"""What a kind of workload must declare to be analysed, and the registry of kinds.

A new kind is a package with a module `declaration` that holds `WORKLOAD`, a parser of a few lines, and one name more
in `KNOWN`. It is imported only when a run holds its marker.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from perfanalysis.documents import Document, listing, read_document
from perfanalysis.findings import Finding
from perfanalysis.jsonlines import accept, read_json_lines

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from perfanalysis.charts.model import Figure
    from perfanalysis.discover import Place
    from perfanalysis.kpis import Kpi, KpiValue
    from perfanalysis.prometheus.ranges import Ranges
    from perfanalysis.sections import Section
    from perfanalysis.selection import Selection
    from perfanalysis.tables import TableSpec

KNOWN: Mapping[str, str] = {
    "recording.json": "perfanalysis.scale_test.declaration",
    "fine_tuning.json": "perfanalysis.fine_tuning.declaration",
}
TablesType = TypeVar("TablesType")


class Source:
    """The files of one recording, as a parser reads them; what is missing or damaged becomes a finding."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.findings: tuple[Finding, ...] = ()

    def _where(self, name: str) -> str:
        return f"{self.place.relative}/{name}"

    def names(self, pattern: str) -> tuple[str, ...]:
        """The files that match a pattern, sorted by name."""
        directory = self.place.directory
        return tuple(sorted(str(path.relative_to(directory)) for path in directory.glob(pattern) if path.is_file()))

    def json_lines(self, name: str, spec: TableSpec, *, optional: bool = False) -> pd.DataFrame:
        """A JSON-lines file as the declared table; an `optional` one may be missing."""
        if optional and not (self.place.directory / name).exists():
            return spec.empty()
        frame, findings = read_json_lines(self.place.directory / name, spec, self._where(name))
        self.findings += findings
        return frame

    def document(self, name: str, kind: str) -> Document:
        """A document; empty when it cannot be read."""
        document, findings = read_document(self.place.directory / name, kind, self._where(name))
        self.findings += findings
        return document or {}

    def rows(self, name: str, kind: str, key: str, spec: TableSpec) -> pd.DataFrame:
        """The list under one key of a document, as the declared table; records of other types are counted."""
        import pandas as pd

        given = listing(self.document(name, kind).get(key))
        records = [record for record in (accept(item, spec) for item in given) if record is not None]
        if len(records) < len(given):
            text = f"{len(given) - len(records)} entries of {key} are not of the declared types and were left out"
            self.findings += (Finding("error", self._where(name), text),)
        return spec.conform(pd.DataFrame(records, columns=[column.name for column in spec.columns]))


@dataclass(frozen=True)
class Sample:
    """A named set of values of one recording that cells of a matrix are compared by."""

    name: str
    label: str
    unit: str
    values: NDArray[np.float64]
    of: str = "workloads"
    """What each value is of, in the plural."""


@dataclass(frozen=True)
class Analysis:
    """Everything known of one recording, ready to be written: the same for every kind of workload."""

    place: Place
    title: str
    marks: tuple[str, ...]
    frames: Mapping[str, pd.DataFrame]
    specs: Mapping[str, TableSpec]
    kpis: tuple[KpiValue, ...]
    samples: tuple[Sample, ...]
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    """What tells it from other recordings of a run beside the values of its cell: the model, for example."""
    period: tuple[float, float] | None = None
    """When its work began and ended, in seconds since the epoch; None where that is not known."""


@dataclass(frozen=True)
class Across:
    """What the recordings of one kind in a run tell together: they themselves with more KPIs, and figures."""

    analyses: tuple[Analysis, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class TableSource(Generic[TablesType]):
    """What tables are made from. `version` is raised whenever `parse` changes what it makes of the same files."""

    name: str
    version: int
    files: tuple[str, ...]
    tables: type[TablesType]
    parse: Callable[[Source], TablesType]


@dataclass(frozen=True)
class WorkloadType(TableSource[TablesType]):
    """A kind of workload."""

    analyse: Callable[[TablesType, Place], Analysis]
    part_of: Callable[[TablesType, Selection], tuple[TablesType, str]] | None = None
    """The tables of some workloads only, and a phrase that says which; None where a kind cannot be cut down."""
    monitored: Callable[[TablesType, Place, tuple[Ranges, ...]], TablesType] | None = None
    """The tables with what Prometheus knows of the workloads; None where a kind has no use for it."""
    kpis: tuple[Kpi[Any], ...] = ()
    """Every KPI that `analyse` and `across` give: what can be judged."""
    across: Callable[[tuple[Analysis, ...]], Across] | None = None
    """From all recordings of this kind in a run, once each is analysed."""


def workload_type(marker: str) -> WorkloadType[Any]:
    """The declaration behind a marker file."""
    module = importlib.import_module(KNOWN[marker])
    declared: WorkloadType[Any] = module.WORKLOAD
    return declared


def every_kind() -> dict[str, WorkloadType[Any]]:
    """The declarations of all kinds, by their markers."""
    return {marker: workload_type(marker) for marker in KNOWN}
