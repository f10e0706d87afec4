"""The requests of the loads of a cell over time, and by phases, for tests that change the served model meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perfanalysis.errors import DataQualityError
from perfanalysis.files.cache import scratch_folder
from perfanalysis.workloads.load_test.stages import SUMMARY
from perfanalysis.workloads.load_test.tables import COMPLETED, FAILED, REQUESTS
from perfanalysis.workloads.run_analysis import analyse_run

if TYPE_CHECKING:
    import pandas as pd

Phases = Mapping[str, tuple[float, float]]
"""The start and the end of each phase by its name, in seconds since the epoch."""
_MOST_POINTS = 600


def loads_over_time(directories: Sequence[Path], phases_of: Callable[[float, float], Phases]) -> dict[str, Any]:
    """Return the loads, their requests over time, and the requests that ended in each phase of the last load.

    Args:
        directories: The directories of the commands that recorded the loads.
        phases_of: Returns the phases for the start and the end of the last load.

    Raises:
        DataQualityError: A load cannot be read, or has no times.
    """
    loads: list[dict[str, Any]] = []
    frames: list[tuple[float, pd.DataFrame]] = []
    for directory in directories:
        with scratch_folder() as tables:
            result = analyse_run(directory, tables)
        found = [one for one in result.analyses if SUMMARY.name in one.frames]
        if len(found) != 1 or found[0].period is None:
            errors = "; ".join(finding.text for finding in result.findings) or "it has no requests with times"
            raise DataQualityError(f"{directory}: cannot read the load: {errors}")
        requests = found[0].frames[REQUESTS.name]
        users = float(found[0].frames[SUMMARY.name]["concurrency"].iloc[0])
        begin, end = found[0].period
        counts = {"requests": len(requests), "failed": int((requests["outcome"] == FAILED).sum())}
        known = users if np.isfinite(users) else None
        loads.append({"users": known, "begin_s": begin, "end_s": end, **counts})
        frames.append((begin, requests))
    if not loads:
        raise DataQualityError("no load of the cell succeeded")
    last = max(range(len(loads)), key=lambda place: frames[place][0])
    phases = phases_of(loads[last]["begin_s"], loads[last]["end_s"])
    rows = [_phase(frames[last][1], name, *period) for name, period in phases.items()]
    return {"loads": loads, "points": list(_points([frame for _, frame in frames], loads)), "phases": rows}


def _phase(requests: pd.DataFrame, name: str, begin: float, end: float) -> dict[str, Any]:
    """Return the requests that ended in a phase."""
    own = requests[requests["ended_s"].between(begin, end, inclusive="left")]
    completed = own[own["outcome"] == COMPLETED]
    statistics = {
        f"{label}_{share}_s": _percentile(completed[column], percent)
        for label, column in (("latency", "latency_s"), ("ttft", "ttft_s"))
        for share, percent in (("p50", 50), ("p95", 95))
    }
    failed = int((own["outcome"] == FAILED).sum())
    return {
        "phase": name,
        "begin_s": begin,
        "end_s": end,
        "completed": len(completed),
        "failed": failed,
        **statistics,
    }


def _percentile(values: pd.Series, percent: int) -> float | None:
    known = values.dropna().to_numpy(dtype=float)
    return float(np.percentile(known, percent)) if len(known) else None


def _points(frames: Sequence[pd.DataFrame], loads: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, float]]:
    """Yield the requests in flight and the failures in intervals of at least a second."""
    begin, end = min(load["begin_s"] for load in loads), max(load["end_s"] for load in loads)
    edges = np.linspace(begin, end, max(2, min(_MOST_POINTS, int(end - begin))) + 1)
    started, ended, failed = (
        np.sort(np.concatenate([chosen[column].dropna().to_numpy(dtype=float) for chosen in frames_of]))
        for column, frames_of in (
            ("started_s", frames),
            ("ended_s", frames),
            ("ended_s", [frame[frame["outcome"] == FAILED] for frame in frames]),
        )
    )
    for left, right in itertools.pairwise(edges):
        middle = (left + right) / 2
        flight = np.searchsorted(started, middle, "right") - np.searchsorted(ended, middle, "right")
        errors = np.searchsorted(failed, right) - np.searchsorted(failed, left)
        yield {"at_s": float(middle), "in_flight": int(max(flight, 0)), "failed": int(errors)}
