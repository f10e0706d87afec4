"""A metric of an orion config: which documents it is taken from, and how its changes are judged."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import any_number
from perfanalysis.imports.orion.template import Located
from perfanalysis.workloads.kpis import Direction

AGGREGATES = ("avg", "sum", "max", "min", "count", "percentiles")
TARGET_PERCENTILE = 95.0
CONTEXT = 5
BOTH, INCREASES, DECREASES = 0, 1, -1
RESERVED = frozenset(
    (
        *("acceptable_range", "agg", "context", "correlation", "direction", "dry_run", "fan_out", "group_by", "labels"),
        *("metric_of_interest", "name", "not", "threshold", "timestamp", "type"),
    )
)
"""Keys that say something; every other key of a metric is a field that documents must have with that value."""
NOT_DONE: Mapping[str, str] = {
    "acceptable_range": "a range of values is a threshold of `perfanalysis judge`",
    "dry_run": "every metric is judged",
    "group_by": "its values are only in orion's index: write a metric for each, or take in orion's JSON",
}
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_WORDS = re.compile(r"[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+[a-z]*")


@dataclass(frozen=True)
class Metric:
    """One metric. `fields` are what its documents must have, `without` what they must not have, by dotted names."""

    name: str
    line: int
    fields: Mapping[str, Any]
    without: Mapping[str, tuple[Any, ...]]
    of_interest: str
    aggregate: str | None
    percentile: float
    direction: int
    threshold: float
    """Percent of the level before; smaller changes do not matter."""
    labels: tuple[str, ...]
    correlation: str | None
    context: int
    carried: bool
    """Whether it is only carried along, and not judged."""
    not_done: tuple[str, ...]
    """What it asks for that is not done here, and what to do instead."""

    @property
    def column(self) -> str:
        """The column's name in orion's output."""
        return f"{self.name}_{self.aggregate or self.of_interest}"

    @property
    def metric_name(self) -> str | None:
        """The kind of documents: `podLatencyQuantilesMeasurement`, `containerCPU`, …"""
        found = self.fields.get("metricName", self.fields.get("metricName.keyword"))
        return None if found is None else str(found)

    @property
    def better(self) -> Direction | Literal["either"]:
        """Which way is better: orion's direction says which way is worse."""
        if self.direction == BOTH:
            return "either"
        return "lower" if self.direction == INCREASES else "higher"


def kpi_name(column: str) -> str:
    """`podReadyLatency_P99` is `pod_ready_latency_p99`, `apiserverCPU_avg` is `apiserver_cpu_avg`.

    The same column always has the same name, whatever others there are. Empty when it has no letter and no digit.
    """
    name = "_".join(word.lower() for word in _WORDS.findall(column))
    return f"m_{name}" if name[:1].isdigit() else name


def expanded(metric: Located, where: str) -> list[Located]:
    """One metric for each entry of its `fan_out`, `${name}` replaced by the entry's value; else the metric itself."""
    if "fan_out" not in metric:
        return [metric]
    entries = metric["fan_out"]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{where}:{metric.line}: fan_out must be a list of mappings")
    found = []
    for entry in entries:
        reserved = sorted(RESERVED & entry.keys())
        if reserved:
            raise UsageError(f"{where}:{metric.line}: fan_out cannot set {', '.join(reserved)}")
        made = Located(_replaced({key: value for key, value in metric.items() if key != "fan_out"}, entry))
        made.update({key: value for key, value in entry.items() if key in made})
        made.line = metric.line
        found.append(made)
    return found


def _replaced(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), value)
    if isinstance(value, dict):
        return {key: _replaced(part, values) for key, part in value.items()}
    if isinstance(value, list):
        return [_replaced(part, values) for part in value]
    return copy.copy(value)


def metric_of(given: Located, defaults: Mapping[str, Any], where: str) -> Metric:
    """The metric; `defaults` are those of its test. Raises UsageError naming file, line and key."""
    place = f"{where}:{given.line}"
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f"{place}: a metric needs a name")
    place += f": metric {name}"
    aggregate, percentile = _aggregate(given.get("agg"), place)
    of_interest = given.get("metric_of_interest")
    if of_interest is None and aggregate is None:
        raise UsageError(f"{place}: it needs metric_of_interest or agg")
    correlation = given.get("correlation") or None
    labels = given.get("labels")
    return Metric(
        name=name,
        line=given.line,
        fields={key: value for key, value in given.items() if key not in RESERVED},
        without=_without(given.get("not"), place),
        of_interest=str(of_interest or ""),
        aggregate=aggregate,
        percentile=percentile,
        direction=int(_bounded(given, "direction", INCREASES, (BOTH, INCREASES, DECREASES).__contains__, place)),
        threshold=_bounded(given, "threshold", defaults.get("threshold", 0), lambda value: value >= 0, place),
        labels=tuple(map(str, labels)) if isinstance(labels, list) else (),
        correlation=None if correlation is None else str(correlation),
        context=int(_bounded(given, "context", CONTEXT, lambda value: value >= 0, place)),
        carried=given.get("type") == "metadata",
        not_done=tuple(f"{key} of {name}: {why}" for key, why in NOT_DONE.items() if given.get(key)),
    )


def _aggregate(given: object, place: str) -> tuple[str | None, float]:
    if given is None:
        return None, TARGET_PERCENTILE
    kind = given.get("agg_type") if isinstance(given, dict) else None
    if not isinstance(given, dict) or kind not in AGGREGATES:
        raise UsageError(f"{place}: agg needs agg_type, one of {', '.join(AGGREGATES)}; not {kind!r}")
    target = given.get("target_percentile", TARGET_PERCENTILE)
    if isinstance(target, bool) or not isinstance(target, int | float) or not 0 < target <= 100:
        raise UsageError(f"{place}: target_percentile must be above 0 and at most 100, not {target!r}")
    return str(kind), float(target)


def _without(given: object, place: str) -> Mapping[str, tuple[Any, ...]]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise UsageError(f"{place}: not must be a mapping of fields to values")
    return {str(name): tuple(value) if isinstance(value, list) else (value,) for name, value in given.items()}


def _bounded(given: Located, key: str, default: object, accepted: Callable[[float], bool], place: str) -> float:
    value = given.get(key, default)
    number = any_number(value)
    if number is None or not accepted(number):
        allowed = {"direction": "1, 0 or -1"}.get(key, "a number, 0 or more")
        raise UsageError(f"{place}: {key} must be {allowed}, not {value!r}")
    return number
