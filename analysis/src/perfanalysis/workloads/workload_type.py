"""The declaration of a kind of workload for the analysis.

Also the selection of workloads: all, or the first or last ones by submission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from perfanalysis.files.discovery import Lab, Place
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import TableSource, TablesType
from perfanalysis.files.tables import TableSpec
from perfanalysis.workloads.prometheus_ranges import Ranges

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from perfanalysis.drawing.blocks import Section
    from perfanalysis.drawing.charts import Figure
    from perfanalysis.workloads.kpis import Kpi, KpiValue
    from perfanalysis.workloads.percentiles import Method

Item = TypeVar("Item")


@dataclass(frozen=True)
class Selection:
    """At most `first` workloads from the beginning, then at most `last` of these from the end; None for all."""

    first: int | None = None
    last: int | None = None

    @property
    def words(self) -> str:
        """Return a text such as "first 100", "last 20 of the first 100"; empty for all."""
        first = "" if self.first is None else f"first {self.first}"
        if self.last is None:
            return first
        return f"last {self.last} of the {first}" if first else f"last {self.last}"

    @property
    def folder(self) -> str:
        """Return a name for its files."""
        parts = (("first", self.first), ("last", self.last))
        return "-".join(f"{word}-{number}" for word, number in parts if number is not None)

    def of(self, ordered: list[Item]) -> list[Item]:
        """Return the selected items, in order."""
        chosen = ordered if self.first is None else ordered[: self.first]
        return chosen if self.last is None else chosen[max(len(chosen) - self.last, 0) :]


@dataclass(frozen=True)
class Sample:
    """A named set of values of one recording by which cells of a matrix are compared."""

    name: str
    label: str
    unit: str
    values: NDArray[np.float64]
    of: str = "workloads"
    """What each value describes, in the plural."""


@dataclass(frozen=True)
class Analysis:
    """The complete analysis of one recording, ready to be written: the same for every kind of workload."""

    place: Place
    title: str
    lab: Lab
    frames: Mapping[str, pd.DataFrame]
    specs: Mapping[str, TableSpec]
    kpis: tuple[KpiValue, ...]
    samples: tuple[Sample, ...]
    make_sections: Callable[[], tuple[Section, ...]]
    """The function for `sections`: figures and tables cost as much as all the rest, and only a report has them."""
    findings: tuple[Finding, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    """What distinguishes it in addition to the values of its cell: the model, for example."""
    period: tuple[float, float] | None = None
    """The start and the end of its work, in seconds since the epoch; None if unknown."""
    method: Method = "linear"
    """The method of its percentiles."""
    with_metric_kpis: Callable[[Sequence[KpiValue]], tuple[KpiValue, ...]] = tuple
    """The function that completes its KPIs, to which those of Prometheus' data were added."""
    make_metric_sections: Callable[[Sequence[Ranges]], tuple[Section, ...]] | None = None
    """The function for sections that need Prometheus' data of its time."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """What every figure of it states: simulated parts, and the selected workloads."""
        return (*self.lab.phrases, self.place.part) if self.place.part else self.lab.phrases

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Return its sections of the report, computed on first access."""
        return self.make_sections()


@dataclass(frozen=True)
class Across:
    """The joint results of the recordings of one kind in a run: the recordings with more KPIs, and figures."""

    analyses: tuple[Analysis, ...]
    make_figures: Callable[[], tuple[Figure, ...]]
    """The function for the figures: only a report has them."""


@dataclass(frozen=True)
class WorkloadType(TableSource[TablesType]):
    """A kind of workload."""

    analyse: Callable[[TablesType, Place, Method], Analysis]
    select: Callable[[TablesType, Selection], tuple[TablesType, str]] | None = None
    """Returns the tables of selected workloads, and a phrase for the selection; None if not supported."""
    monitored: Callable[[TablesType, Place, tuple[Ranges, ...]], TablesType] | None = None
    """Returns the tables with Prometheus' data of the workloads; None if the kind does not use it."""
    kpis: tuple[Kpi[Any], ...] = ()
    """Every KPI of `analyse` and `across`: what can be judged."""
    across: Callable[[tuple[Analysis, ...]], Across] | None = None
    """Computes results from all recordings of this kind in a run, once each is analysed."""
    parts: tuple[str, ...] = ()
    """Markers of recordings below one of this kind that are its parts, and not recordings themselves."""
