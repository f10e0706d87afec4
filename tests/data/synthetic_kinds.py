"""Add everything that a synthetic scale test can have beside workloads and pods to one of `synthetic_runs`.

Queues with Kueue's Workloads, priorities and preemption, pod groups, claims of volumes and devices, churn, several
submitters, nodes that are lost, and the metrics of a control plane. Every timestamp is computed by a formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tests.data.synthetic_queue import Recorded

Line = tuple[float, dict[str, Any]]
QUEUES = ("research", "production", "interactive")
PRIORITIES = (10, 10, 10, 100)
SUBMITTERS = 3
PREEMPTED_SHARE = 0.02
CHURNED_SHARE = 0.04
COMES_BACK_S = 0.5
"""Seconds from the eviction of a preempted workload to its next pod."""
KINDS = ("Node", "PersistentVolumeClaim", "PodGroup", "ResourceClaim", "Workload")


def enrich(recorded: Recorded, nodes: int, began: float) -> None:
    """Add everything to a recording in place."""
    rows: dict[str, list[Line]] = {}
    for line in recorded.transitions:
        rows.setdefault(line[1]["workload"], []).append(line)
    sent = [record for _, record in recorded.submissions if record["outcome"] == "created"]
    for _, record in recorded.submissions:
        index = record["index"]
        record |= {"queue": QUEUES[index * index % 7 % 3], "priority": PRIORITIES[index % 4]}
        record |= {"submitter": index % SUBMITTERS, "round": 0, "replaces": None}
    random = np.random.default_rng(11)
    for place, record in enumerate(sent):
        own = rows.get(record["name"], [])
        if own:
            higher = next(
                (one["name"] for one in sent[place + 1 : place + 5] if one["priority"] > record["priority"]), None
            )
            if higher is not None and random.random() < PREEMPTED_SHARE:
                _preempt(recorded, own, higher)
            recorded.transitions += [*_queue(record, own), *_group_and_claims(record, own), *_between(record, own)]
    _churn(recorded, rows, sent)
    recorded.ended = max(moment for moment, _ in recorded.transitions) + 1.0
    _lose_nodes(recorded, nodes, began)
    recorded.control_plane = _scrapes(recorded, began)


def _row(kind: str, name: str, workload: str | None, word: str, moment: float, reason: str | None = None) -> Line:
    namespace = "" if kind == "Node" else "scale-test"
    stamps = {"seen_s": round(moment, 6), "server_s": float(np.floor(moment)), "resolution_s": 1.0}
    named = {"kind": kind, "namespace": namespace, "name": name, "uid": f"uid-{kind}-{name}", "workload": workload}
    node = name if kind == "Node" else None
    return moment, {**stamps, **named, "transition": word, "node": node, "reason": reason}


def _moment(own: list[Line], kind: str, word: str) -> float:
    return min(moment for moment, row in own if (row["kind"] == "Pod") == (kind == "Pod") and row["transition"] == word)


def _queue(record: dict[str, Any], own: list[Line]) -> list[Line]:
    """Add Kueue's Workload, and suspend the Job until its first pod's creation."""
    name, kind = record["name"], record["kind"]
    created, first = _moment(own, kind, "created"), _moment(own, "Pod", "created")
    between = first - created
    shares = {"created": 0.1, "quota_reserved": 0.6, "dispatched": 0.65, "admitted": 0.7}
    found = [_row("Workload", f"{name}-queue", name, word, created + share * between) for word, share in shares.items()]
    found = [
        (moment, {**row, "cluster": "east"} if row["transition"] == "dispatched" else row) for moment, row in found
    ]
    of_job = {"suspended": created, "started": created + 0.9 * between}
    return found + [
        (moment, {**_row(kind, name, name, word, moment)[1], "uid": f"uid-{name}"}) for word, moment in of_job.items()
    ]


def _group_and_claims(record: dict[str, Any], own: list[Line]) -> list[Line]:
    name = record["name"]
    first, bound = _moment(own, "Pod", "created"), _moment(own, "Pod", "scheduled")
    found = [_row("PodGroup", f"{name}-group", name, "created", first - 0.002)]
    found.append(_row("PodGroup", f"{name}-group", name, "scheduled", bound))
    for number in range(int(record["pods"])):
        claim = f"{name}-{number}-claim"
        found.append(_row("PersistentVolumeClaim", claim, name, "created", first + 0.001))
        found.append(_row("PersistentVolumeClaim", claim, name, "bound", first + 0.4 * (bound - first)))
    return found + _device_claims(record, own)


def _device_claims(record: dict[str, Any], own: list[Line]) -> list[Line]:
    """Add a claim of the GPUs of each pod, which the scheduler allocates before it binds the pod."""
    name, ended = record["name"], max(moment for moment, _ in own)
    first = _moment(own, "Pod", "created")
    bound = [(at, row["node"]) for at, row in own if row["kind"] == "Pod" and row["transition"] == "scheduled"]
    devices = int(record["gpus"] / record["pods"])
    found = []
    for number, (at, node) in enumerate(bound):
        shares = {"created": 0.1, "allocated": 0.5, "reserved": 0.7}
        moments = {word: first + share * (at - first) for word, share in shares.items()}
        for word, moment in {**moments, "released": ended + 0.1, "deleted": ended + 0.2}.items():
            line = _row("ResourceClaim", f"{name}-{number}-gpus", name, word, moment)
            held = {"node": node, "devices": devices, "gpus": devices} if word == "allocated" else {}
            found.append((moment, {**line[1], **held}))
    return found


def _between(record: dict[str, Any], own: list[Line]) -> list[Line]:
    """Add sandboxes of pods, and the object that Run:ai creates for its own workloads."""
    found = [
        (moment + 0.2, {**row, "transition": "ready_to_start", "seen_s": round(moment + 0.2, 6)})
        for moment, row in own
        if row["kind"] == "Pod" and row["transition"] == "initialized"
    ]
    if record["kind"].endswith("Workload"):
        created = _moment(own, record["kind"], "created")
        found.append(_row("RunaiJob", record["name"], record["name"], "created", created + 0.001))
    return found


def _preempt(recorded: Recorded, own: list[Line], by: str) -> None:
    """Evict a first pod for another workload; the workload's other rows come later."""
    created, bound = _moment(own, "Pod", "created"), _moment(own, "Pod", "scheduled")
    [victim, *_] = [row for _, row in own if row["kind"] == "Pod"]
    early = {**victim, "name": f"{victim['workload']}-x", "uid": f"uid-{victim['workload']}-x", "node": "node-0000"}
    evicted = bound + 1.0
    setback = evicted - created + COMES_BACK_S
    late = {id(row) for _, row in own if row["kind"] == "Pod" or row["transition"] in ("completed", "failed")}
    for place, (moment, row) in enumerate(own):
        if id(row) in late:
            row["seen_s"] = round(moment + setback, 6)
            own[place] = (moment + setback, row)
    recorded.transitions[:] = [line for line in recorded.transitions if id(line[1]) not in late]
    recorded.transitions += [line for line in own if id(line[1]) in late]
    words = {"created": created, "scheduled": bound, "evicted": evicted, "deleted": evicted + 0.2}
    for word, moment in words.items():
        reason = "PreemptionByScheduler" if word == "evicted" else None
        stamps = {"seen_s": round(moment, 6), "server_s": float(np.floor(moment))}
        line = (moment, {**early, **stamps, "transition": word, "reason": reason})
        recorded.transitions.append(line)
    text = f"Preempted by pod uid-{by}-0 on node node-0000"
    event = {
        "seen_s": round(evicted, 6),
        "server_s": round(evicted, 6),
        "resolution_s": 1e-6,
        "kind": "Pod",
        "count": 1,
    }
    event |= {"name": early["name"], "namespace": "scale-test", "workload": victim["workload"], "type": "Normal"}
    recorded.events.append((evicted, {**event, "reason": "Preempted", "message": text}))


