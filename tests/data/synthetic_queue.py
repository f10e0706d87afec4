"""The queue model of synthetic scale tests: client, controller, scheduler, kubelet; all times from seeded numbers."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

EPOCH = datetime(2026, 11, 20, 9, 30, tzinfo=UTC).timestamp()
STATES = ("created", "scheduled", "initialized", "running", "containers_ready", "ready")


@dataclass(frozen=True)
class Shape:
    """What to simulate: sizes, rates (1/s), times (s) and shares (0..1)."""

    workloads: int = 300
    nodes: int = 100
    gpus_per_node: int = 8
    pods: int = 1
    gpus: int = 1
    kind: str = "Job"
    rate: float = 40.0
    duration: float = 20.0
    schedule_rate: float = 60.0
    failing: float = 0.0
    lost: float = 0.0
    refused: float = 0.0
    seed: int = 7
    everything: bool = False
    """Whether the run has queues, priorities, pod groups, claims, churn, lost nodes and control-plane metrics too."""
    cut_after: float | None = None
    """Seconds after which the recorder was killed: later lines are missing, and the last one is incomplete."""


@dataclass
class Recorded:
    """The lines of one recording, as (time written, record)."""

    submissions: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    transitions: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    events: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    churn: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    control_plane: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: {"completed": 0, "failed": 0, "lost": 0})
    ended: float = EPOCH


def simulate(shape: Shape, began: float = EPOCH) -> Recorded:
    """Simulate client → controller → scheduler (first come, first served, limited by GPUs) → kubelet."""
    random = np.random.default_rng(shape.seed)
    recorded = Recorded(ended=began)
    sent = began + 1.0 + np.cumsum(random.exponential(1.0 / shape.rate, shape.workloads))
    free = _slots(shape)
    busy: list[tuple[float, list[int]]] = []
    clock = {"controller": 0.0, "scheduler": 0.0}
    for index in range(shape.workloads):
        name = f"w-{shape.seed:02d}-{index:05d}"
        outcome = _fate(shape, random)
        _submit(recorded, shape, name, index, float(sent[index]), outcome, random)
        if outcome in ("refused", "lost"):
            recorded.counts["lost" if outcome == "lost" else "failed"] += 1
            continue
        clock["controller"] = max(clock["controller"] + 0.008, float(sent[index]) + 0.012)
        clock["scheduler"] = max(clock["scheduler"] + 1 / shape.schedule_rate, clock["controller"] + 0.01)
        while len(free) < shape.pods:
            moment, released = heapq.heappop(busy)
            free.extend(released)
            clock["scheduler"] = max(clock["scheduler"], moment + 0.02)
        nodes = [free.popleft() for _ in range(shape.pods)]
        end = _run(recorded, shape, name, float(sent[index]), dict(clock), outcome, random, nodes)
        heapq.heappush(busy, (end, nodes))
        recorded.counts["failed" if outcome == "failing" else "completed"] += 1
    recorded.ended += 1.0
    return recorded


def _slots(shape: Shape) -> deque[int]:
    """Yield the number of a node for each pod that has room, spread over the nodes."""
    of_each = shape.gpus_per_node // shape.gpus if shape.gpus else 110
    return deque(node for _ in range(of_each) for node in range(shape.nodes))


def _fate(shape: Shape, random: np.random.Generator) -> str:
    draw = random.random()
    for word, share in (("refused", shape.refused), ("lost", shape.lost), ("failing", shape.failing)):
        if draw < share:
            return word
        draw -= share
    return "fine"


def _submit(
    recorded: Recorded,
    shape: Shape,
    name: str,
    index: int,
    sent: float,
    outcome: str,
    random: np.random.Generator,
) -> None:
    answered = sent + 0.004 + float(random.lognormal(-6.0, 0.6))
    refused = outcome == "refused"
    record = {
        "index": index,
        "kind": shape.kind,
        "namespace": "scale-test",
        "name": name,
        "queue": None,
        "gpus": shape.gpus * shape.pods,
        "pods": shape.pods,
        "sent_s": round(sent, 6),
        "answered_s": round(answered, 6),
        "status": 403 if refused else 201,
        "outcome": "failed" if refused else "created",
        "attempts": 3 if refused else 1,
        "uid": None if refused else f"uid-{name}",
        "error": "exceeded quota: scale-test" if refused else None,
    }
    recorded.submissions.append((answered, record))
    recorded.ended = max(recorded.ended, answered)


def _run(
    recorded: Recorded,
    shape: Shape,
    name: str,
    sent: float,
    clock: dict[str, float],
    outcome: str,
    random: np.random.Generator,
    nodes: list[int],
) -> float:
    """Write the events of one workload; return when its GPUs are free again."""

    def delay(scale: float) -> float:
        return float(random.lognormal(np.log(scale), 0.35))

    _transition(recorded, shape.kind, name, name, "created", sent + delay(0.006))
    end = clock["scheduler"]
    for number, place in enumerate(nodes):
        node = f"node-{place:04d}"
        pod = f"{name}-{number}"
        created = clock["controller"] + delay(0.008)
        times = {"created": created, "scheduled": max(clock["scheduler"], created) + delay(0.006)}
        times["initialized"] = times["scheduled"] + delay(0.12)
        times["running"] = times["initialized"] + delay(0.9)
        times["containers_ready"] = times["ready"] = times["running"] + delay(0.002)
        for state in STATES:
            _transition(recorded, "Pod", pod, name, state, times[state], node=None if state == "created" else node)
        stop = times["ready"] + shape.duration * float(random.uniform(0.8, 1.2))
        word, reason = ("failed", "OOMKilled") if outcome == "failing" else ("succeeded", None)
        _transition(recorded, "Pod", pod, name, word, stop, reason, node)
        _event(recorded, pod, name, times["scheduled"], "Normal", "Scheduled")
        if outcome == "failing":
            _event(recorded, pod, name, stop, "Warning", "BackOff")
        end = max(end, stop)
    word, reason = ("failed", "BackoffLimitExceeded") if outcome == "failing" else ("completed", None)
    _transition(recorded, shape.kind, name, name, word, end + delay(0.03), reason)
    recorded.ended = max(recorded.ended, end + 0.2)
    return end


def _transition(
    recorded: Recorded,
    kind: str,
    name: str,
    workload: str,
    word: str,
    seen: float,
    reason: str | None = None,
    node: str | None = None,
) -> None:
    record = {
        "seen_s": round(seen, 6),
        "kind": kind,
        "namespace": "scale-test",
        "name": name,
        "uid": f"uid-{name}",
        "workload": workload,
        "transition": word,
        "server_s": float(np.floor(seen - 0.003)),
        "resolution_s": 1.0,
        "node": node,
        "reason": reason,
    }
    recorded.transitions.append((seen, record))


def _event(recorded: Recorded, pod: str, workload: str, moment: float, kind: str, reason: str) -> None:
    record = {
        "seen_s": round(moment + 0.004, 6),
        "server_s": round(moment, 6),
        "resolution_s": 0.000001,
        "kind": "Pod",
        "name": pod,
        "namespace": "scale-test",
        "workload": workload,
        "type": kind,
        "reason": reason,
        "message": f"{reason} {pod}",
        "count": 1,
    }
    recorded.events.append((moment, record))
