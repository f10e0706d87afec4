"""The payload of an analysed run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from perfanalysis.files.documents import listing, mapping, text_or_none
from perfanalysis.results.payload.model import (
    SCHEMA,
    Distribution,
    KpiResult,
    Metadata,
    Payload,
    Result,
    Statistic,
)
from perfanalysis.workloads.kpis import declared, measured
from perfanalysis.workloads.labels import key_settings, labels_of, settings_of
from perfanalysis.workloads.percentiles import Method, estimates
from perfanalysis.workloads.run_analysis import RunAnalysis
from perfanalysis.workloads.workload_type import Analysis, Sample


def payload_of(result: RunAnalysis) -> Payload:
    """The payload; the same run analysed by the same version gives the same one."""
    return Payload(
        SCHEMA,
        _metadata(result),
        tuple(_result(analysis, result) for analysis in result.analyses),
        tuple(kpi for analysis in result.analyses for kpi in _kpis(analysis)),
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
        simulated=result.marks.simulated,
        emulated=result.marks.emulated,
        analysis=version("psap-perf"),
        facts=_facts(result),
        findings=tuple(finding for finding in result.findings if finding not in of_recordings),
    )


def _reason(reason: Mapping[str, Any]) -> str | None:
    """The first failure of run.json in one line."""
    return ": ".join(str(reason[part]) for part in ("what", "why") if reason.get(part)) or None


def _facts(result: RunAnalysis) -> dict[str, Any]:
    """What is known of the whole run and decides nothing by itself, by dotted names."""
    run = result.run.document or {}
    keys = key_settings(result.run)
    settings = {
        f"setting.{name}": mapping(entry).get("value")
        for name, entry in mapping(result.run.settings.get("all")).items()
        if name not in keys
    }
    facts = {
        "presets": listing(run.get("presets")),
        "site": run.get("site"),
        "lab": run.get("lab"),
        **dict(_dotted("cluster", run.get("cluster"))),
        **dict(_dotted("version", run.get("versions"))),
        **dict(_dotted("git", run.get("git"))),
        **settings,
    }
    return {name: plain(value) for name, value in sorted(facts.items()) if value is not None}


def _dotted(name: str, value: object) -> Iterator[tuple[str, Any]]:
    return ((f"{name}.{key}", part) for key, part in mapping(value).items())


def plain(value: Any) -> Any:
    """A value of a YAML file as JSON has it: no dates, no numbers that are none, names of keys as text."""
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
        started=_moment(began),
        ended=_moment(ended),
        labels=labels_of(analysis),
        keys=plain(settings_of(analysis, result.run)),
        distributions=tuple(_distribution(sample, analysis.method) for sample in analysis.samples),
        findings=analysis.findings,
    )


def _moment(seconds: float | None) -> str | None:
    if seconds is None or not math.isfinite(seconds):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _distribution(sample: Sample, method: Method) -> Distribution:
    found = estimates(sample.values, method)
    statistics = (Statistic(name, one.number, one.reason, one.low, one.high) for name, one in found.items())
    count = found["max"].count or 0
    return Distribution(sample.name, sample.label, sample.unit, sample.of, count, tuple(statistics))


def _kpis(analysis: Analysis) -> Iterator[KpiResult]:
    for each in analysis.kpis:
        yield KpiResult(**declared(each), recording=analysis.place.name, labels=dict(each.labels), **measured(each))