def _churn(recorded: Recorded, rows: dict[str, list[Line]], sent: list[dict[str, Any]]) -> None:
    """Replace some running workloads by the last ones, as churn does."""
    number = int(len(sent) * CHURNED_SHARE)
    replacing = sent[len(sent) - number :]
    running = iter(sent[: len(sent) - number])
    gone: set[int] = set()
    for record in replacing:
        victim = next((one for one in running if _runs(rows.get(one["name"], []), record["sent_s"])), None)
        if victim is None:
            break
        moment = record["sent_s"] - 0.01
        record |= {"round": 1, "replaces": victim["index"]}
        gone |= {id(row) for at, row in rows[victim["name"]] if at > moment}
        deletion = {"round": 1, "index": victim["index"], "namespace": "scale-test", "name": victim["name"]}
        answer = {"sent_s": round(moment, 6), "answered_s": round(moment + 0.006, 6), "status": 200}
        recorded.churn.append((moment, {**deletion, **answer, "outcome": "deleted", "error": None}))
        name, kind = victim["name"], victim["kind"]
        line = _row(kind, name, name, "deleted", moment + 0.02)
        recorded.transitions.append((line[0], {**line[1], "uid": f"uid-{name}"}))
        pods = {row["uid"]: row for _, row in rows[name] if row["kind"] == "Pod"}
        recorded.transitions += [
            (moment + 0.05, {**row, "transition": "deleted", "seen_s": round(moment + 0.05, 6), "reason": None})
            for row in pods.values()
        ]
    recorded.transitions[:] = [line for line in recorded.transitions if id(line[1]) not in gone]
    recorded.counts["completed"] -= len(recorded.churn)
    recorded.counts["churned"] = len(recorded.churn)


