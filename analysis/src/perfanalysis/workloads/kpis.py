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
    """What a KPI is a statistic of: the measure whose values a recording keeps, and what one of them is.

    `statistic` is p50, p90, p95, p99, max or mean; `once` measures have at most one value of each workload.
    """

    measure: str
    statistic: str
    help: str
    once: bool = False


@dataclass(frozen=True)
class Kpi(Generic[MeasuresType]):
    """A declared result. `direction` says which way is better; `headline` puts it on top of the report.

    `unit` is one of perfanalysis.units, by its name or its code in UCUM. `labels` tell KPIs of one name apart, beside
    the labels of the recording. `of` is there when the number is a statistic of kept values, which other statistics can
    be computed of. ValueError says what a declaration lacks.
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
            raise ValueError(f"KPI {self.name!r}: a lower_case name, a help sentence and a unit are needed")
        if self.direction not in DIRECTIONS:
            raise ValueError(f"KPI {self.name}: direction {self.direction!r} is none of {DIRECTIONS}")
        wrong = next((name for name in self.labels if not LABEL.fullmatch(name)), None)
        if wrong is not None:
            raise ValueError(f"KPI {self.name}: {wrong!r} is no name of a label: letters, digits and _")
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
    """Median and P99 of a measure in seconds, by what *function* gives for each."""
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
    """The value of a KPI as documents have it, whoever measured it."""

    name: Annotated[str, Meta(description="declared name", extra_json_schema={"pattern": "^[a-z][a-z0-9_]*$"})]
    help: Annotated[str, Meta(description="a sentence", extra_json_schema=NOT_EMPTY)]
    unit: Annotated[str, Meta(description="base unit of Prometheus, or one of UCUM", extra_json_schema=NOT_EMPTY)]
    direction: Annotated[Direction, Meta(description="which way is better")]
    labels: Annotated[Mapping[str, str], Meta(description="its own, which tell KPIs of one name apart")] = {}


class KpiValue(KpiResult, frozen=True, kw_only=True):
    """The value of a KPI of one recording, with what its declaration says to reports."""

    headline: str | None = None
    of: StatisticOf | None = None

    @property
    def known(self) -> float:
        """The number of one that has one, as all in a history have; ValueError says why there is none."""
        if self.number is None:
            raise ValueError(f"{self.name} has no number: {self.reason}")
        return self.number

    @property
    def series(self) -> str:
        """What tells it from the other KPIs of its recording: `waiting`, with own labels `waiting{tenant="a"}`."""
        inner = ",".join(f'{key}="{_escape(text)}"' for key, text in sorted(self.labels.items()))
        return f"{self.name}{{{inner}}}" if inner else self.name


def evaluate(
    kpis: Iterable[Kpi[MeasuresType]], measures: MeasuresType, absent: Sequence[str] = ()
) -> tuple[KpiValue, ...]:
    """Compute every KPI. ValueError names a KPI whose function gives neither a finite number nor a reason.

    `absent` are input files that are not there: what comes out as 0 then was not seen, which is not none.
    """
    return tuple(_evaluate(kpi, measures, absent) for kpi in kpis)


def _evaluate(kpi: Kpi[MeasuresType], measures: MeasuresType, absent: Sequence[str]) -> KpiValue:
    value = kpi.function(measures)
    if absent and value.number == 0:
        value = Value(None, f"not seen: {', '.join(absent)} is missing")
    if value.number is None and not value.reason:
        raise ValueError(f"KPI {kpi.name}: its function gave neither a number nor a reason")
    for number in (value.number, value.low, value.high):
        if number is not None and not math.isfinite(number):
            raise ValueError(f"KPI {kpi.name}: its function gave {number}; missing is None with a reason")
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
    """Python's own number: numpy's would be a text, or nothing at all, in JSON."""
    return None if number is None else float(number)


LabelledKpis = tuple[Mapping[str, str], tuple[KpiValue, ...]]
"""The labels that tell a recording from others, and its KPIs."""


def kpis_document(run: Mapping[str, Any], results: Iterable[LabelledKpis], method: Method = "linear") -> Document:
    """The document psap.perf/kpis/1; `run` gives run, flow, status and lab."""
    kpis = [
        {**declared(value), "labels": {**labels, **value.labels}, **measured(value)}
        for labels, values in results
        for value in values
    ]
    return {"schema": "psap.perf/kpis/1", **run, "percentiles": method, "kpis": kpis}


def kpi_document(value: KpiResult) -> Document:
    """A KPI as a history keeps it: without labels where it has none of its own."""
    return {**declared(value), **({"labels": dict(value.labels)} if value.labels else {}), **measured(value)}


def declared(value: KpiResult) -> Document:
    """What documents say of a KPI that is the same in every run."""
    return _parts(value, ("name", "help", "unit", "direction"))


def measured(value: Value) -> Document:
    """What documents say of a value."""
    return _parts(value, ("value", "reason", "low", "high", "count"))


def _parts(value: Value, names: Sequence[str]) -> Document:
    built = msgspec.to_builtins(value)
    return {name: built[name] for name in names}


def kpi_of_document(kpi: object) -> KpiValue | None:
    """The KPI of a history's document; None for what has no finite number, or is no KPI."""
    try:
        found = msgspec.convert(kpi, KpiValue)
    except msgspec.ValidationError:
        return None
    return None if finite_number(found.number) is None else found


def openmetrics(results: Iterable[LabelledKpis], common: Mapping[str, str]) -> str:
    """OpenMetrics text: one gauge family a KPI, one sample a recording; KPIs without a number have no sample."""
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
    """What the client writes of a registry: families."""

    families: tuple[Metric, ...]

    def collect(self) -> tuple[Metric, ...]:
        return self.families


def metric_name(kpi: Kpi[Any] | KpiValue) -> str:
    """The metric family's name; OpenMetrics wants the unit as its ending."""
    unit = unit_of(kpi.unit).metric
    name = f"psap_perf_{kpi.name}"
    return name if name.endswith(f"_{unit}") else f"{name}_{unit}"


def _labels(*sources: Mapping[str, str]) -> dict[str, str]:
    """The labels of a sample, each name once: of names that differ only in signs that labels do not have, both stay."""
    found: dict[str, str] = {}
    for source in sources:
        for key, text in source.items():
            name = _label(key)
            while name in found:
                name += "_"
            found[name] = text
    return found


def _label(key: str) -> str:
    """A name that OpenMetrics takes: no digit first, and no two _, which are reserved."""
    name = re.sub(r"[^a-zA-Z0-9_]", "_", key)
    return re.sub(r"^(?=\d)|^__+", "_", name) or "_"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
