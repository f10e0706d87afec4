"""The payload's types: psap.perf/payload/1. Its JSON Schema, its reader and its writer are made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from perfanalysis.files.findings import Finding
from perfanalysis.workloads.kpis import Direction

SCHEMA: Literal["psap.perf/payload/1"] = "psap.perf/payload/1"


@dataclass(frozen=True)
class About:
    """What the schema says of a field beside its type: a phrase, and rules in the words of JSON Schema."""

    text: str
    rules: Mapping[str, Any] = field(default_factory=dict)


NULL_HAS_A_REASON: Mapping[str, Any] = {
    "if": {"properties": {"value": {"type": "null"}}},
    "then": {
        "properties": {
            "reason": {"type": "string", "minLength": 1},
            "low": {"type": "null"},
            "high": {"type": "null"},
        }
    },
}
MISSING = About("null is missing, with a reason; never 0 or -1 in its place")
WHY = About("why the value, or only its interval, is missing")
LOW = About("lower end of the 95 % interval")
HIGH = About("upper end of the 95 % interval")
COUNT = About("values it was made from", {"minimum": 0})


@dataclass(frozen=True)
class Statistic:
    """A percentile or the largest of some values."""

    RULES: ClassVar[Mapping[str, Any]] = NULL_HAS_A_REASON
    name: Annotated[str, About("p50, p90, p95, p99 or max")]
    value: Annotated[float | None, MISSING]
    reason: Annotated[str | None, WHY]
    low: Annotated[float | None, LOW]
    high: Annotated[float | None, HIGH]


@dataclass(frozen=True)
class Distribution:
    """A named set of values of one recording, by its statistics."""

    name: str
    label: Annotated[str, About("its name for readers")]
    unit: str
    of: Annotated[str, About("what each value is of, in the plural")]
    count: Annotated[int, About("values", {"minimum": 0})]
    statistics: tuple[Statistic, ...]


@dataclass(frozen=True)
class Result:
    """One recording: what it is of, what it may be compared with, and its distributions."""

    recording: Annotated[str, About("its directory below the run, with dots")]
    kind: Annotated[str, About("the file that makes a directory a recording of this kind")]
    title: str
    started: Annotated[str | None, About("UTC, ISO 8601; null where it is not known")]
    ended: Annotated[str | None, About("UTC, ISO 8601; null where it is not known")]
    labels: Annotated[Mapping[str, str], About("what tells it from the run's other recordings")]
    keys: Annotated[Mapping[str, Any], About("settings marked compare: key, and the cell's values")]
    distributions: tuple[Distribution, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class KpiResult:
    """A declared result of one recording."""

    RULES: ClassVar[Mapping[str, Any]] = NULL_HAS_A_REASON
    name: Annotated[str, About("declared name", {"pattern": "^[a-z][a-z0-9_]*$"})]
    help: Annotated[str, About("a sentence", {"minLength": 1})]
    unit: Annotated[str, About("base unit of Prometheus, or one of UCUM", {"minLength": 1})]
    direction: Annotated[Direction, About("which way is better")]
    recording: Annotated[str, About("the result that it belongs to")]
    labels: Annotated[Mapping[str, str], About("its own, which tell KPIs of one name apart")]
    value: Annotated[float | None, MISSING]
    reason: Annotated[str | None, WHY]
    low: Annotated[float | None, LOW]
    high: Annotated[float | None, HIGH]
    count: Annotated[int | None, COUNT]


@dataclass(frozen=True)
class Metadata:
    """The run: which, when, what became of it, and what is known of where it ran."""

    run: Annotated[str, About("the run's id")]
    flow: str | None
    status: Annotated[str, About("what is true of the run now")]
    reason: Annotated[str | None, About("the first failure in time")]
    started: Annotated[str | None, About("UTC, ISO 8601")]
    ended: Annotated[str | None, About("UTC, ISO 8601")]
    simulated: tuple[str, ...]
    emulated: tuple[str, ...]
    analysis: Annotated[str, About("the version of perfanalysis that computed it")]
    facts: Annotated[
        Mapping[str, Any],
        About("what is known of the run and decides nothing: cluster.…, version.…, git.…, presets, site, setting.…"),
    ]
    findings: Annotated[tuple[Finding, ...], About("of the run, not of a recording")]


@dataclass(frozen=True)
class Payload:
    """One run: metadata, a result for each recording, and the KPIs. Readers accept unknown keys."""

    schema: Literal["psap.perf/payload/1"]
    metadata: Metadata
    results: tuple[Result, ...]
    kpis: tuple[KpiResult, ...]