def _runs(own: list[Line], moment: float) -> bool:
    """Return whether a workload that is going to complete runs at a moment."""
    words = {row["transition"]: at for at, row in own}
    return words.get("running", np.inf) < moment < words.get("completed", -np.inf)


def _lose_nodes(recorded: Recorded, nodes: int, began: float) -> None:
    """Lose two nodes half way; one of them returns."""
    middle = (began + recorded.ended) / 2
    recorded.transitions.append(_row("Node", "node-0001", None, "not_ready", middle, "NodeStatusUnknown"))
    recorded.transitions.append(_row("Node", "node-0001", None, "ready", middle + 10.0))
    if nodes > 2:
        recorded.transitions.append(_row("Node", "node-0002", None, "deleted", middle + 1.0))


BOUNDS = (0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0)
# component, histogram, labels, requests per workload, their median
HISTOGRAMS: tuple[tuple[str, str, dict[str, str], float, float], ...] = (
    ("kube-apiserver", "apiserver_request_duration_seconds", {"verb": "POST", "resource": "jobs"}, 1.0, 0.008),
    ("kube-apiserver", "apiserver_request_duration_seconds", {"verb": "POST", "resource": "pods"}, 1.0, 0.012),
    (
        "kube-apiserver",
        "apiserver_request_duration_seconds",
        {"verb": "POST", "resource": "pods", "subresource": "binding"},
        1.0,
        0.006,
    ),
    ("kube-apiserver", "apiserver_request_duration_seconds", {"verb": "PATCH", "resource": "pods"}, 4.0, 0.007),
    ("kube-apiserver", "apiserver_request_duration_seconds", {"verb": "GET", "resource": "pods"}, 2.0, 0.002),
    ("kube-apiserver", "apiserver_request_duration_seconds", {"verb": "LIST", "resource": "nodes"}, 0.05, 0.09),
    ("kube-scheduler", "scheduler_scheduling_attempt_duration_seconds", {"result": "scheduled"}, 1.0, 0.007),
    ("kube-scheduler", "scheduler_scheduling_attempt_duration_seconds", {"result": "unschedulable"}, 0.4, 0.003),
    ("kube-scheduler", "scheduler_framework_extension_point_duration_seconds", {"extension_point": "Bind"}, 1.0, 0.006),
    ("kube-scheduler", "scheduler_pod_scheduling_sli_duration_seconds", {}, 1.0, 0.02),
    ("etcd", "etcd_disk_wal_fsync_duration_seconds", {}, 3.0, 0.0008),
)
# component, CPU seconds per workload, resident MB before, and additional MB per 1,000 workloads
PROGRAMS = (
    ("kube-apiserver", 0.022, 600, 150),
    ("kube-scheduler", 0.004, 90, 20),
    ("kube-controller-manager", 0.007, 120, 25),
    ("etcd", 0.004, 80, 60),
)


