"""The steps of a model's start, by the cluster's timestamps and the command's observations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.serving.model_start import (
    ServiceObjects,
    document,
    first_ready,
    of_earlier_attempt,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.start_watching import FirstSeen
from perfanalysis.workloads.model_start.steps import UNCHANGED
from perfanalysis.workloads.run_analysis import analyse_run

from tests.schemas import check

ASKED = {"model": "granite-8b", "runtime": "vllm", "image": "quay.io/vllm:1"}
SEEN = {
    "applied": "2026-11-26T10:00:00.250Z",
    "scheduled": "2026-11-26T10:00:02.750Z",
    "container started": "2026-11-26T10:00:40.300Z",
    "model loaded": "2026-11-26T10:00:58.800Z",
    "ready": "2026-11-26T10:01:00.500Z",
    "first answer": "2026-11-26T10:01:01.750Z",
}
PLACE = "001__cell__0/001__kserve__deploy_model/artifacts"


def timestamp(second: int, minute: int = 0) -> str:
    return f"2026-11-26T10:{minute:02}:{second:02}Z"


def condition(kind: str, stamp: str) -> dict[str, str]:
    return {"type": kind, "status": "True", "lastTransitionTime": stamp}


def service(*conditions: dict[str, str]) -> dict[str, Any]:
    metadata = {"name": "granite", "namespace": "models", "creationTimestamp": timestamp(0)}
    return {"metadata": metadata, "status": {"conditions": list(conditions)}}


def pod(name: str = "a", **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "creationTimestamp": timestamp(1)}, "status": status}


def event(reason: str, uid: str = "uid-a", field: str = "", **stamps: str) -> dict[str, Any]:
    return {"reason": reason, "involvedObject": {"uid": uid, "fieldPath": field}, "eventTime": None, **stamps}


READY = pod(
    conditions=[condition("PodScheduled", timestamp(1)), condition("Ready", timestamp(58))],
    initContainerStatuses=[{"state": {"terminated": {"finishedAt": timestamp(20)}}}],
    containerStatuses=[
        {"name": "queue-proxy", "state": {"running": {"startedAt": timestamp(21)}}, "restartCount": 4},
        {"name": "kserve-container", "state": {"running": {"startedAt": timestamp(40)}}, "restartCount": 1},
    ],
)
EVENTS = [
    event("Scheduled", eventTime="2026-11-26T10:00:01.500000Z"),
    event("Scheduled", "uid-of-another", eventTime="2026-11-26T10:00:00.100000Z"),
    event("Pulled", field="spec.initContainers{storage-initializer}", firstTimestamp=timestamp(3)),
    event("Pulled", field="spec.containers{kserve-container}", firstTimestamp=timestamp(39)),
    event("Pulled", field="spec.containers{kserve-container}", firstTimestamp=timestamp(50)),
]
STARTED = ServiceObjects(service(condition("Ready", timestamp(59))), [READY], EVENTS, SEEN)


def durations(result: dict[str, Any], which: str = "steps") -> dict[str, float]:
    return {step["step"]: step["took_s"] for step in result[which]}


def test_each_step_has_its_duration_and_clock() -> None:
    result = document(ASKED, STARTED)
    check(result)
    assert durations(result) == {
        "pod created": 1,
        "scheduled": 0,
        "model downloaded": 19,
        "image pulled": 19,
        "container started": 1,
        "model loaded": 18,
        "ready": 1,
    }
    assert durations(result, "seen") == {
        "scheduled": 2.5,
        "container started": 37.55,
        "model loaded": 18.5,
        "ready": 1.7,
        "first answer": 1.25,
    }
    by_name = {step["step"]: (step["clock"], step["resolution_s"]) for step in result["steps"]}
    assert by_name["scheduled"] == ("API server, scheduler", 1.0)
    assert by_name["model loaded"] == ("kubelet", 1.0)
    assert {(step["clock"], step["resolution_s"]) for step in result["seen"]} == {
        ("the command", 0.05),
        ("the command", 0.2),
    }
    assert (result["pod"], result["restarts"], result["ready"]) == ("a", 1, True)


def test_step_without_a_timestamp_is_left_out() -> None:
    waiting = pod(conditions=[condition("PodScheduled", timestamp(7)), {"type": "Ready", "status": "False"}])
    result = document(
        ASKED, ServiceObjects(service(), [waiting], [], {"applied": SEEN["applied"], "scheduled": "", "ready": ""})
    )
    check(result)
    assert durations(result) == {"pod created": 1, "scheduled": 6}
    assert (result["seen"], result["ready"]) == ([], False)
    loaded = document(ASKED, ServiceObjects(service(condition("Ready", timestamp(9))), [waiting], [], {}))
    assert loaded["steps"][-1]["after"] == "scheduled"


def test_service_without_pods_has_no_steps() -> None:
    result = document(ASKED, ServiceObjects(service(), [], [], {}))
    check(result)
    assert (result["steps"], result["pod"]) == ([], None)


def test_timestamps_out_of_order_yield_no_negative_time() -> None:
    early = pod(conditions=[condition("Ready", timestamp(30))])
    assert (
        durations(document(ASKED, ServiceObjects(service(condition("Ready", timestamp(29))), [early], [], {})))["ready"]
        == 0
    )


def test_first_ready_pod_is_measured() -> None:
    late = pod("0", conditions=[condition("Ready", timestamp(59))])
    never = pod("00", conditions=[{"type": "Ready", "status": "False", "lastTransitionTime": timestamp(2)}])
    assert first_ready([never, late, READY]) is READY
    assert first_ready([never]) is never


class Clock:
    """A clock that advances by a second at each read."""

    def __init__(self) -> None:
        self.second = 0

    def __call__(self) -> str:
        self.second += 1
        return timestamp(self.second)


def test_events_before_the_first_look_are_not_recorded() -> None:
    first_seen = FirstSeen(Clock())
    created = pod(conditions=[{"type": "Ready", "status": "False"}])
    first_seen.update(pods=[created])
    # Only now there is a state to compare with.
    first_seen.update(events=[])
    first_seen.update(events=[EVENTS[0]])
    first_seen.update(pods=[READY])
    # A finer timestamp of an observed step, and an unchanged step
    first_seen.update(events=EVENTS)
    assert first_seen.seen() == {
        "scheduled": timestamp(1),
        "model downloaded": timestamp(2),
        "container started": timestamp(2),
        "model loaded": timestamp(2),
        "image pulled": timestamp(3),
    }


def test_restarted_container_is_recorded_again() -> None:
    first_seen = FirstSeen(Clock())
    first_seen.update(pods=[], events=[])
    for second in (5, 30):
        running = {"name": "main", "state": {"running": {"startedAt": timestamp(second)}}}
        first_seen.update(pods=[pod(containerStatuses=[running])])
    assert first_seen.seen() == {"pod created": timestamp(1), "container started": timestamp(2)}


def test_replaced_pod_is_ignored_while_it_ends() -> None:
    first_seen = FirstSeen(Clock(), ignored={"old"})
    old = {**READY, "metadata": {**READY["metadata"], "uid": "old"}}
    first_seen.update(pods=[old], events=[])
    first_seen.update(pods=[old, pod()])
    assert first_seen.seen() == {"pod created": timestamp(1)}


def test_missing_pod_yields_nothing() -> None:
    first_seen = FirstSeen(Clock())
    first_seen.update(pods=[], events=[])
    assert first_seen.seen() == {}


@pytest.mark.parametrize(
    ("seen", "ready_after", "answered_after", "loaded_within"), [(SEEN, 60.25, 61.5, 18.5), ({}, None, None, 18)]
)
def test_report_has_the_steps_as_kpis(
    tmp_path: Path, seen: dict[str, str], ready_after: float | None, answered_after: float | None, loaded_within: float
) -> None:
    """A step has the finer clock if that observed its begin too; for the pulled image it did not."""
    artifacts = tmp_path / PLACE
    artifacts.mkdir(parents=True)
    observed = ServiceObjects(STARTED.service, STARTED.pods, STARTED.events, seen)
    (artifacts / "model_start.json").write_text(json.dumps(document(ASKED, observed)))
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    found = {value.name: value.number for value in analysis.kpis}
    assert found == {
        "time_to_ready": ready_after,
        "time_to_first_answer": answered_after,
        "scheduling_time": 0,
        "model_download_time": 19,
        "image_pull_time": 19,
        "model_load_time": loaded_within,
    }
    assert dict(analysis.facts)["model"] == "granite-8b"
    reasons = {value.reason for value in analysis.kpis if value.number is None}
    assert reasons == (set() if seen else {UNCHANGED})


def test_model_that_is_not_loaded_has_no_time_to_ready(tmp_path: Path) -> None:
    artifacts = tmp_path / PLACE
    artifacts.mkdir(parents=True)
    observed = ServiceObjects(service(), [pod()], [], {"applied": SEEN["applied"]})
    (artifacts / "model_start.json").write_text(json.dumps(document(ASKED, observed)))
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    (reason,) = (value.reason for value in analysis.kpis if value.name == "time_to_ready")
    assert reason == "the model was not loaded"


def attempt(run: Path, number: int, seen: dict[str, str], cell: int = 0, **changed: Any) -> dict[str, Any]:
    """Write the document of an attempt's deployment; return it."""
    started = {**document(ASKED, ServiceObjects(STARTED.service, STARTED.pods, STARTED.events, seen)), **changed}
    command = run / f"{number:03d}__cell__{cell}" / "001__kserve__deploy_model"
    (command / "artifacts").mkdir(parents=True)
    (command / "status.json").write_text(json.dumps({"cell": cell}))
    (command / "artifacts" / "model_start.json").write_text(json.dumps(started))
    return started


def test_resumed_run_keeps_the_start_that_the_killed_attempt_saw(tmp_path: Path) -> None:
    killed = attempt(tmp_path, 1, SEEN)
    steps, command = of_earlier_attempt(tmp_path, 0, attempt(tmp_path, 2, {}))
    assert (steps, command) == (killed["seen"], "001__cell__0/001__kserve__deploy_model")
    check({**killed, "seen_in": command})


@pytest.mark.parametrize(
    ("killed", "found"),
    [
        ({}, {}),
        ({"seen": SEEN}, {"pod": "b"}),
        ({"seen": SEEN}, {"restarts": 2}),
        ({"seen": SEEN}, {"namespace": "other"}),
        ({"seen": SEEN, "cell": 1}, {}),
        ({"seen": SEEN, "pod": None}, {"pod": None}),
    ],
)
def test_start_of_another_pod_or_cell_is_not_kept(
    tmp_path: Path, killed: dict[str, Any], found: dict[str, Any]
) -> None:
    attempt(tmp_path, 1, killed.pop("seen", {}), **killed)
    assert of_earlier_attempt(tmp_path, 0, attempt(tmp_path, 2, {}, **found)) == ([], None)
