"""The core of the emulators: copies that miss no change, and work that is repeated until it succeeds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest
from perflab.cluster.api import Api, Document
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.resources import PODS, PYTORCH_JOBS
from perflab.emulators.framework.store import Key, Store
from perflab.emulators.framework.supervisor import Supervisor
from perflab.emulators.framework.units import parse_duration
from perflab.errors import ClusterError

from .fake_api import FakeApi, pod


def owned_pod(name: str, version: int, owner: str) -> Document:
    return pod(name, version, ownerReferences=[{"uid": owner, "controller": True}])


def event(kind: str, document: Document) -> Document:
    return {"type": kind, "object": document}


async def follow(api: FakeApi) -> tuple[Store, list[tuple[str | None, str | None]]]:
    """Follow until the script ends; return the store and the versions that its listener received."""
    store = Store(cast(Api, api), PODS)
    heard: list[tuple[str | None, str | None]] = []

    def version(document: Document | None) -> str | None:
        return document["metadata"]["resourceVersion"] if document else None

    store.listen(lambda old, new: heard.append((version(old), version(new))))
    task = asyncio.create_task(store.follow())
    while api.watches or api.lists or not api.asked or "watch=1" not in api.asked[-1]:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.01)
    task.cancel()
    return store, heard


def test_store_follows_additions_changes_and_deletions() -> None:
    script = [event("MODIFIED", pod("a", 5)), event("ADDED", pod("b", 6)), event("DELETED", pod("a", 7))]
    store, heard = asyncio.run(follow(FakeApi([[pod("a", 1)]], [cast(Any, script)])))
    assert heard == [(None, "1"), ("1", "5"), (None, "6"), ("5", None)]
    assert [each["metadata"]["name"] for each in store.values()] == ["b"]


@pytest.mark.parametrize(
    "broken",
    [[event("ERROR", {"code": 410})], ClusterError("killed")],
    ids=["an expired version", "a killed server"],
)
def test_store_reports_changes_missed_during_a_break(broken: Any) -> None:
    api = FakeApi([[pod("a", 1), pod("b", 2)], [pod("b", 9), pod("c", 10)]], [broken])
    store, heard = asyncio.run(follow(api))
    assert heard == [(None, "1"), (None, "2"), ("1", None), ("2", "9"), (None, "10")]
    assert {each["metadata"]["name"] for each in store.values()} == {"b", "c"}


def test_ended_watch_resumes_where_it_ended() -> None:
    bookmark = event("BOOKMARK", {"metadata": {"resourceVersion": "140"}})
    api = FakeApi([[]], [[bookmark], [event("ADDED", pod("a", 150))]])
    asyncio.run(follow(api))
    assert [path.rpartition("=")[2] for path in api.asked[1:]] == ["100", "140", "150"]


def test_failing_listener_does_not_affect_others() -> None:
    async def run() -> list[str]:
        store, heard = Store(cast(Api, FakeApi([[pod("a", 1), pod("b", 2)]], [])), PODS), list[str]()
        store.listen(lambda _old, new: heard.append(str(1 // 0) if new else ""))
        store.listen(lambda _old, new: heard.append(new["metadata"]["name"] if new else ""))
        task = asyncio.create_task(store.follow())
        await asyncio.wait_for(store.synced.wait(), 5)
        task.cancel()
        return heard

    assert asyncio.run(run()) == ["a", "b"]


def test_stale_events_are_ignored() -> None:
    api = FakeApi([[pod("a", 5)]], [[event("MODIFIED", pod("a", 4))]])
    _, heard = asyncio.run(follow(api))
    assert heard == [(None, "5")]


def test_own_write_is_known_immediately_and_not_repeated() -> None:
    async def write() -> tuple[Store, list[str]]:
        api = FakeApi([[pod("a", 1)]], [])
        store, _ = await follow(api)
        api.asked.clear()
        await store.patch_status(("n", "a"), {"phase": "Running"})
        await store.patch_status(("n", "a"), {"phase": "Running"})
        return store, api.asked

    store, asked = asyncio.run(write())
    assert asked == ["/api/v1/namespaces/n/pods/a/status"]
    assert (store.get(("n", "a")) or {})["status"] == {"phase": "Running"}


def test_late_response_does_not_restore_a_deleted_object() -> None:
    async def write() -> list[Document]:
        api = FakeApi([[pod("a", 1)]], [[event("DELETED", pod("a", 6))]])
        store, _ = await follow(api)
        await store.patch(("n", "a"), {"spec": {}})
        return store.values()

    assert asyncio.run(write()) == []


def test_deletion_does_not_affect_a_successor_of_the_name() -> None:
    second = pod("a", 8, uid="uid-second")
    script = [event("ADDED", second), event("DELETED", pod("a", 9))]
    store, _ = asyncio.run(follow(FakeApi([[pod("a", 1)]], [cast(Any, script)])))
    assert store.values() == [second]


def test_objects_are_found_by_owner() -> None:
    script = [event("ADDED", owned_pod("b", 6, "job-1")), event("DELETED", owned_pod("a", 7, "job-1"))]
    store, _ = asyncio.run(follow(FakeApi([[owned_pod("a", 1, "job-1")]], [cast(Any, script)])))
    assert [each["metadata"]["name"] for each in store.owned_by("job-1")] == ["b"]
    assert list(store.owned_by("job-2")) == []


def handled_keys(reconcile: Callable[[Key, Controller], Any], asks: list[str], looks: int) -> list[str]:
    """Request some names, let the controller handle *looks* keys, and return the names in that order."""
    seen: list[str] = []

    async def run() -> None:
        done = asyncio.Event()

        async def look(key: Key) -> float | None:
            seen.append(key[1])
            if len(seen) >= looks:
                done.set()
            again_s: float | None = await reconcile(key, controller)
            return again_s

        controller = Controller("test", look)
        for name in asks:
            controller.enqueue(("n", name))
        task = asyncio.create_task(controller.run())
        await asyncio.wait_for(done.wait(), 10)
        await asyncio.sleep(0.05)
        task.cancel()

    asyncio.run(run())
    return seen


def test_queued_key_is_handled_once() -> None:
    async def nothing(_key: Key, _controller: Controller) -> None:
        await asyncio.sleep(0)

    assert sorted(handled_keys(nothing, ["a", "b", "a", "a"], 2)) == ["a", "b"]


def test_key_requested_during_handling_is_handled_again() -> None:
    asked: list[Key] = []

    async def ask_once(key: Key, controller: Controller) -> None:
        if not asked:
            asked.append(key)
            controller.enqueue(key)
            controller.enqueue(key)
            await asyncio.sleep(0.01)

    assert handled_keys(ask_once, ["a"], 2) == ["a", "a"]


@pytest.mark.parametrize("error", [ClusterError("no answer"), KeyError("a bug")], ids=["cluster", "bug"])
def test_failed_handling_is_retried_without_blocking_others(error: Exception) -> None:
    left = [error, error]

    async def fail(key: Key, _controller: Controller) -> None:
        if key[1] == "bad" and left:
            raise left.pop()

    assert sorted(handled_keys(fail, ["bad", "good"], 4)) == ["bad", "bad", "bad", "good"]


def test_handler_can_request_another_pass() -> None:
    waits = [0.01, 0.01]

    async def later(_key: Key, _controller: Controller) -> float | None:
        return waits.pop() if waits else None

    assert handled_keys(later, ["a"], 3) == ["a", "a", "a"]


@pytest.mark.parametrize("changes", [True, False])
def test_followed_object_is_handled_on_add_change_and_resync(changes: bool) -> None:
    async def nothing(_key: Key) -> None:
        return None

    async def run() -> tuple[bool, bool]:
        store = Store(cast(Api, FakeApi([[pod("a", 1)]], [])), PODS)
        controller = Controller("test", nothing)
        controller.follow(store, changes=changes)
        tasks = [asyncio.create_task(store.follow()), asyncio.create_task(controller.run())]
        await store.synced.wait()
        while not controller.is_idle:
            await asyncio.sleep(0)
        await store.patch(("n", "a"), {"spec": {}})
        asked_for_change = not controller.is_idle
        while not controller.is_idle:
            await asyncio.sleep(0)
        controller.enqueue_all(None, pod("b", 8))
        asked_for_all = not controller.is_idle
        for task in tasks:
            task.cancel()
        return asked_for_change, asked_for_all

    assert asyncio.run(run()) == (changes, True)


def test_failed_task_is_restarted_and_named_while_it_waits() -> None:
    async def run() -> tuple[list[int], set[str], set[str]]:
        supervisor, starts, again = Supervisor(), list[int](), asyncio.Event()

        async def part() -> None:
            starts.append(len(starts))
            if len(starts) == 1:
                raise RuntimeError("a bug")
            again.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(supervisor.keep("kueue: jobs", part))
        await asyncio.sleep(0)
        failed = set(supervisor.failed)
        await asyncio.wait_for(again.wait(), 5)
        task.cancel()
        return starts, failed, supervisor.failed

    assert asyncio.run(run()) == ([0, 1], {"kueue: jobs"}, set())


def test_resource_path_has_group_namespace_and_name() -> None:
    assert PODS.path("n", "a") == "/api/v1/namespaces/n/pods/a"
    assert PYTORCH_JOBS.path() == "/apis/kubeflow.org/v1/pytorchjobs"
    assert (PODS.api_version, PYTORCH_JOBS.api_version) == ("v1", "kubeflow.org/v1")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("2s", 2), ("1m30s", 90), ("1.5h", 5400), ("soon", None), ("5", None), ("", None), (None, None)],
)
def test_durations_are_parsed(text: str | None, seconds: float | None) -> None:
    assert parse_duration(text) == seconds
