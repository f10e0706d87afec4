"""KPIs: declared once with help, unit and direction; written as JSON and as OpenMetrics text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta

from perfanalysis.files.documents import Document, finite_number
from perfanalysis.units import unit_of
from perfanalysis.workloads.percentiles import Method, Value

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

Direction = Literal["higher", "lower", "neither"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
NAME = re.compile(r"[a-z][a-z0-9_]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
NOT_EMPTY = {"minLength": 1}
MeasuresType = TypeVar("MeasuresType")


@dataclass(frozen=True)
class StatisticOf:
    """The statistic that a KPI is: the measure whose values a recording stores, and the meaning of a value.

    `statistic` is p50, p90, p95, p99, max or mean; `once` measures have at most one value of each workload.
    """

    measure: str
    statistic: str
    help: str
    once: bool = False


@dataclass(frozen=True)
class Kpi(Generic[MeasuresType]):
    """A declared result. `direction` is the better direction; `headline` puts it at the top of the report.

    `unit` is one of perfanalysis.units, by its name or its UCUM code. `labels` distinguish KPIs of one name, in
    addition to the labels of the recording. `of` is set if the number is a statistic of stored values, of which other
    statistics can be computed. Raises ValueError if the declaration is incomplete.
    """

    name: str
    help: str
    unit: str
    direction: Direction
    function: Callable[[MeasuresType], Value]
    headline: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    of: StatisticOf | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or not self.help or not self.unit:
            raise ValueError(f"KPI {self.name!r}: needs a lower_case name, a help sentence and a unit")
        if self.direction not in DIRECTIONS:
            raise ValueError(f"KPI {self.name}: direction {self.direction!r} is not one of {DIRECTIONS}")
        wrong = next((name for name in self.labels if not LABEL.fullmatch(name)), None)
        if wrong is not None:
            raise ValueError(f"KPI {self.name}: invalid label {wrong!r}: use letters, digits and _")
        try:
            object.__setattr__(self, "unit", unit_of(self.unit).name)
        except ValueError as error:
            raise ValueError(f"KPI {self.name}: {error}") from error


def statistic_kpis(
    measure: str,
    help: str,  # noqa: A002 - as of a KPI
    direction: Direction,
    function: Callable[[str], Callable[[MeasuresType], Value]],
    headlines: Mapping[str, str] | None = None,
    *,
    once: bool = False,
) -> tuple[Kpi[MeasuresType], ...]:
    """Return median and P99 of a measure in seconds, with the functions that *function* returns."""
    return tuple(
        Kpi(
            f"{measure}_{statistic}",
            f"{statistic.upper()} of {help}",
            "seconds",
            direction,
            function(statistic),
            (headlines or {}).get(statistic),
            of=StatisticOf(measure, statistic, help, once),
        )
        for statistic in ("p50", "p99")
    )


class KpiResult(Value, frozen=True, kw_only=True):
    """The value of a KPI in documents, from any tool."""

    name: Annotated[str, Meta(description="declared name", extra_json_schema={"pattern": "^[a-z][a-z0-9_]*$"})]
    help: Annotated[str, Meta(description="a sentence", extra_json_schema=NOT_EMPTY)]
    unit: Annotated[str, Meta(description="base unit of Prometheus, or one of UCUM", extra_json_schema=NOT_EMPTY)]
    direction: Annotated[Direction, Meta(description="which direction is better")]
    labels: Annotated[Mapping[str, str], Meta(description="labels that distinguish KPIs with the same name")] = {}


class KpiValue(KpiResult, frozen=True, kw_only=True):
    """The value of a KPI of one recording, with its declaration for reports."""

    headline: str | None = None
    of: StatisticOf | None = None

    @property
    def known(self) -> float:
        """Return the number, which every KPI of a history has. Raises ValueError with the reason if it is missing."""
        if self.number is None:
            raise ValueError(f"{self.name} has no number: {self.reason}")
        return self.number

    @property
    def series(self) -> str:
        """Return its distinguishing name in the recording: `waiting`, with own labels `waiting{tenant="a"}`."""
        inner = ",".join(f'{key}="{_escape(text)}"' for key, text in sorted(self.labels.items()))
        return f"{self.name}{{{inner}}}" if inner else self.name


def evaluate(
    kpis: Iterable[Kpi[MeasuresType]], measures: MeasuresType, absent: Sequence[str] = ()
) -> tuple[KpiValue, ...]:
    """Compute every KPI. Raises ValueError for a KPI whose function returns neither a finite number nor a reason.

    `absent` are missing input files: a result of 0 is then unknown, not zero.
    """
    return tuple(_evaluate(kpi, measures, absent) for kpi in kpis)


def _evaluate(kpi: Kpi[MeasuresType], measures: MeasuresType, absent: Sequence[str]) -> KpiValue:
    value = kpi.function(measures)
    if absent and value.number == 0:
        value = Value(None, f"not seen: {', '.join(absent)} is missing")
    if value.number is None and not value.reason:
        raise ValueError(f"KPI {kpi.name}: its function returned neither a number nor a reason")
    for number in (value.number, value.low, value.high):
        if number is not None and not math.isfinite(number):
            raise ValueError(
                f"KPI {kpi.name}: its function returned {number}; return None and a reason if the value is missing"
            )
    return KpiValue(
        _native(value.number),
        value.reason,
        _native(value.low),
        _native(value.high),
        None if value.count is None else int(value.count),
        name=kpi.name,
        help=kpi.help,
        unit=kpi.unit,
        direction=kpi.direction,
        labels=kpi.labels,
        headline=kpi.headline,
        of=kpi.of,
    )


def _native(number: float | None) -> float | None:
    """Convert to Python's own number: JSON does not have numpy's."""
    return None if number is None else float(number)


LabelledKpis = tuple[Mapping[str, str], tuple[KpiValue, ...]]
"""The labels that distinguish a recording, and its KPIs."""


def kpis_document(run: Mapping[str, Any], results: Iterable[LabelledKpis], method: Method = "linear") -> Document:
    """Return the document psap.perf/kpis/1; `run` has run, flow, status and lab."""
    kpis = [
        {**declared(value), "labels": {**labels, **value.labels}, **measured(value)}
        for labels, values in results
        for value in values
    ]
    return {"schema": "psap.perf/kpis/1", **run, "percentiles": method, "kpis": kpis}


def kpi_document(value: KpiResult) -> Document:
    """Return a KPI in a history's format; without the key `labels` if it has no labels."""
    return {**declared(value), **({"labels": dict(value.labels)} if value.labels else {}), **measured(value)}


