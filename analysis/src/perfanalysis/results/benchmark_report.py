"""Export the loads of a run as Benchmark Reports 0.2 of llm-d-benchmark, one file for each load."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document, iso, text_or_none, write_json
from perfanalysis.files.findings import print_findings, refuse_incomplete
from perfanalysis.files.local_path import LocalPath
from perfanalysis.results.scrubbing import Rules, read_rules, scrub
from perfanalysis.workloads.load_test.stages import SUMMARY
from perfanalysis.workloads.load_test.tables import CANCELLED, COMPLETED, FAILED, REQUESTS, STAGES, finite_values
from perfanalysis.workloads.options import OUTPUT, RUN
from perfanalysis.workloads.percentiles import Method, percentile
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run, report_directory

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from perfanalysis.workloads.workload_type import Analysis

VERSION = "0.2"
UNKNOWN = "unknown"
LATENCIES = {
    "time_to_first_token": ("ttft", "s"),
    # our ITL is a mean of each request, without its first token; the report's own ITL is a distribution over tokens
    "time_per_output_token": ("itl", "s/token"),
    "normalized_time_per_output_token": ("tpot", "s/token"),
    "request_latency": ("request_latency", "s"),
}
"""The latencies of the report: our measure with the same definition, and the unit."""
COLUMNS = {"ttft": "ttft_s", "itl": "itl_s", "tpot": "tpot_s", "request_latency": "latency_s"}
SHARES = {
    "p0p1": 0.001, "p1": 0.01, "p5": 0.05, "p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95,
    "p99": 0.99, "p99p9": 0.999,
}  # fmt: skip
SERVER = {
    "kv_cache_usage": ("server_kv_cache_usage", "percent", 100.0),
    "running_requests": ("server_running_requests", "count", 1.0),
    "waiting_requests": ("server_waiting_requests", "count", 1.0),
}
"""Metrics of the server: the beginning of our KPIs' names, the unit and the factor."""
LABEL = "model-server"


@dataclass(frozen=True)
class Load:
    """One load of a recording: its rows in the tables of stages and summaries, and its requests."""

    run: RunAnalysis
    analysis: Analysis
    stage: Mapping[str, Any]
    summary: Mapping[str, Any]
    requests: pd.DataFrame

    @property
    def name(self) -> str:
        """Return the name of its file."""
        return f"{self.analysis.place.name.replace('/', '.')}.stage_{self.stage['stage']}"


def loads_of(run: RunAnalysis) -> Iterator[Load]:
    """Return the loads of all load tests of a run."""
    for analysis in run.analyses:
        if SUMMARY.name not in analysis.frames:
            continue
        requests = analysis.frames[REQUESTS.name]
        stages, summaries = (
            analysis.frames[name].astype("object").to_dict("records") for name in (STAGES.name, SUMMARY.name)
        )
        for stage, summary in zip(stages, summaries, strict=True):
            own = requests[requests["stage"] == stage["stage"]]
            yield Load(run, analysis, _row(stage), _row(summary), own)


def _row(given: Mapping[Hashable, Any]) -> Mapping[str, Any]:
    return {str(name): value for name, value in given.items()}


def report_of(load: Load) -> Document:
    """Return the report of a load."""
    run, begin, end = load.run.run, load.requests["started_s"].min(), load.requests["ended_s"].max()
    uid = hashlib.sha256(f"{run.id} {load.name}".encode()).hexdigest()[:32]
    timed = bool(np.isfinite(begin) and np.isfinite(end))
    return {
        "version": VERSION,
        "run": {
            "uid": uid,
            "eid": run.id,
            "time": {"start": iso(begin), "end": iso(end), "duration": f"PT{end - begin:.6f}S"} if timed else None,
            "description": f"flow {text_or_none(run.document.get('flow')) or UNKNOWN}, {load.summary['load']}",
            # of a lab: simulated, emulated and real parts
            "keywords": list(load.analysis.lab.phrases),
        },
        "scenario": {"stack": [_server(load, uid)], "load": _load(load)},
        "results": {
            "request_performance": {"aggregate": _performance(load)},
            **_observability(load.analysis),
        },
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) and value else UNKNOWN


def _server(load: Load, uid: str) -> Document:
    """Return the component that served, as far as the run states it."""
    facts = load.summary
    standardized = {
        "kind": "generic",
        "tool": _text(facts["runtime_image"]),
        "tool_version": _text(facts["version"]),
        "model": _text(facts["model"]),
        "flavor": _text(facts["flavor"]),
    }
    return {"metadata": {"label": LABEL, "cfg_id": uid}, "standardized": standardized, "native": {}}


