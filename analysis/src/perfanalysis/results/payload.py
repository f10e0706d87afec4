"""One run as a typed document, psap.perf/payload/1: metadata, results and KPIs.

The types are the model for the JSON Schema, the reader and the writer. Written and read again, a payload is equal in
every digit. docs/history.md describes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from perfanalysis.errors import UsageError
from perfanalysis.files.discovery import Lab, Run
from perfanalysis.files.documents import Document, iso, listing, mapping, schema_problem, text_or_none
from perfanalysis.files.findings import Finding
from perfanalysis.workloads.kpis import KpiResult
from perfanalysis.workloads.labels import key_settings, labels_of, settings_of
from perfanalysis.workloads.percentiles import Method, Value, estimates
from perfanalysis.workloads.run_analysis import RunAnalysis
from perfanalysis.workloads.workload_type import Analysis, Sample

SCHEMA: Literal["psap.perf/payload/1"] = "psap.perf/payload/1"
NULL_HAS_A_REASON = Meta(
    extra_json_schema={
        "if": {"properties": {"value": {"type": "null"}}},
        "then": {
            "properties": {
                "reason": {"type": "string", "minLength": 1},
                "low": {"type": "null"},
                "high": {"type": "null"},
            }
        },
    }
)
Wire = TypeVar("Wire", bound=Value)


class Statistic(Value, frozen=True, kw_only=True):
    """A percentile or the maximum of some values."""

    name: Annotated[str, Meta(description="p50, p90, p95, p99 or max")]


@dataclass(frozen=True)
class Distribution:
    """A named set of values of one recording, as statistics."""

    name: str
    label: Annotated[str, Meta(description="name for readers")]
    unit: str
    of: Annotated[str, Meta(description="what each value describes, in the plural")]
    count: Annotated[int, Meta(description="values", extra_json_schema={"minimum": 0})]
    statistics: tuple[Annotated[Statistic, NULL_HAS_A_REASON], ...]


@dataclass(frozen=True)
class Result:
    """One recording: its labels, the keys for comparisons, and its distributions."""

    recording: Annotated[str, Meta(description="directory below the run, with dots")]
    kind: Annotated[str, Meta(description="the file that makes a directory a recording of this kind")]
    title: str
    started: Annotated[str | None, Meta(description="UTC, ISO 8601; null if unknown")]
    ended: Annotated[str | None, Meta(description="UTC, ISO 8601; null if unknown")]
    labels: Annotated[Mapping[str, str], Meta(description="labels that distinguish it from the run's other recordings")]
    keys: Annotated[Mapping[str, Any], Meta(description="settings marked compare: key, and the cell's values")]
    distributions: tuple[Distribution, ...]
    findings: tuple[Finding, ...]


class RecordingKpi(KpiResult, frozen=True, kw_only=True):
    """A declared result of one recording."""

    recording: Annotated[str, Meta(description="result that it belongs to")]


@dataclass(frozen=True)
class Metadata:
    """The run: id, time, result, and the known facts of its environment."""

    run: Annotated[str, Meta(description="the run's id")]
    flow: str | None
    status: Annotated[str, Meta(description="state of the run")]
    reason: Annotated[str | None, Meta(description="the earliest failure")]
    started: Annotated[str | None, Meta(description="UTC, ISO 8601")]
    ended: Annotated[str | None, Meta(description="UTC, ISO 8601")]
    lab: Lab
    analysis: Annotated[str, Meta(description="version of perfanalysis that computed it")]
    facts: Annotated[
        Mapping[str, Any],
        Meta(
            description=(
                "facts of the run, not used for comparisons: cluster.…, rhoai.…, version.…, git.…, presets, site, "
                "setting.…"
            )
        ),
    ]
    findings: Annotated[tuple[Finding, ...], Meta(description="of the run, not of one recording")]


@dataclass(frozen=True)
class Payload:
    """One run: metadata, a result for each recording, and the KPIs. Readers accept unknown keys."""

    schema: Annotated[Literal["psap.perf/payload/1"], Meta(extra_json_schema={"const": SCHEMA})]
    metadata: Metadata
    results: tuple[Result, ...]
    kpis: tuple[Annotated[RecordingKpi, NULL_HAS_A_REASON], ...]


def payload_schema() -> Document:
    """Return the JSON Schema of psap.perf/payload/1; the types of a payload are in `$defs`."""
    _, found = msgspec.json.schema_components((Payload,), ref_template="#/$defs/{name}")
    for schema in found.values():
        schema["description"] = " ".join(schema["description"].split())
    whole = found.pop("Payload")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "title": SCHEMA}
    return {**head, "$defs": dict(sorted(found.items()))}


def to_json(payload: Payload) -> Document:
    """Return the document psap.perf/payload/1."""
    document: Document = msgspec.to_builtins(payload)
    return document


def from_json(document: object) -> Payload:
    """Return the payload of a document, without unknown keys. Raises UsageError with the place of an invalid value."""
    problem = schema_problem(mapping(document).get("schema"), "payload")
    if problem:
        raise UsageError(f"not a payload: {problem}")
    try:
        return msgspec.convert(document, Payload)
    except msgspec.ValidationError as error:
        raise UsageError(f"not a payload: {error}") from error


def payload_of(result: RunAnalysis) -> Payload:
    """Return the payload; the same run and version of perfanalysis give the same one."""
    return Payload(
        SCHEMA,
        _metadata(result),
        tuple(_result(analysis, result) for analysis in result.analyses),
        tuple(
            _of_value(kpi, {"recording": analysis.place.name}, RecordingKpi)
            for analysis in result.analyses
            for kpi in analysis.kpis
        ),
    )


def _metadata(result: RunAnalysis) -> Metadata:
    run = result.run.document or {}
    of_recordings = {finding for analysis in result.analyses for finding in analysis.findings}
    return Metadata(
        run=result.run.id,
        flow=text_or_none(run.get("flow")),
        status=result.run.status,
        reason=_reason(mapping(run.get("reason"))),
        started=text_or_none(run.get("started")),
        ended=text_or_none(run.get("ended")),
        lab=result.lab,
        analysis=version("psap-perf"),
        facts=facts_of(result.run),
        findings=tuple(finding for finding in result.findings if finding not in of_recordings),
    )


def _reason(reason: Mapping[str, Any]) -> str | None:
    """Return the first failure of run.json in one line."""
    return ": ".join(str(reason[part]) for part in ("what", "why") if reason.get(part)) or None


def facts_of(found: Run) -> dict[str, Any]:
    """Return facts of a whole run that are not keys, by dotted names."""
    run = found.document or {}
    keys = key_settings(found)
    settings = {
        f"setting.{name}": mapping(entry).get("value")
        for name, entry in mapping(found.settings.get("all")).items()
        if name not in keys
    }
    facts = {
        "presets": listing(run.get("presets")),
        "site": run.get("site"),
        "lab": mapping(run.get("lab")).get("name"),
        **dict(_dotted("cluster", run.get("cluster"))),
        **dict(_dotted("rhoai", run.get("rhoai"))),
        **dict(_dotted("version", run.get("versions"))),
        **dict(_dotted("git", run.get("git"))),
        **settings,
    }
    return {name: plain(value) for name, value in sorted(facts.items()) if value is not None}


def _dotted(name: str, value: object) -> Iterator[tuple[str, Any]]:
    return ((f"{name}.{key}", part) for key, part in mapping(value).items())


def plain(value: Any) -> Any:
    """Convert a value of a YAML file to JSON: no dates, no NaN, keys as text."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(part) for part in value]
    finite = isinstance(value, float) and math.isfinite(value)
    return value if value is None or finite or isinstance(value, str | int | bool) else str(value)


def _result(analysis: Analysis, result: RunAnalysis) -> Result:
    began, ended = analysis.period or (None, None)
    return Result(
        recording=analysis.place.name,
        kind=analysis.place.marker,
        title=analysis.title,
        started=iso(began),
        ended=iso(ended),
        labels=labels_of(analysis),
        keys=plain(settings_of(analysis, result.run)),
        distributions=tuple(_distribution(sample, analysis.method) for sample in analysis.samples),
        findings=analysis.findings,
    )


def _distribution(sample: Sample, method: Method) -> Distribution:
    found = estimates(sample.values, method)
    statistics = (_of_value(one, {"name": name}, Statistic) for name, one in found.items())
    count = found["max"].count or 0
    return Distribution(sample.name, sample.label, sample.unit, sample.of, count, tuple(statistics))


def _of_value(value: Value, more: Mapping[str, str], kind: type[Wire]) -> Wire:
    """Return a value in the form of the document, with its description."""
    return msgspec.convert({**msgspec.to_builtins(value), **more}, kind)
