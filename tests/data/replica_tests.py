"""Write the documents of the replicas of a model during its loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.schemas import check

BEGIN_S = 1_790_000_000.0


def sample(after_s: float, wanted: int, ready: int, new: int = 0) -> dict[str, Any]:
    return {"at_s": BEGIN_S + after_s, "wanted": wanted, "pods": wanted, "ready": ready, "ready_new": new}


def phase(name: str, begin_s: float, end_s: float, failed: int, latency_s: float | None) -> dict[str, Any]:
    times = {"latency_p50_s": latency_s, "latency_p95_s": latency_s, "ttft_p50_s": None, "ttft_p95_s": None}
    completed = 0 if latency_s is None else 10
    begin, end = BEGIN_S + begin_s, BEGIN_S + end_s
    return {"phase": name, "begin_s": begin, "end_s": end, "completed": completed, "failed": failed, **times}


def write_replicas(place: Path, mode: str, moments: dict[str, Any], phases: list[dict[str, Any]]) -> None:
    document = {
        "schema": "psap.perf/replicas/1",
        "mode": mode,
        "service": "tiny",
        "model": "tiny",
        "change": {},
        "moments": {"change_s": None, **moments},
        "samples": [sample(0, 1, 1), sample(20, 3, 1), sample(30, 3, 2), sample(40, 3, 3), sample(90, 1, 1)],
        "loads": [{"users": 8.0, "begin_s": BEGIN_S + 10, "end_s": BEGIN_S + 60, "requests": 30, "failed": 2}],
        "points": [{"at_s": BEGIN_S + 15, "in_flight": 8, "failed": 2}],
        "phases": phases,
        "lab": None,
    }
    check(document)
    place.mkdir(parents=True)
    (place / f"{mode}.json").write_text(json.dumps(document))


def write_autoscale(place: Path, *, scaled: bool = True) -> None:
    reached = {"first_s": BEGIN_S + 30, "reached_s": BEGIN_S + 40, "down_s": BEGIN_S + 90}
    moments = {"step_s": BEGIN_S + 10, "base": 1, "wanted": 3 if scaled else 1}
    nothing = dict.fromkeys(reached)
    phases = [phase("scaling", 10, 40, 2, 0.5), phase("scaled", 40, 60, 0, 0.2)]
    write_replicas(place, "autoscale", {**moments, **(reached if scaled else nothing)}, phases)


def write_rollout(place: Path, done_after_s: float | None = 45.0) -> None:
    done = None if done_after_s is None else BEGIN_S + done_after_s
    phases = [phase("before", 10, 20, 0, 0.2), phase("during", 20, 45, 1, 0.3)]
    write_replicas(place, "rollout", {"change_s": BEGIN_S + 20, "done_s": done}, phases)
