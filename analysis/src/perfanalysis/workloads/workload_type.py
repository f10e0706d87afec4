"""What a kind of workload must declare to be analysed.

Which workloads of a recording are looked at: all, or the first or last ones by submission.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
        """Such as "first 100", "last 20 of the first 100"; empty for all."""
        first = "" if self.first is None else f"first {self.first}"
        if self.last is None:
            return first
        return f"last {self.last} of the {first}" if first else f"last {self.last}"

    @property
    def folder(self) -> str:
        """A name for what is written of it."""
        parts = (("first", self.first), ("last", self.last))
        return "-".join(f"{word}-{number}" for word, number in parts if number is not None)

    def of(self, ordered: list[Item]) -> list[Item]:
        """The chosen ones of items in order."""
        chosen = ordered if self.first is None else ordered[: self.first]
        return chosen if self.last is None else chosen[max(len(chosen) - self.last, 0) :]


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
    lab: Lab
    frames: Mapping[str, pd.DataFrame]
    specs: Mapping[str, TableSpec]
    kpis: tuple[KpiValue, ...]
    samples: tuple[Sample, ...]
    make_sections: Callable[[], tuple[Section, ...]]
    """What gives `sections`: figures and shown tables cost as much as all else, and only a report has them."""
    findings: tuple[Finding, ...]
    facts: Mapping[str, str] = field(default_factory=dict)
    """What tells it from other recordings of a run beside the values of its cell: the model, for example."""
    period: tuple[float, float] | None = None
    """When its work began and ended, in seconds since the epoch; None where that is not known."""
    method: Method = "linear"
    """By which its percentiles are taken."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """What every figure of it says: what was not real, and which of its workloads are shown."""
        return (*self.lab.phrases, self.place.part) if self.place.part else self.lab.phrases

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Its part of the report, made when it is first asked for."""
        return self.make_sections()


@dataclass(frozen=True)
class Across:
    """What the recordings of one kind in a run tell together: they themselves with more KPIs, and figures."""

    analyses: tuple[Analysis, ...]
    make_figures: Callable[[], tuple[Figure, ...]]
    """What gives the figures: only a report has them."""


@dataclass(frozen=True)
class WorkloadType(TableSource[TablesType]):
    """A kind of workload."""

    analyse: Callable[[TablesType, Place, Method], Analysis]
    select: Callable[[TablesType, Selection], tuple[TablesType, str]] | None = None
    """The tables of some workloads only, and a phrase that says which; None where a kind cannot be cut down."""
    monitored: Callable[[TablesType, Place, tuple[Ranges, ...]], TablesType] | None = None
    """The tables with what Prometheus knows of the workloads; None where a kind has no use for it."""
    kpis: tuple[Kpi[Any], ...] = ()
    """Every KPI that `analyse` and `across` give: what can be judged."""
    across: Callable[[tuple[Analysis, ...]], Across] | None = None
    """From all recordings of this kind in a run, once each is analysed."""
    parts: tuple[str, ...] = ()
    """Markers of recordings below one of this kind that are its parts, and none themselves."""
