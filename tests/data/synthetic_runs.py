"""Write run directories of a scale test that never happened: every timestamp comes from a seeded queue model.

For unit tests, benches and pictures of the report. The data is marked: run.json and recording.json list
"synthetic data" among what was simulated, so that every report about it is marked.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from tests.data.synthetic_kinds import KINDS, enrich
from tests.data.synthetic_queue import EPOCH, Recorded, Shape, simulate

__all__ = ["EPOCH", "Recorded", "Shape", "stamp", "write_json", "write_recording", "write_run"]
LAB = {"name": "default", "real": [], "emulated": [], "simulated": ["nodes", "pods", "synthetic data"]}


def stamp(seconds: float) -> str:
    """Return an ISO time in UTC with milliseconds and Z."""
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a document, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")


def write_recording(directory: Path, shape: Shape, run: str, began: float = EPOCH) -> Recorded:
    """Write the contract's files of one recording into a command's artifacts directory."""
    recorded = simulate(shape, began)
    beside: tuple[str, ...] = ()
    if shape.everything:
        enrich(recorded, shape.nodes, began)
        beside = KINDS
    limit = None if shape.cut_after is None else began + shape.cut_after
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("submissions", "transitions", "events"):
        _write_lines(directory / f"{name}.jsonl", getattr(recorded, name), limit)
    for name in ("churn", "control_plane") if shape.everything else ():
        _write_lines(directory / f"{name}.jsonl", getattr(recorded, name), limit)
    write_json(directory / "nodes.json", _nodes(shape))
    ended = None if limit else round(recorded.ended, 6)
    kinds = (shape.kind, "Pod", *beside)
    recording = {
        "schema": "psap.perf/recording/1",
        "run": run,
        "namespace": "scale-test",
        "workload_kind": shape.kind,
        "selector": None,
        "error": None,
        "disturbances": {},
        "started_s": began,
        "synced_s": began + 0.4,
        "ended_s": ended,
        "ended_by": None if limit else "condition",
        "clock": {"utc_s": began, "monotonic_s": 1000.0},
        "resources": [{"kind": kind, "api_version": "v1", "resource_version": "1"} for kind in kinds],
        "not_watched": [],
        "client": _client(shape, recorded),
        "lab": LAB,
        "reconnects": 0,
        "relists": 0,
    }
    write_json(directory / "recording.json", recording)
    if limit is None:
        write_json(directory / "accounting.json", _accounting(shape, recorded))
    return recorded


def _nodes(shape: Shape) -> dict[str, Any]:
    """Return the nodes, and if the shape has everything, their racks of four."""
    nodes = [{"name": f"node-{number:04d}", "gpus": shape.gpus_per_node} for number in range(shape.nodes)]
    document = {"schema": "psap.perf/nodes/1", "nodes": nodes, "listed": True}
    if not shape.everything:
        return document
    in_racks = [{**node, "domains": [f"rack-{number // 4}"]} for number, node in enumerate(nodes)]
    return {**document, "nodes": in_racks, "levels": ["rack"]}


def _client(shape: Shape, recorded: Recorded) -> dict[str, Any]:
    """Return the client's settings, and its requests by status."""
    rows = [record for _, record in recorded.submissions]
    answers = Counter(str(record["status"]) for record in rows)
    retries = sum(record["attempts"] - 1 for record in rows)
    requests = {"answers": dict(sorted(answers.items())), "retries": {"429": retries} if retries else {}}
    return {"connections": 16, "rate": shape.rate, "submitters": 1, "requests": requests}


def _write_lines(path: Path, lines: list[tuple[float, dict[str, Any]]], limit: float | None) -> None:
    kept = [record for moment, record in sorted(lines, key=lambda line: line[0]) if limit is None or moment <= limit]
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in kept)
    path.write_text(text if limit is None else text[: max(0, len(text) - 25)])


def _accounting(shape: Shape, recorded: Recorded) -> dict[str, Any]:
    refused = sum(record["outcome"] == "failed" for _, record in recorded.submissions)
    failing = recorded.counts["failed"] - refused
    causes = {"BackoffLimitExceeded": failing, "refused: HTTP 403": refused}
    return {
        "schema": "psap.perf/accounting/1",
        "asked": shape.workloads,
        "submitted": shape.workloads,
        **recorded.counts,
        "running": 0,
        "failed_by_cause": {cause: number for cause, number in causes.items() if number},
        "lost_by_cause": {"no answer seen": recorded.counts["lost"]} if recorded.counts["lost"] else {},
        "identity_holds": True,
        "discrepancies": [],
    }