def declared(value: KpiResult) -> Document:
    """Return the part of a KPI's document that is the same in every run."""
    return _parts(value, ("name", "help", "unit", "direction"))


def measured(value: Value) -> Document:
    """Return the part of a KPI's document about its value."""
    return _parts(value, ("value", "reason", "low", "high", "count"))


def _parts(value: Value, names: Sequence[str]) -> Document:
    built = msgspec.to_builtins(value)
    return {name: built[name] for name in names}


def kpi_of_document(kpi: object) -> KpiValue | None:
    """Return the KPI of a history's document; None if it has no finite number, or is not a KPI."""
    try:
        found = msgspec.convert(kpi, KpiValue)
    except msgspec.ValidationError:
        return None
    return None if finite_number(found.number) is None else found


def openmetrics(results: Iterable[LabelledKpis], common: Mapping[str, str]) -> str:
    """Return OpenMetrics text: one gauge family per KPI, one sample per recording; KPIs without a number have no
    sample.
    """
    from prometheus_client.metrics_core import Metric
    from prometheus_client.openmetrics.exposition import generate_latest

    families: dict[str, Metric] = {}
    for labels, values in results:
        for value in values:
            name, unit = metric_name(value), unit_of(value.unit).metric
            family = families.setdefault(name, Metric(name, value.help, "gauge", unit))
            if value.number is not None:
                family.add_sample(name, _labels(common, labels, value.labels), value.number)
    text: bytes = generate_latest(_Collected(tuple(families.values())))  # type: ignore[no-untyped-call]
    return text.decode()


@dataclass(frozen=True)
class _Collected:
    """Families for the writer of the client library."""

    families: tuple[Metric, ...]

    def collect(self) -> tuple[Metric, ...]:
        return self.families


def metric_name(kpi: Kpi[Any] | KpiValue) -> str:
    """Return the metric family's name; OpenMetrics requires the unit as its suffix."""
    unit = unit_of(kpi.unit).metric
    name = f"psap_perf_{kpi.name}"
    return name if name.endswith(f"_{unit}") else f"{name}_{unit}"


def _labels(*sources: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of a sample, with distinct names even if they only differ in characters that labels cannot
    have.
    """
    found: dict[str, str] = {}
    for source in sources:
        for key, text in source.items():
            name = _label(key)
            while name in found:
                name += "_"
            found[name] = text
    return found


def _label(key: str) -> str:
    """Return a name that OpenMetrics accepts: no leading digit, and no double _, which is reserved."""
    name = re.sub(r"[^a-zA-Z0-9_]", "_", key)
    return re.sub(r"^(?=\d)|^__+", "_", name) or "_"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