def _scrapes(recorded: Recorded, began: float) -> list[Line]:
    sent = np.sort([record["sent_s"] for _, record in recorded.submissions])
    bound = np.sort(
        [at for at, row in recorded.transitions if row["kind"] == "Pod" and row["transition"] == "scheduled"]
    )
    moments = np.linspace(began, recorded.ended, 41)
    lines: list[Line] = []
    for number, moment in enumerate(moments):
        phase = "before" if number == 0 else "after" if number == len(moments) - 1 else "during"
        done, placed = np.searchsorted(sent, moment), np.searchsorted(bound, moment)
        for component, metric, labels, value in _samples(int(done), int(placed)):
            scraped = {"at_s": round(float(moment), 6), "phase": phase, "component": component}
            lines.append((float(moment), {**scraped, "metric": metric, "labels": labels, "value": value}))
    return lines


def _samples(done: int, placed: int) -> list[tuple[str, str, dict[str, str], float]]:
    """Return a scrape after this many workloads sent and pods bound."""
    found: list[tuple[str, str, dict[str, str], float]] = []
    for component, cpu, before, more in PROGRAMS:
        found.append((component, "process_cpu_seconds_total", {}, round(30 + cpu * done, 3)))
        found.append((component, "process_resident_memory_bytes", {}, 1e6 * (before + more * done / 1000)))
    for component, name, labels, each, median in HISTOGRAMS:
        total = 200 + each * done
        for bound in (*BOUNDS, np.inf):
            # half of the values lie below the median, and their number grows with the logarithm
            share = 1.0 if np.isinf(bound) else 1 / (1 + (median / bound) ** 2)
            le = "+Inf" if np.isinf(bound) else f"{bound:g}"
            found.append((component, f"{name}_bucket", {**labels, "le": le}, float(round(total * share))))
        found.append((component, f"{name}_count", labels, float(round(total))))
    for verb, code, each in (("POST", "201", 3.0), ("PATCH", "200", 4.0), ("GET", "200", 2.0), ("POST", "429", 0.02)):
        found.append(("kube-apiserver", "apiserver_request_total", {"verb": verb, "code": code}, 500 + each * done))
    waiting = max(0, done - placed)
    for queue, share in (("active", 0.3), ("backoff", 0.1), ("unschedulable", 0.6)):
        found.append(("kube-scheduler", "scheduler_pending_pods", {"queue": queue}, float(int(share * waiting))))
    for kind, each in (("mutating", 0.02), ("readOnly", 0.01)):
        found.append(
            ("kube-apiserver", "apiserver_current_inflight_requests", {"request_kind": kind}, 2 + each * waiting)
        )
    found.append(("kube-controller-manager", "workqueue_depth", {"name": "job"}, float(waiting // 4)))
    found.append(("etcd", "etcd_mvcc_db_total_size_in_bytes", {}, 2e7 + 9000.0 * done))
    return found
