"""Read the results of a command of the group container_bench."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles

# units of the tools, the unit in the columns, and the factor; numbers have names such as read_mib_per_second
_UNITS = {"events": ("events", 1.0), "bits": ("bytes", 0.125), "mib": ("bytes", 2.0**20)}


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each successful run of container_benchmark.yml, and one for the measurement."""
    (document,) = source.records("container_benchmark.yml")
    rows, engine = [], document["engine"]
    for run in (run for run in document["runs"] if run["exit_code"] == 0):
        row = {"started_s": run["started"], "ended_s": run["started"] + run["took_s"], "took_s": run["took_s"]}
        row |= {"cpu_s": run["user_s"] + run["system_s"], "beside_s": run.get("beside_s")}
        for name, value in run["numbers"].items():
            *what, unit, _per, _second = name.split("_")
            row["_".join([*what, _UNITS[unit][0], "per_s"])] = value * _UNITS[unit][1]
        rows.append(row)
    test = {name: document[name] for name in ("benchmark", "asked_runs")}
    test |= {"engine": engine["engine"], "engine_version": engine["version"], "runs": len(rows)}
    test |= {"mode": "rootless" if engine["rootless"] else "rootful", "overhead_s": document["overhead"]["median_s"]}
    return {"runs": rows, "tests": [test | {"clock_offset_s": document["clock"]["offset_s"]}]}