SETTINGS = {
    "scale_test_workload_kind": ("Job", "presets/lab.yml:6"),
    "scale_test_workloads": (300, "command line"),
    "scale_test_gpus": (1, "presets/lab.yml:8"),
    "scale_test_rate": (40, "presets/smoke.yml:4"),
    "scale_test_duration": ("20s", "default (playbooks/scale_test/settings.yml)"),
    "scale_test_namespace": ("scale-test", "group_vars/all/scale_test.yml:3"),
    "scale_test_thresholds": ({"lost": 0, "pod_ready_p99": "5s"}, "presets/lab.yml:11"),
    "clusters_name": ("lab", "inventories/lab/group_vars/all.yml:2"),
    "perf_presets": (["lab", "smoke"], "command line"),
}


def write_run(
    root: Path, shapes: list[Shape], *, run: str = "scale_test-20261120T093000Z-5f3a1c", status: str = "ok"
) -> Path:
    """Write a complete run directory; several shapes make a matrix of one cell each."""
    directory = root / run
    directory.mkdir(parents=True)
    write_json(directory / "run.json", _run_document(run, status))
    settings = {name: {"value": value, "origin": origin} for name, (value, origin) in SETTINGS.items()}
    document = {"schema": "psap.perf/settings/1", "all": settings, "hosts": {"lane-gpu": {}}}
    (directory / "settings.yml").write_text(yaml.safe_dump(document))
    began = EPOCH
    _command(directory / "000__cluster__capture_environment", began - 30, began - 28.5)
    _command(directory / "001__nfd__wait_gpu_nodes", began - 28, began - 24.2)
    for number, shape in enumerate(shapes):
        parent = directory
        if len(shapes) > 1:
            parent = directory / f"{number + 2:03d}__cell__{number}"
            _cell(parent, number, shape, began)
        place = parent / ("002__scale_test__submit" if parent == directory else "000__scale_test__submit")
        recorded = write_recording(place / "artifacts", shape, run, began)
        failed = status == "failed" and shape.failing > 0
        if failed:
            _failure(directory, place.relative_to(directory), recorded.ended)
        _command(place, began, recorded.ended, "failed" if failed else "ok", running=shape.cut_after is not None)
        began = recorded.ended + 3.0
    _command(directory / "090__scale_test__cleanup", began, began + 2.1)
    _timeline(directory, began + 3.0)
    return directory


def _cell(directory: Path, number: int, shape: Shape, began: float) -> None:
    values = {"scale_test_workload_kind": shape.kind, "scale_test_workloads": shape.workloads}
    document = {"schema": "psap.perf/cell/1", "index": number, "values": values, "status": "ok", "attempt": 1}
    write_json(directory / "cell.json", {**document, "started": stamp(began), "ended": None, "error": None})


def _run_document(run: str, status: str) -> dict[str, Any]:
    reason = (
        {
            "what": "12 of 300 workloads failed",
            "where": "roles/scale_test_submit/tasks/main.yml:14",
            "directory": "002__scale_test__submit",
        }
        if status == "failed"
        else None
    )
    ended = None if status == "running" else stamp(EPOCH + 120)
    return {
        "schema": "psap.perf/run/1",
        "id": run,
        "parent": None,
        "flow": "scale_test",
        "status": status,
        "exit_code": {"ok": 0, "failed": 1, "running": None}.get(status, 130),
        "reason": reason,
        "started": stamp(EPOCH - 31),
        "ended": ended,
        "attempts": [
            {
                "number": 1,
                "started": stamp(EPOCH - 31),
                "ended": ended,
                "status": status,
                "argv": ["ansible-playbook", "playbooks/scale_test.yml", "-e", "@presets/lab.yml"],
            }
        ],
        "tags": {"run": ["all"], "skip": []},
        "presets": ["lab", "smoke"],
        "site": "lab",
        "cluster": {"uid": "9f0c", "version": "v1.34.1", "server": "https://127.0.0.1:36443"},
        "versions": {
            "psap.perf": "0.1.0",
            "ansible-core": "2.19.14",
            "kubernetes": "v1.34.1",
            "kwok": "v0.7.0",
        },
        "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
        "lab": LAB,
    }