def _load(load: Load) -> Document:
    concurrency, rate = (load.stage[name] for name in ("concurrency", "rate"))
    lengths = {
        name: {"distribution": "other", "value": float(values.mean())}
        for name, column in (("input_seq_len", "input_tokens"), ("output_seq_len", "output_tokens"))
        if len(values := finite_values(load.requests, column))
    }
    standardized = {
        # the marker has the generator's name
        "tool": load.analysis.facts.get("generator") or load.analysis.place.marker.removesuffix(".json"),
        "tool_version": UNKNOWN,
        "source": UNKNOWN,
        "stage": int(load.stage["stage"]),
        "input_seq_len": {"distribution": "other", "value": 0},
        **lengths,
        **({"rate_qps": float(rate)} if _is_number(rate) else {}),
        **({"concurrency": float(concurrency)} if _is_number(concurrency) else {}),
    }
    return {"metadata": {}, "standardized": standardized, "native": {}}


def _is_number(value: object) -> bool:
    return isinstance(value, float) and bool(np.isfinite(value))


def _performance(load: Load) -> Document:
    method = load.analysis.method
    outcomes = load.requests["outcome"]
    completed = load.requests[outcomes == COMPLETED]
    counts = {outcome: int((outcomes == outcome).sum()) for outcome in (COMPLETED, FAILED, CANCELLED)}
    length_s = load.summary["length_s"]
    tokens = {name: float(finite_values(completed, f"{name}_tokens").sum()) for name in ("input", "output")}
    amounts = {
        "input_token_rate": (tokens["input"], "tokens/s"),
        "output_token_rate": (tokens["output"], "tokens/s"),
        "total_token_rate": (tokens["input"] + tokens["output"], "tokens/s"),
        "request_rate": (float(counts[COMPLETED]), "queries/s"),
    }
    return {
        "requests": {
            "total": sum(counts.values()),
            "failures": counts[FAILED],
            "incomplete": counts[CANCELLED],
            **_statistics(completed, {"input_length": "input_tokens", "output_length": "output_tokens"}, method),
        },
        "latency": {
            name: _statistic(values, unit, method)
            for name, (measure, unit) in LATENCIES.items()
            if len(values := finite_values(completed, COLUMNS[measure]))
        },
        "throughput": {
            name: {"units": unit, "mean": amount / length_s} for name, (amount, unit) in amounts.items() if length_s
        },
    }


def _statistics(requests: pd.DataFrame, columns: Mapping[str, str], method: Method) -> Document:
    return {
        name: _statistic(values, "count", method)
        for name, column in columns.items()
        if len(values := finite_values(requests, column))
    }


def _statistic(values: NDArray[np.float64], unit: str, method: Method) -> Document:
    ordered = np.sort(values)
    return {
        "units": unit,
        "mean": float(ordered.mean()),
        "stddev": float(ordered.std()),
        "min": float(ordered[0]),
        **{name: percentile(ordered, share, method) for name, share in SHARES.items()},
        "max": float(ordered[-1]),
    }


def _observability(analysis: Analysis) -> Document:
    """Return what the server did during a recording, if its metrics were recorded."""
    kpis = {kpi.name: kpi.number for kpi in analysis.kpis}
    found = {}
    for name, (ours, unit, factor) in SERVER.items():
        mean, most = kpis.get(f"{ours}_mean"), kpis.get(f"{ours}_max")
        if mean is not None:
            found[name] = {"units": unit, "mean": mean * factor, **({} if most is None else {"max": most * factor})}
    return {"observability": {"components": [{"component_label": LABEL, "aggregate": found}]}} if found else {}


def write_reports(run: RunAnalysis, target: Path, rules: Rules) -> tuple[Path, ...]:
    """Write the reports, without names of machines and people, and return their files.

    Raises UsageError if the run has no load test.
    """
    paths = []
    for load in loads_of(run):
        path = target / "benchmark_report" / f"benchmark_report_v{VERSION},_{load.name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        # JSON is YAML
        write_json(path, scrub(report_of(load), rules))
        paths.append(path)
    if not paths:
        raise UsageError(f"{run.run.id} has no load test; only loads of served models have benchmark reports")
    return tuple(paths)


@click.command("benchmark-report")
@RUN
@OUTPUT
@click.option("--rules", type=LocalPath(), metavar="FILE", help="YAML with more names to drop and texts to replace.")
def export_benchmark_report(run: Path, output: Path | None, rules: Path | None) -> None:
    """Write the loads of RUN as Benchmark Reports 0.2 of llm-d-benchmark.

    Each load is a file in benchmark_report/ of the report. Names of machines and people, addresses and secrets are
    removed. Exit code 5: the data is incomplete; the reports were written nevertheless.
    """
    wanted = read_rules(rules)
    target = report_directory(run, output)
    result = analyse_run(run, target)
    paths = write_reports(result, target, wanted)
    click.echo(f"{counted(len(paths), 'report')} in {paths[0].parent}")
    print_findings(result.findings)
    refuse_incomplete(result.findings)
