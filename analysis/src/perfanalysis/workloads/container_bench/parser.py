"""Read what a command of the group container_bench measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perfanalysis.files.source import Source

_MIB = 2.0**20
# what the tools of the benchmarks say, as the column and the factor to its unit
_NUMBERS = {
    "events_per_second": ("events_per_s", 1.0),
    "mib_per_second": ("bytes_per_s", _MIB),
    "bits_per_second": ("bytes_per_s", 0.125),
    "read_mib_per_second": ("read_bytes_per_s", _MIB),
    "written_mib_per_second": ("written_bytes_per_s", _MIB),
}


def parse(source: Source) -> dict[str, Any]:
    """A row for each run of container_benchmark.yml that succeeded, and one for the measurement."""
    (document,) = source.records("container_benchmark.yml")
    engine, overhead = document["engine"], document["overhead"]
    runs = [run for run in document["runs"] if run["exit_code"] == 0]
    test = {
        "benchmark": document["benchmark"],
        "engine": engine["engine"],
        "engine_version": engine["version"],
        "mode": "rootless" if engine["rootless"] else "rootful",
        "asked_runs": document["asked_runs"],
        "runs": len(runs),
        "overhead_s": overhead["median_s"],
        "clock_offset_s": document["clock"]["offset_s"],
    }
    return {"runs": [_run(run) for run in runs], "tests": [test]}


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    told = {_NUMBERS[name][0]: value * _NUMBERS[name][1] for name, value in run["numbers"].items()}
    return {
        "started_s": run["started"],
        "ended_s": run["started"] + run["took_s"],
        "took_s": run["took_s"],
        "cpu_s": run["user_s"] + run["system_s"],
        "beside_s": run.get("beside_s"),
        **told,
    }
