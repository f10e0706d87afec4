"""Benchmark Reports 0.2 of llm-d-benchmark as runs of a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.discovery import LAB_WORDS, Lab
from perfanalysis.files.documents import Document, finite_number, listing, load_yaml, mapping, parse_time, text_or_none
from perfanalysis.files.findings import print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.entries import ForeignRun, documents, keep, origin
from perfanalysis.imports.options import HISTORY
from perfanalysis.results.benchmark_report import LATENCIES, VERSION
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.load_test.kpis import KPIS

TOOL = "benchmark-report"
STATISTICS = ("mean", "min", "p50", "p90", "p95", "p99", "max")
RATES = {
    "output_token_rate": "output_tokens_per_second",
    "total_token_rate": "total_tokens_per_second",
    "request_rate": "requests_per_second",
}
_MILLISECONDS = ("ms", "ms/token")
_SECONDS = ("s", "s/token")
_KPIS = {kpi.name: kpi for kpi in KPIS}


@dataclass(frozen=True)
class Report:
    """A report as a run of a history, and notes about latencies whose definitions differ from those of our KPIs."""

    run: ForeignRun
    notes: tuple[str, ...]


def read_report(path: Path) -> tuple[bytes, Report]:
    """Return the contents of a file and its report.

    Raises UsageError if the file cannot be read or has another version, and DataQualityError if it is no report.
    """
    try:
        content = path.read_bytes()
        document = mapping(load_yaml(content.decode()))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    version = str(document.get("version"))
    if "run" not in document or "results" not in document:
        raise DataQualityError(f"{path.name}: it is not a Benchmark Report: run or results is missing")
    if version != VERSION and not version.startswith(f"{VERSION}."):
        raise UsageError(f"{path.name}: version {version} is not supported; convert it to {VERSION}")
    return content, _report(document, path.name)


def _report(document: Document, name: str) -> Report:
    run, load = mapping(document.get("run")), mapping(mapping(document.get("scenario")).get("load"))
    uid, standardized = text_or_none(run.get("uid")), mapping(load.get("standardized"))
    aggregate = mapping(mapping(mapping(document.get("results")).get("request_performance")).get("aggregate"))
    kpis, notes = list(_counts(aggregate)), []
    latencies = mapping(aggregate.get("latency"))
    for theirs, (ours, _unit) in LATENCIES.items():
        kpis += _latency(mapping(latencies.get(theirs)), ours)
    if "time_per_output_token" not in latencies and "inter_token_latency" in latencies:
        kpis += _latency(mapping(latencies["inter_token_latency"]), "itl")
        notes.append("itl is the report's inter_token_latency, a distribution over tokens")
    if not uid or not kpis:
        raise DataQualityError(f"{name}: run.uid or the results of requests are missing")
    keys = {"load": _words(standardized), "generator": text_or_none(standardized.get("tool")), **_served(document)}
    facts = {"eid": run.get("eid"), "generator_version": standardized.get("tool_version"), "user": run.get("user")}
    found = ForeignRun(
        uid,
        TOOL,
        "load",
        parse_time(mapping(run.get("time")).get("start")),
        tuple(kpis),
        {key: value for key, value in keys.items() if value is not None},
        {key: value for key, value in facts.items() if isinstance(value, str)},
        _lab(listing(run.get("keywords"))),
    )
    return Report(found, tuple(notes))


def _words(standardized: Document) -> str | None:
    rate, concurrency = (finite_number(standardized.get(name)) for name in ("rate_qps", "concurrency"))
    if concurrency is not None:
        return counted(int(concurrency), "user")
    return None if rate is None else f"{rate:.3g} requests/s"


def _served(document: Document) -> Mapping[str, Any]:
    """Return model, GPUs and parts of the first inference engine; without one, the fields that this program writes."""
    components = map(mapping, listing(mapping(document.get("scenario")).get("stack")))
    stack = [mapping(component.get("standardized")) for component in components]
    engine = next((one for one in stack if one.get("kind") == "inference_engine"), None)
    if engine is None:
        own = next(iter(stack), {})
        return {name: text_or_none(own.get(name)) for name in ("model", "flavor")}
    accelerator = mapping(engine.get("accelerator"))
    return {
        "model": text_or_none(mapping(engine.get("model")).get("name")),
        "gpu_product": text_or_none(accelerator.get("model")),
        "gpus": finite_number(accelerator.get("count")),
        "replicas": finite_number(engine.get("replicas")),
        "role": text_or_none(engine.get("role")),
    }


def _counts(aggregate: Document) -> Iterator[KpiValue]:
    requests, rates = mapping(aggregate.get("requests")), mapping(aggregate.get("throughput"))
    total, failures = (finite_number(requests.get(name)) for name in ("total", "failures"))
    incomplete = finite_number(requests.get("incomplete")) or 0.0
    if failures is not None:
        yield _kpi("requests_failed", failures)
        if total is not None and total > incomplete:
            yield _kpi("requests_failed_ratio", failures / (total - incomplete))
    for theirs, ours in RATES.items():
        if (rate := finite_number(mapping(rates.get(theirs)).get("mean"))) is not None:
            yield _kpi(ours, rate)


def _latency(statistics: Document, measure: str) -> Iterator[KpiValue]:
    unit = statistics.get("units")
    if unit not in (*_SECONDS, *_MILLISECONDS):
        return
    factor = 1e-3 if unit in _MILLISECONDS else 1.0
    for statistic in STATISTICS:
        if (number := finite_number(statistics.get(statistic))) is not None:
            yield _kpi(f"{measure}_{statistic}", number * factor)


def _kpi(name: str, number: float) -> KpiValue:
    declared = _KPIS[name]
    return KpiValue(number, name=name, help=declared.help, unit=declared.unit, direction=declared.direction)


def _lab(keywords: list[Any]) -> Lab:
    """Return the lab that a report of this program states in a keyword, such as `simulated: nodes, pods`."""
    parts: dict[str, tuple[str, ...]] = {}
    for keyword in keywords:
        for part in str(keyword).split("; "):
            word, colon, names = part.partition(": ")
            if colon and word in LAB_WORDS:
                parts[word] = tuple(names.split(", "))
    return Lab(**parts)


@click.command("benchmark-report")
@click.argument("files", nargs=-1, required=True, type=LocalPath(exists=True, dir_okay=False))
@HISTORY
def import_benchmark_report(files: tuple[Path, ...], folder: Path) -> None:
    """Add Benchmark Reports of llm-d-benchmark, version 0.2, to a history.

    FILES are reports in YAML or JSON, each of one load. The run has the report's uid, and KPIs with our names and
    units.
    """
    for path in files:
        content, report = read_report(path)
        added = keep(folder, documents((report.run,), origin(path, content)))
        for note in report.notes:
            click.echo(f"note: {path.name}: {note}", err=True)
        print_findings(added.findings)
        click.echo(added.summary(path.name))
