"""Filling a cluster in spite of refusals and lost answers, and counting the objects."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.account import Account
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.copies import (
    BUSY_LABEL,
    NUMBER_MARK,
    SELECTOR,
    Copies,
    Template,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.counting import Counts, count, state_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.filling import (
    FillRequest,
    NoNamespaceError,
    plan,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import FixedConcurrency
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at

from tests.schemas import check

from .sessions import QUICK

pytestmark = pytest.mark.slow

OURS = dict([BUSY_LABEL])
QUOTA = 'configmaps "busy-00001" is forbidden: exceeded quota: few'
ENDING = "unable to create new content in namespace b because it is being terminated"
NO_RIGHT = 'configmaps is forbidden: User "u" cannot create resource "configmaps"'


def manifest(kind: str = "ConfigMap", api_version: str = "v1", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": f"busy-{NUMBER_MARK}", **metadata}}


class Server:
    """Serve collections by path, and faults of the next POSTs: a status with a message, ``lost`` or ``reset``."""

    def __init__(self, *namespaces: str) -> None:
        self.objects: dict[str, dict[str, dict[str, Any]]] = {}
        self.faults: dict[str, deque[tuple[int, str] | str]] = {}
        self.posts: list[str] = []
        self.old_tokens = 0
        self.posted: Callable[[], None] = lambda: None
        for name in namespaces:
            self.put("/api/v1/namespaces", name, labels=OURS)

    def put(self, path: str, name: str, **metadata: Any) -> None:
        self.objects.setdefault(path, {})[name] = {"metadata": {"name": name, **metadata}}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        path, name = request.path.rpartition("/")[::2]
        if request.method == "POST":
            return await self._post(request)
        if request.path in ("/api/v1", "/apis/batch/v1"):
            names = {"configmaps": "ConfigMap", "jobs": "Job", "pods": "Pod"}
            resources = [{"name": name, "kind": kind, "namespaced": True} for name, kind in names.items()]
            return web.json_response({"resources": resources})
        if name in ("configmaps", "jobs", "namespaces", "pods"):
            return self._list(request, name)
        found = self.objects.get(path, {}).get(name)
        return web.json_response(found) if found else self._status(404, "not found")

    def _list(self, request: web.Request, plural: str) -> web.StreamResponse:
        """Return two a page; a token may have expired, and the refusal has another."""
        if request.query.get("continue") and self.old_tokens:
            self.old_tokens -= 1
            return web.json_response(
                {"message": "too old", "metadata": {"continue": request.query["continue"]}}, status=410
            )
        key, _equal, value = request.query["labelSelector"].partition("=")
        found = [
            obj
            for path, objects in sorted(self.objects.items())
            if path.endswith(f"/{plural}")
            for obj in objects.values()
            if (obj["metadata"].get("labels") or {}).get(key) == value
        ]
        begin = int(request.query.get("continue", 0))
        metadata = {"continue": str(begin + 2)} if len(found) > begin + 2 else {}
        return web.json_response({"items": found[begin : begin + 2], "metadata": metadata})

    async def _post(self, request: web.Request) -> web.StreamResponse:
        path, body = request.path, await request.json()
        self.posts.append(body["metadata"]["name"])
        self.posted()
        faults = self.faults.get(path)
        fault = faults.popleft() if faults else None
        if isinstance(fault, tuple):
            return self._status(*fault)
        name = body["metadata"]["name"]
        if fault != "reset":
            if name in self.objects.get(path, {}):
                return self._status(409, f'"{name}" already exists')
            parts = path.split("/namespaces/")
            if len(parts) == 2:
                body["metadata"]["namespace"] = parts[1].partition("/")[0]
            self.objects.setdefault(path, {})[name] = body
        if fault is None:
            return web.json_response(body, status=201)
        assert request.transport is not None
        request.transport.abort()
        return self._status(500, "nobody reads this")

    @staticmethod
    def _status(code: int, message: str) -> web.Response:
        return web.json_response({"kind": "Status", "message": message, "code": code}, status=code)

    def names(self, namespace: str, plural: str = "configmaps") -> list[str]:
        return sorted(self.objects.get(f"/api/v1/namespaces/{namespace}/{plural}", {}))

    def run(self, deed: Callable[[ApiClient], Any]) -> Any:
        async def served() -> Any:
            application = web.Application()
            application.router.add_route("*", "/{path:.*}", self.handle)
            runner = web.AppRunner(application, shutdown_timeout=0.1)
            await runner.setup()
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0)
                await site.start()
                host, port = runner.addresses[0][:2]
                async with ApiClient(ApiEndpoint(f"http://{host}:{port}"), policy=QUICK) as client:
                    return await deed(client)
            finally:
                await runner.cleanup()

        return asyncio.run(served())

    def fill(self, artifacts: Path, *manifests: dict[str, Any], number: int = 2, stop: bool = False) -> Account:
        request = FillRequest(
            manifests or [manifest()], number, {"team": "a"}, SELECTOR, FixedConcurrency(1), arrivals_at(0)
        )

        async def deed(client: ApiClient) -> Account:
            filling = await plan(client, request)
            await filling.run(artifacts, lambda: stop)
            return filling.account

        account: Account = self.run(deed)
        return account


CONFIGMAPS_A = "/api/v1/namespaces/a/configmaps"
CONFIGMAPS_B = "/api/v1/namespaces/b/configmaps"


def test_copies_have_numbers_and_labels_across_namespaces(tmp_path: Path) -> None:
    server = Server("a", "b", "c")
    account = server.fill(tmp_path)
    account.judge()
    assert account.sentence() == "6 of 6 ConfigMap objects created"
    assert {name: server.names(name) for name in "abc"} == {name: ["busy-00000", "busy-00001"] for name in "abc"}
    labels = server.objects[CONFIGMAPS_A]["busy-00000"]["metadata"]["labels"]
    assert labels == {"app.kubernetes.io/managed-by": "psap.perf", "team": "a", **OURS}
    assert server.posts == ["busy-00000"] * 3 + ["busy-00001"] * 3
    for name in ("creation", "progress"):
        check(json.loads((tmp_path / f"{name}.json").read_text()))


def test_second_call_creates_only_missing_objects_despite_slow_lists(tmp_path: Path) -> None:
    server = Server("a", "b", "c")
    server.fill(tmp_path)
    del server.objects[CONFIGMAPS_B]["busy-00001"]
    server.posts.clear()
    server.old_tokens = 2
    account = server.fill(tmp_path)
    assert (account.sentence(), server.posts) == ("1 of 6 ConfigMap objects created, 5 existed", ["busy-00001"])
    account = server.fill(tmp_path)
    assert (account.created.total(), account.missing) == (0, 0)


def test_namespaces_are_copied(tmp_path: Path) -> None:
    server = Server()
    assert server.fill(tmp_path, manifest("Namespace")).sentence() == "2 of 2 Namespace objects created"
    assert sorted(server.objects["/api/v1/namespaces"]) == ["busy-00000", "busy-00001"]


@pytest.mark.parametrize(("message", "posts"), [(QUOTA, 1), (ENDING, 1), (NO_RIGHT, 2)])
def test_refusal_ends_its_namespace_only(tmp_path: Path, message: str, posts: int) -> None:
    """A request without a right is repeated for a while if another succeeded: the server may just have started."""
    server = Server("a", "b")
    server.faults[CONFIGMAPS_B] = deque([(403, message)] * 1000)
    account = server.fill(tmp_path, number=3)
    assert (server.names("a"), server.names("b")) == (["busy-00000", "busy-00001", "busy-00002"], [])
    assert min(len(server.posts) - 3, 2) == posts
    with pytest.raises(ClusterError) as raised:
        account.judge()
    beginning = "3 of 6 ConfigMap objects created, 3 are missing; refused: ConfigMap in b: 403 "
    assert str(raised.value) == beginning + message
    document = json.loads((tmp_path / "creation.json").read_text())
    assert document["refused"] == [{"kind": "ConfigMap", "namespace": "b", "message": f"403 {message}"}]


def test_nothing_is_sent_after_every_namespace_is_refused(tmp_path: Path) -> None:
    server = Server("a")
    server.faults[CONFIGMAPS_A] = deque([(403, NO_RIGHT)] * 10)
    assert server.fill(tmp_path, number=10).missing == 10
    assert len(server.posts) == 1


def test_namespace_being_deleted_receives_nothing(tmp_path: Path) -> None:
    server = Server("a")
    server.put("/api/v1/namespaces", "b", labels=OURS, deletionTimestamp="2026-11-25T00:00:00Z")
    account = server.fill(tmp_path)
    assert (server.names("a"), server.names("b")) == (["busy-00000", "busy-00001"], [])
    with pytest.raises(ClusterError, match="ConfigMap in b: the namespace is being deleted; run again when it is gone"):
        account.judge()


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({}, "busy-00000 exists and was not created by this command; choose another prefix"),
        ({"labels": OURS, "deletionTimestamp": "x"}, "busy-00000 is being deleted; run again when it is gone"),
    ],
)
def test_name_already_taken_is_named(tmp_path: Path, metadata: dict[str, Any], message: str) -> None:
    server = Server("a")
    server.put(CONFIGMAPS_A, "busy-00000", **metadata)
    with pytest.raises(ClusterError, match=message):
        server.fill(tmp_path).judge()


@pytest.mark.parametrize("fault", [(429, "slow down"), (503, "not ready"), (409, "the quota was changed"), "reset"])
def test_transient_error_is_retried(tmp_path: Path, fault: tuple[int, str] | str) -> None:
    server = Server("a")
    server.faults[CONFIGMAPS_A] = deque([fault, fault])
    assert server.fill(tmp_path).sentence() == "2 of 2 ConfigMap objects created"


def test_object_with_a_lost_response_counts_as_created(tmp_path: Path) -> None:
    server = Server("a")
    server.faults[CONFIGMAPS_A] = deque(["lost"])
    account = server.fill(tmp_path)
    assert (account.created.total(), account.existed.total()) == (2, 0)
    assert server.posts == ["busy-00000", "busy-00000", "busy-00001"]


@pytest.mark.parametrize(
    ("fault", "message"), [((429, "slow down"), "refused [0-9]+ times: 429 slow"), ("reset", "no answer")]
)
def test_permanent_error_ends_it_and_reports_the_created_count(
    tmp_path: Path, fault: tuple[int, str] | str, message: str
) -> None:
    server = Server("a", "b")
    server.faults[CONFIGMAPS_B] = deque([fault] * 1000)
    with pytest.raises(ClusterError, match=message):
        server.fill(tmp_path)
    document = json.loads((tmp_path / "creation.json").read_text())
    assert (document["kinds"]["ConfigMap"]["created"], document["missing"]) == (1, 3)


def test_second_call_completes_a_stopped_one(tmp_path: Path) -> None:
    server = Server("a")
    account = server.fill(tmp_path, number=2000, stop=True)
    assert account.missing > 0
    with pytest.raises(Interrupted, match="are missing; the same command creates them"):
        account.judge()
    present = len(server.names("a"))
    account = server.fill(tmp_path, number=present + 1)
    assert (account.existed.total(), account.created.total()) == (present, 1)


def test_missing_namespace_explains_its_source(tmp_path: Path) -> None:
    with pytest.raises(NoNamespaceError, match=r"no namespace has the labels .*; create some with"):
        Server().fill(tmp_path)


@pytest.mark.parametrize(
    ("manifests", "number", "message"),
    [
        ([manifest()], -1, "count is -1"),
        ([manifest(), manifest("Namespace")], 1, "either Namespaces or objects"),
        ([], 1, "at least one"),
        ([manifest(name="busy")], 1, "the name of ConfigMap busy needs the number"),
        ([manifest(namespace="x")], 1, "has a namespace"),
    ],
)
def test_uncopyable_object_is_refused(manifests: list[dict[str, Any]], number: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Copies([Template(each, {}) for each in manifests], number, ["a"])


def condition(kind: str, status: str = "True", **more: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, **more}]}


AVAILABLE = {"availableReplicas": 2, "updatedReplicas": 2, **condition("Progressing")}
STUCK = {"phase": "Pending", "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ErrImagePull"}}}]}


@pytest.mark.parametrize(
    ("kind", "status", "state"),
    [
        ("Deployment", AVAILABLE, "ready"),
        ("Deployment", {**AVAILABLE, "availableReplicas": 1}, None),
        ("Deployment", condition("Progressing", "False", reason="ProgressDeadlineExceeded"), "failed"),
        ("Job", {"ready": 2}, "ready"),
        ("Job", {"ready": 1}, None),
        ("Job", condition("Complete"), "completed"),
        ("Job", condition("Failed"), "failed"),
        ("Pod", {"phase": "Running", **condition("Ready")}, "ready"),
        ("Pod", {"phase": "Succeeded"}, "completed"),
        ("Pod", {"phase": "Failed"}, "failed"),
        ("Pod", STUCK, "failed"),
        ("Pod", {"phase": "Pending"}, None),
        ("ConfigMap", {}, None),
    ],
)
def test_state_of_an_object_is_read_from_it(kind: str, status: dict[str, Any], state: str | None) -> None:
    obj = {"metadata": {"name": "a"}, "spec": {"replicas": 2, "parallelism": 2}, "status": status}
    assert state_of(kind, obj) == state
    assert state_of(kind, {**obj, "metadata": {"name": "a", "deletionTimestamp": "x"}}) == "being deleted"


def test_objects_are_counted_by_namespace_and_missing_kinds_as_none() -> None:
    server = Server("a", "b")
    server.put("/api/v1/namespaces", "others", labels={"team": "b"})
    for namespace in ("a", "b", "others"):
        path = f"/api/v1/namespaces/{namespace}/pods"
        server.put(path, "busy", namespace=namespace, labels=OURS)
        server.put(path, "not-ours", namespace=namespace)
        server.objects[path]["busy"]["status"] = {"phase": "Failed" if namespace == "b" else "Running"}
    kinds = ["Namespace", "Pod", "PyTorchJob"]

    async def counted(client: ApiClient, namespaces: str) -> Counts:
        return await count(client, kinds, namespaces)

    counts: Counts = server.run(lambda client: counted(client, ""))
    assert counts.sentence() == "found 2 Namespace, 3 Pod (1 failed)"
    document = counts.document()
    check(document)
    assert document["namespaces"]["others"].keys() == {"Pod"}
    assert document["total"]["Namespace"] == {"exist": 2, "being_deleted": 0}
    assert [line.split() for line in counts.table().splitlines()][1:3] == [
        ["all", "Namespace", "2", "-", "-", "-", "0"],
        ["all", "Pod", "3", "0", "0", "1", "0"],
    ]
    counts = server.run(lambda client: counted(client, "team=b"))
    assert counts.sentence() == "found 1 Pod"
