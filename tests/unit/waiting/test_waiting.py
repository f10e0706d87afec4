"""Waits for a source that plays back the answers of an API server."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, NotReachedError, Progress, wait_for

pytestmark = pytest.mark.slow

PODS = Query("v1", "Pod", namespace="x")


def _pod(name: str, phase: str, reason: str | None = None) -> Manifest:
    status: dict[str, Any] = {"phase": phase}
    if phase == "Running":
        status["conditions"] = [{"type": "Ready", "status": "True"}]
    if reason:
        status["containerStatuses"] = [{"name": "main", "state": {"waiting": {"reason": reason}}}]
    return {"metadata": {"name": name, "uid": name}, "status": status}


class _Playback:
    """Returns *lists* one after the other, and then the *events* of one watch."""

    def __init__(self, lists: list[list[Manifest] | ClusterError], events: list[tuple[str, Manifest]]) -> None:
        self._lists = iter(itertools.chain(lists, itertools.repeat(lists[-1])))
        self._events = events
        self.closed = threading.Event()

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        listed = next(self._lists)
        if isinstance(listed, ClusterError):
            raise listed
        return listed, "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        yield from self._events
        self._events = []
        self.closed.wait(0.05)


def _goal(**changes: Any) -> Goal:
    given: dict[str, Any] = {
        "query": PODS,
        "described": "pods ready",
        "states": (predicate_for("Pod", "ready"),),
        "timeout_s": 5.0,
        **changes,
    }
    return Goal(**given)


def _wait(source: _Playback, goal: Goal, check: Callable[[], None] = lambda: None) -> tuple[Progress, list[Progress]]:
    seen: list[Progress] = []
    return wait_for(source, goal, check, seen.append), seen


def test_change_seen_by_the_watch_ends_the_wait() -> None:
    progress, seen = _wait(_Playback([[_pod("a", "Pending")]], [("MODIFIED", _pod("a", "Running"))]), _goal())
    assert progress.done
    assert progress.objects[0]["status"]["phase"] == "Running"
    assert progress == seen[-1]


def test_missing_object_is_not_ready() -> None:
    with pytest.raises(NotReachedError, match=r"within 0\.2 s: 0 of 0 there; none there yet"):
        _wait(_Playback([[]], []), _goal(timeout_s=0.2))


def test_count_may_exceed_the_existing_objects() -> None:
    running = [_pod("a", "Running"), _pod("b", "Running")]
    assert _wait(_Playback([running], []), _goal(count=2))[0].done
    with pytest.raises(NotReachedError):
        _wait(_Playback([running], []), _goal(count=3, timeout_s=0.2))


def test_absent_waits_for_the_last_deletion() -> None:
    goal = _goal(states=(), absent=True)
    assert _wait(_Playback([[_pod("a", "Running")]], [("DELETED", _pod("a", "Running"))]), goal)[0].done


def test_hopeless_state_ends_the_wait_with_the_last_objects() -> None:
    with pytest.raises(NotReachedError, match="will not be: a: container main: ImagePullBackOff") as caught:
        _wait(_Playback([[_pod("a", "Pending", "ImagePullBackOff")]], []), _goal(timeout_s=600.0))
    assert caught.value.result["objects"][0]["metadata"]["name"] == "a"


class _Recovering(_Playback):
    """Yields changes only after the first state was judged."""

    def __init__(self, lists: list[list[Manifest] | ClusterError], events: list[tuple[str, Manifest]]) -> None:
        super().__init__(lists, events)
        self.judged = threading.Event()

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        self.judged.wait()
        yield from super().watch(query, resource_version, timeout_s)


def test_recoverable_state_is_awaited_within_its_patience() -> None:
    source = _Recovering([[_pod("a", "Pending", "ImagePullBackOff")]], [("MODIFIED", _pod("a", "Running"))])
    seen: list[Progress] = []

    def report(progress: Progress) -> None:
        seen.append(progress)
        source.judged.set()

    assert wait_for(source, _goal(patience_s=600.0), lambda: None, report).done
    assert seen[0].hopeless


def test_patience_ends() -> None:
    with pytest.raises(NotReachedError, match="will not be: a: container main: ImagePullBackOff"):
        _wait(_Playback([[_pod("a", "Pending", "ImagePullBackOff")]], []), _goal(timeout_s=600.0, patience_s=0.2))


def test_custom_reasons_end_the_wait() -> None:
    with pytest.raises(NotReachedError, match="will not be: a: Unschedulable"):
        _wait(_Playback([[_pod("a", "Pending", "Unschedulable")]], []), _goal(give_up_on=("Unschedulable",)))


def test_short_outage_is_tolerated_and_a_long_one_is_not() -> None:
    away = ClusterError("gone")
    assert _wait(_Playback([away, [_pod("a", "Running")]], []), _goal())[0].done
    with pytest.raises(ClusterError, match="gone"):
        _wait(_Playback([away], []), _goal(timeout_s=0.2))


def test_stop_request_ends_the_wait() -> None:
    def stop() -> None:
        raise Interrupted("stop")

    with pytest.raises(Interrupted):
        _wait(_Playback([[_pod("a", "Pending")]], []), _goal(), check=stop)


class _Silent(_Playback):
    """Accepts a request and does not answer until it is closed."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        self.closed.wait()
        return super().list(query)


def test_stop_request_is_honoured_before_the_first_response() -> None:
    source = _Silent([[]], [])
    looks = itertools.count()

    def stop() -> None:
        if next(looks) == 1:
            raise Interrupted("stop")

    try:
        with pytest.raises(Interrupted):
            _wait(source, _goal(), check=stop)
    finally:
        source.closed.set()


class _Broken(_Playback):
    """Raises an unexpected error."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        return [{"metadata": {"namespace": "of an object without a name"}}], "1"


def test_aggregated_objects_without_a_uid_are_awaited() -> None:
    packages: list[Manifest] = [{"metadata": {"name": name, "namespace": "marketplace"}} for name in ("nfd", "odh")]
    there = predicate_for("PackageManifest", "present")
    progress, _seen = _wait(_Playback([packages], []), _goal(states=(there,)))
    assert [item["metadata"]["name"] for item in progress.objects] == ["nfd", "odh"]


def test_unexpected_error_ends_the_wait() -> None:
    with pytest.raises(KeyError, match="name"):
        _wait(_Broken([[]], []), _goal(timeout_s=600.0))