def _command(directory: Path, started: float, ended: float, status: str = "ok", *, running: bool = False) -> None:
    group, command = directory.name.split("__")[1:3]
    document = {
        "schema": "psap.perf/command/1",
        "role": f"{group}_{command}",
        "host": "localhost",
        "lane": None,
        "cell": None,
        "status": "running" if running else status,
        "changed": True,
        "started": stamp(started),
        "ended": None if running else stamp(ended),
        "attempt": 1,
        "error": "12 of 300 workloads failed" if status == "failed" else None,
    }
    write_json(directory / "status.json", document)
    if status == "failed":
        text = "Watch the workloads (scale_test_submit)\nroles/scale_test_submit/tasks/main.yml:14\n"
        (directory / "FAILURE").write_text(text + "12 of 300 workloads failed: BackoffLimitExceeded\n")


def _failure(run: Path, command: Path, moment: float) -> None:
    """Write the artifacts of a failed task: its record, Ansible's output, and the log of the command."""
    record = {
        "at": stamp(moment),
        "attempt": 1,
        "host": "localhost",
        "role": "scale_test_submit",
        "what": "scale_test_submit: Watch the workloads",
        "where": "roles/scale_test_submit/tasks/main.yml:14 (localhost)",
        "why": "12 of 300 workloads failed: BackoffLimitExceeded\nThe log is in artifacts/recorder.log",
        "exit_code": 1,
        "kind": "RunFailed",
        "directory": str(command),
        "finalizing": False,
    }
    lines = [f"{stamp(moment - 40 + number)} {300 - 7 * number} workloads running" for number in range(40)]
    lines += ["\x1b[31mworkload-0012 failed: OOMKilled (exit code 137)\x1b[0m", "12 of 300 workloads failed"]
    (run / command / "artifacts" / "recorder.log").write_text("\n".join(lines) + "\n")
    with (run / "failures.jsonl").open("a") as stream:
        stream.write(json.dumps(record) + "\n")
    output = ["TASK [Watch the workloads] ****", f"fatal: [localhost]: FAILED! => {record['why']}"]
    (run / "ansible.log").write_text("\n".join(["PLAY [Test] ****", *output, "PLAY RECAP ****"]) + "\n")


def _timeline(directory: Path, ended: float) -> None:
    with (directory / "timeline.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["start", "end", "host", "lane", "kind", "name", "directory", "status"])
        writer.writerow([stamp(EPOCH - 31), stamp(ended), "", "", "flow", "scale_test", "", "ok"])
        writer.writerow([stamp(EPOCH - 31), stamp(EPOCH - 1), "", "", "play", "Prepare", "", "ok"])
        writer.writerow([stamp(EPOCH - 1), stamp(ended), "", "", "play", "Test", "", "ok"])


def main() -> None:
    """Write one synthetic run below the folder given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--workloads", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--rate", type=float, default=40.0)
    parser.add_argument("--schedule-rate", type=float, default=60.0)
    parser.add_argument("--failing", type=float, default=0.0)
    parser.add_argument("--lost", type=float, default=0.0)
    parser.add_argument("--refused", type=float, default=0.0)
    parser.add_argument("--cut-after", type=float)
    parser.add_argument("--status", default="ok")
    parser.add_argument("--matrix", action="store_true")
    parser.add_argument("--everything", action="store_true", help="with queues, preemption, churn, metrics and so on")
    given = parser.parse_args()
    names = ("workloads", "nodes", "rate", "schedule_rate", "failing", "lost", "refused", "cut_after", "everything")
    base = Shape(**{name: getattr(given, name) for name in names})
    shapes = [base]
    if given.matrix:
        variants = [("Job", 1, 150), ("Job", 1, 300), ("PyTorchJob", 2, 150), ("PyTorchJob", 2, 300)]
        shapes = [
            Shape(workloads=number, kind=kind, pods=pods, nodes=given.nodes, seed=seed)
            for seed, (kind, pods, number) in enumerate(variants, start=7)
        ]
    print(write_run(given.folder, shapes, status=given.status))


if __name__ == "__main__":
    main()
