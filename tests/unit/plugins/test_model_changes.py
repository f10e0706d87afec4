"""The verbs that change a served model while they measure it: cold starts, and replicas under load."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.action.serving import replicas
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.serving.replicas import SAMPLES_FILE, STOP_FILE
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

from tests.schemas import check_file

from .verbs import Verbs

_CELL = {"index": 0, "values": {}, "name": ""}
_SERVICE = {"name": "tiny", "namespace": "models", "cell": _CELL}
_ASKED = {"model": "tiny", "runtime": "llama-cpp", "image": "a:1"}


def pod(number: int, *, ready: bool, reason: str = "") -> dict[str, Any]:
    waiting = [
        {"name": "kserve-container", "ready": False, "restartCount": 9, "state": {"waiting": {"reason": reason}}}
    ]
    return {
        "metadata": {
            "name": f"tiny-{number}",
            "uid": f"uid-{number}",
            "creationTimestamp": f"2026-11-30T09:00:{number:02}Z",
            "labels": {"pod-template-hash": "old" if number == 0 else "new"},
        },
        "spec": {"containers": [{"name": "kserve-container", "image": "a:1"}]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": str(ready), "lastTransitionTime": "2026-11-30T09:00:01Z"}],
            **({"containerStatuses": waiting} if reason else {}),
        },
    }


@dataclass
class Cluster:
    """A cluster with one model. Its pods are replaced when they are deleted, or when the model is changed.

    A replaced pod stays Ready. The new pod is Ready after *lists* lists of pods, unless it is stuck for a reason.
    """

    lists: int = 1
    stuck: str = ""
    deployed: bool = True
    pods: list[dict[str, Any]] = field(default_factory=lambda: [pod(0, ready=True)])
    changes: list[tuple[Mapping[str, Any], bool]] = field(default_factory=list)
    left: int = 0
    load_pods: list[dict[str, Any]] = field(default_factory=list)

    def list(self, query: Query) -> tuple[list[dict[str, Any]], str]:
        if query.kind != "Pod" or query.label_selector == "psap.perf/load":
            return self.load_pods, "1"
        self.left -= 1
        if len(self.pods) > 1 and self.left <= 0 and not self.stuck:
            self.pods = [*self.pods[:-1], pod(len(self.pods) - 1, ready=True)]
        return self.pods, "1"

    def watch(self, _query: Query, _version: str, _timeout_s: int) -> Iterator[tuple[str, dict[str, Any]]]:
        return iter(())

    def delete_collection(self, _query: Query) -> None:
        self.left = self.lists
        self.pods = [*self.pods, pod(len(self.pods), ready=False, reason=self.stuck)]

    def merge(self, query: Query, patch: Mapping[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        self.changes.append((patch, dry_run))
        if not dry_run:
            self.pods = [pod(1, ready=True)]
        return {}

    def get(self, query: Query) -> dict[str, Any] | None:
        if query.kind == "Deployment":
            return {"spec": {"replicas": 1}} if self.deployed else None
        return {"kind": query.kind, "metadata": {"name": "tiny", "namespace": "models", "uid": "service"}, "status": {}}

    def serves(self, _api_version: str, _kind: str) -> bool:
        return True

    def lab(self) -> None:
        return None

    def close(self) -> None:
        pass


@pytest.fixture(name="use")
def _use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Cluster], Verbs]:
    """Return a function that returns the verbs for a cluster."""
    monkeypatch.setenv("PERF_RUN_DIR", str(tmp_path))
    monkeypatch.setenv("PERF_RUN_CELL", "0")
    monkeypatch.setattr(VerbContext, "lab", lambda _context: None)

    def use(cluster: Cluster) -> Verbs:
        monkeypatch.setattr(VerbContext, "cluster", lambda _context: cluster)
        monkeypatch.setattr(VerbContext, "other_cluster", lambda _context, _access: cluster)
        return Verbs(tmp_path / "kubeconfig", tmp_path)

    return use


def test_each_cold_start_is_of_a_new_pod(use: Callable[[Cluster], Verbs], tmp_path: Path) -> None:
    verbs = use(Cluster(lists=3))
    result = verbs("serving.cold_starts", **_SERVICE, count=2, timeout="20s", first_answer=False, asked=_ASKED)
    assert result.values == {"starts": 2}
    check_file(tmp_path / "cold_starts.json")
    document = json.loads((tmp_path / "cold_starts.json").read_text())
    steps = [[step["step"] for step in start["steps"]] for start in document["starts"]]
    # the deleted pods stay Ready, and do not count
    assert steps == [["pod created", "model loaded"]] * 2
    assert all(step["took_s"] >= 0 for start in document["starts"] for step in start["steps"])


def test_pod_that_cannot_start_ends_the_cold_starts(use: Callable[[Cluster], Verbs]) -> None:
    verbs = use(Cluster(stuck="CrashLoopBackOff"))
    with pytest.raises(PerfError, match=r"tiny cannot start again: pod tiny-1: .*CrashLoopBackOff"):
        verbs("serving.cold_starts", **_SERVICE, count=2, timeout="20s", first_answer=False, asked=_ASKED)


def test_cold_start_in_time_is_required(use: Callable[[Cluster], Verbs]) -> None:
    verbs = use(Cluster(lists=1000))
    message = "start 1 of 2: no new pod was Ready within 1 s: 1 new pods, none of them Ready"
    with pytest.raises(PerfError, match=message):
        verbs("serving.cold_starts", **_SERVICE, count=2, timeout="1s", first_answer=False, asked=_ASKED)


def record(cluster: Cluster, folder: Path, ansible: int, **given: Any) -> list[dict[str, Any]]:
    """Record in this process until three samples are written; return the lines."""
    asked = {"kind": "InferenceService", "protocol": "http", "state": "begun", "mode": "rollout", "model": "tiny"}
    times = {"change_after": "0", "timeout": "60s", "settle": "0"}
    args = convert({**_SERVICE, **asked, **times, "change": {"spec": {}}, **given}, replicas.Arguments)
    numbers, listed = itertools.count(), cluster.list

    def list_and_stop(query: Query) -> tuple[list[dict[str, Any]], str]:
        if query.label_selector != "psap.perf/load" and next(numbers) == 3:
            (folder / STOP_FILE).touch()
        return listed(query)

    cluster.list = list_and_stop  # type: ignore[method-assign]
    replicas._Recorder(cluster, args, folder, frozenset({"old"}), ansible).run()  # type: ignore[arg-type]
    return [json.loads(line) for line in (folder / SAMPLES_FILE).read_text().splitlines()]


@pytest.mark.parametrize("in_job", [False, True])
def test_recorder_changes_the_model_once_the_load_generator_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, in_job: bool
) -> None:
    monkeypatch.setattr(replicas, "_INTERVAL_S", 0.01)
    running: dict[str, Any] = {"status": {"initContainerStatuses": [{"state": {"running": {}}}]}}
    cluster = Cluster(load_pods=[running] if in_job else [])
    if not in_job:
        log = tmp_path / "003__serving__run_load" / "artifacts" / "run.log"
        log.parent.mkdir(parents=True)
        log.touch()
    lines = record(cluster, tmp_path, os.getpid())
    assert list(lines[0]) == ["change_s"]
    assert [line["ready_new"] for line in lines[1:-1]] == [1, 1, 1, 1]
    assert lines[-1] == {"ended": True}
    assert cluster.changes == [({"spec": {}}, False)]


def test_recorder_waits_for_the_load_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicas, "_INTERVAL_S", 0.01)
    waiting: dict[str, Any] = {
        "status": {"initContainerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}]}
    }
    cluster = Cluster(load_pods=[waiting])
    record(cluster, tmp_path, os.getpid())
    assert cluster.changes == []


def test_recorder_ends_with_ansible_and_writes_errors(tmp_path: Path) -> None:
    assert record(Cluster(), tmp_path, 0) == [{"ended": True}]
    (tmp_path / SAMPLES_FILE).unlink()
    (line,) = record(Cluster(deployed=False), tmp_path, os.getpid(), change={})
    assert "there is no Deployment models/tiny-predictor; deploy the model with raw_deployment" in line["error"]


LOADS = {
    "loads": [{"users": 2.0, "begin_s": 1.0, "end_s": 50.0, "requests": 3, "failed": 0}],
    "points": [],
    "phases": [],
}


def lines_of(*lines: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def sample(at_s: float, ready_new: int) -> dict[str, float]:
    return {"at_s": at_s, "wanted": 1, "pods": 1, "ready": 1, "ready_new": ready_new}


def test_end_of_a_rollout_writes_its_moments(
    use: Callable[[Cluster], Verbs], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "loads_over_time", lambda _commands, _phases: LOADS)
    recorded = lines_of(sample(1.0, 0), {"change_s": 2.0}, sample(3.0, 0), sample(4.5, 1), {"ended": True})
    (tmp_path / SAMPLES_FILE).write_text(recorded + '{"at_s": 5')
    result = use(Cluster())("serving.replicas", **_SERVICE, state="ended", mode="rollout", model="tiny", settle="5s")
    assert result.values == {"samples": 3}
    check_file(tmp_path / "rollout.json")
    assert json.loads((tmp_path / "rollout.json").read_text())["moments"] == {"change_s": 2.0, "done_s": 4.5}
    assert not (tmp_path / SAMPLES_FILE).exists()


def test_change_before_the_first_request_fails_the_cell(
    use: Callable[[Cluster], Verbs], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = {**LOADS, "loads": [{**LOADS["loads"][0], "begin_s": 9.0}]}
    monkeypatch.setattr(replicas, "loads_over_time", lambda _commands, _phases: loads)
    (tmp_path / SAMPLES_FILE).write_text(lines_of(sample(1.0, 0), {"change_s": 2.0}, {"ended": True}))
    with pytest.raises(DataQualityError, match="the model was changed 7 s before the first request"):
        use(Cluster())("serving.replicas", **_SERVICE, state="ended", mode="rollout", model="tiny")


@pytest.mark.parametrize(
    ("recorded", "message"),
    [
        (
            lines_of(sample(1.0, 0), {"ended": True}),
            "the load ended before the change, 30 s after its generator started",
        ),
        (lines_of({"error": "no route"}), "the replicas could not be recorded: no route"),
        ("", "the replicas could not be recorded: there is no sample"),
    ],
)
def test_invalid_recording_fails_the_cell(
    use: Callable[[Cluster], Verbs], tmp_path: Path, recorded: str, message: str
) -> None:
    (tmp_path / SAMPLES_FILE).write_text(recorded)
    with pytest.raises(DataQualityError, match=message):
        use(Cluster())("serving.replicas", **_SERVICE, state="ended", mode="rollout", model="tiny", change_after="30s")


def test_change_is_checked_before_the_recording(
    use: Callable[[Cluster], Verbs], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(replicas, "detach", lambda _work, name: begun.append(name))
    cluster = Cluster()
    use(cluster)("serving.replicas", **_SERVICE, state="begun", mode="rollout", model="tiny", change={"spec": {}})
    assert cluster.changes == [({"spec": {}}, True)]
    assert begun == ["perf-replicas"]

    def refuse(*_args: Any, **_options: Any) -> dict[str, Any]:
        raise UsageError("unknown field spec.mode1")

    cluster.merge = refuse  # type: ignore[method-assign]
    with pytest.raises(UsageError, match=r"unknown field spec\.mode1"):
        use(cluster)("serving.replicas", **_SERVICE, state="begun", mode="rollout", model="tiny", change={"spec": 1})
    assert len(begun) == 1


def test_failed_load_stops_its_recording(use: Callable[[Cluster], Verbs], tmp_path: Path) -> None:
    verbs = use(Cluster())
    verbs("serving.replicas", **_SERVICE, state="stopped", mode="rollout", model="tiny")
    assert not (tmp_path / STOP_FILE).exists()
    (tmp_path / SAMPLES_FILE).write_text(lines_of(sample(1.0, 0)))
    verbs("serving.replicas", **_SERVICE, state="stopped", mode="rollout", model="tiny")
    assert (tmp_path / STOP_FILE).exists()
