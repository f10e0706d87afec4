"""The steps of a model's start, from what the cluster stamps and what the command saw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.serving.model_start import ServiceObjects, document, first_ready
from ansible_collections.psap.perf.plugins.module_utils.serving.start_watching import FirstSeen
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


def at(second: int, minute: int = 0) -> str:
    return f"2026-11-26T10:{minute:02}:{second:02}Z"


def true(kind: str, stamp: str) -> dict[str, str]:
    return {"type": kind, "status": "True", "lastTransitionTime": stamp}


def service(*conditions: dict[str, str]) -> dict[str, Any]:
    metadata = {"name": "granite", "namespace": "models", "creationTimestamp": at(0)}
    return {"metadata": metadata, "status": {"conditions": list(conditions)}}


def pod(name: str = "a", **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "creationTimestamp": at(1)}, "status": status}


def event(reason: str, uid: str = "uid-a", field: str = "", **stamps: str) -> dict[str, Any]:
    return {"reason": reason, "involvedObject": {"uid": uid, "fieldPath": field}, "eventTime": None, **stamps}


READY = pod(
    conditions=[true("PodScheduled", at(1)), true("Ready", at(58))],
    initContainerStatuses=[{"state": {"terminated": {"finishedAt": at(20)}}}],
    containerStatuses=[
        {"name": "queue-proxy", "state": {"running": {"startedAt": at(21)}}, "restartCount": 4},
        {"name": "kserve-container", "state": {"running": {"startedAt": at(40)}}, "restartCount": 1},
    ],
)
EVENTS = [
    event("Scheduled", eventTime="2026-11-26T10:00:01.500000Z"),
    event("Scheduled", "uid-of-another", eventTime="2026-11-26T10:00:00.100000Z"),
    event("Pulled", field="spec.initContainers{storage-initializer}", firstTimestamp=at(3)),
    event("Pulled", field="spec.containers{kserve-container}", firstTimestamp=at(39)),
    event("Pulled", field="spec.containers{kserve-container}", firstTimestamp=at(50)),
]
STARTED = ServiceObjects(service(true("Ready", at(59))), [READY], EVENTS, SEEN)


def took(told: dict[str, Any], which: str = "steps") -> dict[str, float]:
    return {step["step"]: step["took_s"] for step in told[which]}


def test_each_step_has_its_duration_and_clock() -> None:
    told = document(ASKED, STARTED)
    check(told)
    assert took(told) == {
        "pod created": 1,
        "scheduled": 0,
        "model downloaded": 19,
        "image pulled": 19,
        "container started": 1,
        "model loaded": 18,
        "ready": 1,
    }
    assert took(told, "seen") == {
        "scheduled": 2.5,
        "container started": 37.55,
        "model loaded": 18.5,
        "ready": 1.7,
        "first answer": 1.25,
    }
    by_name = {step["step"]: (step["clock"], step["resolution_s"]) for step in told["steps"]}
    assert by_name["scheduled"] == ("API server, scheduler", 1.0)
    assert by_name["model loaded"] == ("kubelet", 1.0)
    assert {(step["clock"], step["resolution_s"]) for step in told["seen"]} == {
        ("the command", 0.05),
        ("the command", 0.2),
    }
    assert (told["pod"], told["restarts"], told["ready"]) == ("a", 1, True)


def test_step_without_a_timestamp_is_left_out() -> None:
    waiting = pod(conditions=[true("PodScheduled", at(7)), {"type": "Ready", "status": "False"}])
    told = document(
        ASKED, ServiceObjects(service(), [waiting], [], {"applied": SEEN["applied"], "scheduled": "", "ready": ""})
    )
    check(told)
    assert took(told) == {"pod created": 1, "scheduled": 6}
    assert (told["seen"], told["ready"]) == ([], False)
    loaded = document(ASKED, ServiceObjects(service(true("Ready", at(9))), [waiting], [], {}))
    assert loaded["steps"][-1]["after"] == "scheduled"


def test_service_without_pods_has_no_steps() -> None:
    told = document(ASKED, ServiceObjects(service(), [], [], {}))
    check(told)
    assert (told["steps"], told["pod"]) == ([], None)


def test_timestamps_out_of_order_yield_no_negative_time() -> None:
    early = pod(conditions=[true("Ready", at(30))])
    assert took(document(ASKED, ServiceObjects(service(true("Ready", at(29))), [early], [], {})))["ready"] == 0


def test_first_ready_pod_is_measured() -> None:
    late = pod("0", conditions=[true("Ready", at(59))])
    never = pod("00", conditions=[{"type": "Ready", "status": "False", "lastTransitionTime": at(2)}])
    assert first_ready([never, late, READY]) is READY
    assert first_ready([never]) is never


class Clock:
    """A second for each look."""

    def __init__(self) -> None:
        self.second = 0

    def __call__(self) -> str:
        self.second += 1
        return at(self.second)


def test_events_before_the_first_look_are_not_recorded() -> None:
    first_seen = FirstSeen(Clock())
    created = pod(conditions=[{"type": "Ready", "status": "False"}])
    first_seen.update(pods=[created])
    # only now there is something to compare with
    first_seen.update(events=[])
    first_seen.update(events=[EVENTS[0]])
    first_seen.update(pods=[READY])
    # a finer stamp of what was seen, and what did not change
    first_seen.update(events=EVENTS)
    assert first_seen.seen() == {
        "scheduled": at(1),
        "model downloaded": at(2),
        "container started": at(2),
        "model loaded": at(2),
        "image pulled": at(3),
    }


def test_restarted_container_is_recorded_again() -> None:
    first_seen = FirstSeen(Clock())
    first_seen.update(pods=[], events=[])
    for second in (5, 30):
        running = {"name": "main", "state": {"running": {"startedAt": at(second)}}}
        first_seen.update(pods=[pod(containerStatuses=[running])])
    assert first_seen.seen() == {"pod created": at(1), "container started": at(2)}


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
    """A step is by the finer clock, where that saw its begin, too: of the image pulled it did not."""
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
