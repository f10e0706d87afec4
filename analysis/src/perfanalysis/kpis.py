"""KPIs: declared once with help, unit and direction; written as JSON and as OpenMetrics text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

Direction = Literal["higher", "lower", "neither"]
NAME = re.compile(r"[a-z][a-z0-9_]*")
MeasuresType = TypeVar("MeasuresType")


@dataclass(frozen=True)
class Value:
    """What a KPI's function returns: a number, or None with the reason; interval and sample size where known."""

    number: float | None
    reason: str | None = None
    low: float | None = None
    high: float | None = None
    count: int | None = None


@dataclass(frozen=True)
class Kpi(Generic[MeasuresType]):
    """A declared result. `direction` says which way is better; `headline` puts it on top of the report."""

    name: str
    help: str
    unit: str
    direction: Direction
    function: Callable[[MeasuresType], Value]
    headline: str | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or not self.help or not self.unit:
            raise ValueError(f"KPI {self.name!r}: a lower_case name, a help sentence and a unit are needed")
        if self.direction not in get_args(Direction):
            raise ValueError(f"KPI {self.name}: direction {self.direction!r} is none of {get_args(Direction)}")


@dataclass(frozen=True)
class KpiValue:
    """A KPI of one recording. `number` is None exactly when `reason` says why, unless only the interval is."""

    name: str
    help: str
    unit: str
    direction: Direction
    headline: str | None
    number: float | None
    reason: str | None
    low: float | None
    high: float | None
    count: int | None


def evaluate(kpis: Iterable[Kpi[MeasuresType]], measures: MeasuresType) -> tuple[KpiValue, ...]:
    """Compute every KPI. ValueError names a KPI whose function gives neither a finite number nor a reason."""
    return tuple(_evaluate(kpi, measures) for kpi in kpis)


def _evaluate(kpi: Kpi[MeasuresType], measures: MeasuresType) -> KpiValue:
    value = kpi.function(measures)
    if value.number is None and not value.reason:
        raise ValueError(f"KPI {kpi.name}: its function gave neither a number nor a reason")
    if value.number is not None and not math.isfinite(value.number):
        raise ValueError(f"KPI {kpi.name}: its function gave {value.number}; missing is None with a reason")
    return KpiValue(
        kpi.name,
        kpi.help,
        kpi.unit,
        kpi.direction,
        kpi.headline,
        value.number,
        value.reason,
        value.low,
        value.high,
        value.count,
    )


@dataclass(frozen=True)
class Labelled:
    """The KPIs of one recording with the labels that tell it from others."""

    labels: Mapping[str, str]
    values: tuple[KpiValue, ...]


def kpis_document(run: Mapping[str, Any], results: Iterable[Labelled]) -> dict[str, Any]:
    """The document psap.perf/kpis/1; `run` gives run, flow, status, simulated and emulated."""
    kpis = [
        {**declared(value), "labels": dict(result.labels), **measured(value)}
        for result in results
        for value in result.values
    ]
    return {"schema": "psap.perf/kpis/1", **run, "kpis": kpis}


def declared(value: KpiValue) -> dict[str, Any]:
    """What documents say of a KPI that is the same in every run."""
    return {"name": value.name, "help": value.help, "unit": value.unit, "direction": value.direction}


def measured(value: KpiValue) -> dict[str, Any]:
    """What documents say of a KPI in one recording."""
    return {
        "value": value.number,
        "reason": value.reason,
        "low": value.low,
        "high": value.high,
        "count": value.count,
    }


def openmetrics(results: Iterable[Labelled], common: Mapping[str, str]) -> str:
    """OpenMetrics text: one gauge family a KPI, one sample a recording; KPIs without a number have no sample."""
    families: dict[str, list[str]] = {}
    for result in results:
        labels = ",".join(f'{_label(key)}="{_escape(text)}"' for key, text in {**common, **result.labels}.items())
        for value in result.values:
            name = metric_name(value)
            lines = families.setdefault(
                name, [f"# TYPE {name} gauge", *_unit_line(name, value), _help_line(name, value)]
            )
            if value.number is not None:
                lines.append(f"{name}{{{labels}}} {value.number!r}")
    return "".join(f"{line}\n" for lines in families.values() for line in lines) + "# EOF\n"


def metric_name(value: KpiValue) -> str:
    """The metric family's name; OpenMetrics wants the unit as its ending."""
    unit = _unit(value)
    name = f"psap_perf_{value.name}"
    return name if not unit or name.endswith(f"_{unit}") else f"{name}_{unit}"


def _unit(value: KpiValue) -> str:
    return re.sub(r"[^a-z0-9]+", "_", value.unit.replace("/", " per ").lower()).strip("_")


def _unit_line(name: str, value: KpiValue) -> list[str]:
    return [f"# UNIT {name} {_unit(value)}"] if _unit(value) else []


def _help_line(name: str, value: KpiValue) -> str:
    return f"# HELP {name} {_escape(value.help)}"


def _label(key: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", key)


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
