"""A simulated API server: enough of lists, watches and POSTs to make them fail on purpose."""

from __future__ import annotations

import asyncio
import copy
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import web

RESOURCES = {
    "/api/v1": [("pods", "Pod"), ("events", "Event")],
    "/apis/batch/v1": [("jobs", "Job")],
    "/apis/kubeflow.org/v1": [("pytorchjobs", "PyTorchJob")],
}
NODES = "/api/v1/nodes"
PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
KUEUE = "/apis/kueue.x-k8s.io"
SECRETS = "/api/v1/namespaces/kueue-system/secrets"
CREATED_AT = "2026-11-21T00:00:00Z"


class FakeApi:
    """Serve objects by path, a history of changes with versions, and scripted faults for the next POSTs."""

    def __init__(self) -> None:
        self.server = ""
        node = {"metadata": {"name": "node-0000", "uid": "node-0"}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}}
        self.objects: dict[str, dict[str, dict[str, Any]]] = {NODES: {"node-0000": node}}
        self.version = 100
        self.oldest = 0
        self.history: list[tuple[int, str, str, dict[str, Any]]] = []
        self.changed = asyncio.Condition()
        self.ended = asyncio.Event()
        # each: a status of the answer, "reset" (before the change), "lost" (changed, but no answer), "hold" (changed,
        # and the answer comes when the connection is closed), "stall" (the same without a change), "rights" (403, like
        # a server that has not loaded its access rules yet), "made" (no fault)
        self.post_faults: deque[int | str] = deque()
        self.delete_faults: deque[int | str] = deque()
        self.deletions: list[tuple[str, dict[str, Any]]] = []
        # the message of an answer with a scripted status
        self.fault_message = "scripted fault"
        self.retry_after: str | None = None
        # Whether POSTs are answered with 429
        self.busy: Callable[[], bool] = lambda: False
        self.keeps_no_versions = False
        self.posts = 0
        self.lists = 0
        self.watches: set[web.StreamResponse] = set()
        self.watches_opened = 0
        # kinds of changes that the watches withhold, such as DELETED
        self.withheld: set[str] = set()
        self.cut_watches = 0
        self.complete_jobs = False
        # Collections that may not be listed
        self.forbidden: set[str] = set()
        # further kinds by API version, besides RESOURCES
        self.more: dict[str, list[tuple[str, str]]] = {}
        # Pages of metrics by path
        self.pages_of_metrics: dict[str, str] = {}
        self.refuse_lists = 0
        self.classes_forbidden = False
        # Queues and flavors of Kueue by path; None for a cluster without Kueue
        self.kueue: dict[str, dict[str, Any]] | None = None
        # The condition of MultiKueue's clusters
        self.connected = {"type": "Active", "status": "True"}
        # Kueue's API versions, the preferred one first
        self.kueue_versions = ["v1beta1"]
        self.priority_classes: dict[str, dict[str, Any]] = {}
        self.priority_classes_made: list[dict[str, Any]] = []
        # All pages of a list have the version of the first one.
        self.pages: dict[str, tuple[list[dict[str, Any]], int]] = {}

    async def create(self, collection: str, obj: dict[str, Any]) -> dict[str, Any]:
        """Add an object to a collection, as a controller would."""
        self.version += 1
        metadata = obj.setdefault("metadata", {})
        metadata.setdefault("uid", f"uid-{self.version}")
        metadata.setdefault("creationTimestamp", CREATED_AT)
        self.objects.setdefault(collection, {})[metadata["name"]] = obj
        await self._happened("ADDED", collection, obj)
        return obj

    async def update(self, collection: str, name: str, **status: Any) -> None:
        """Change fields of an object's status."""
        self.version += 1
        obj = copy.deepcopy(self.objects[collection][name])
        obj["status"] = {**obj.get("status", {}), **status}
        self.objects[collection][name] = obj
        await self._happened("MODIFIED", collection, obj)

    async def delete(self, collection: str, name: str) -> None:
        """Remove an object."""
        self.version += 1
        await self._happened("DELETED", collection, self.objects[collection].pop(name))

    async def complete(self, collection: str, name: str) -> None:
        """Let a Job complete."""
        done = {"type": "Complete", "status": "True", "lastTransitionTime": CREATED_AT}
        await self.update(collection, name, startTime=CREATED_AT, completionTime=CREATED_AT, conditions=[done])

    async def fail(self, collection: str, name: str, reason: str) -> None:
        """Let a Job fail."""
        failed = {"type": "Failed", "status": "True", "lastTransitionTime": CREATED_AT, "reason": reason}
        await self.update(collection, name, startTime=CREATED_AT, conditions=[failed])

    async def compact(self) -> None:
        """Forget the history: a watch from an older version gets 410."""
        self.oldest = self.version
        self.history.clear()

    async def disconnect(self) -> None:
        """Cut every open watch."""
        self.cut_watches += 1
        async with self.changed:
            self.changed.notify_all()

    async def _happened(self, kind: str, collection: str, obj: dict[str, Any]) -> None:
        obj["metadata"]["resourceVersion"] = str(self.version)
        self.history.append((self.version, kind, collection, copy.deepcopy(obj)))
        async with self.changed:
            self.changed.notify_all()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        path = request.path
        if path in self.pages_of_metrics:
            return web.Response(text=self.pages_of_metrics[path])
        if path.count("/") == 2 or path in self._kinds():
            return self._served(path)
        if path in self.forbidden:
            return self._status(403, f"{path} is forbidden")
        if path == NODES:
            return await self._watch(request) if request.query.get("watch") else self._list(request)
        if path == "/api/v1/namespaces/test":
            return web.json_response({"metadata": {"name": "test"}})
        parts = path.rpartition("/namespaces/test/")[2].split("/")
        if path.startswith((PRIORITY_CLASSES, KUEUE, SECRETS)):
            own = path.startswith((KUEUE, SECRETS))
            return await (self._kueue(request) if own else self._priority_class(request))
        if "/namespaces/test/" not in path:
            return self._status(404, "not found")
        if request.method in ("POST", "DELETE"):
            return await (self._post(request) if request.method == "POST" else self._delete(request))
        if request.query.get("watch"):
            return await self._watch(request)
        return self._get(path.rpartition("/")[0], parts[1]) if len(parts) == 2 else self._list(request)

    async def _priority_class(self, request: web.Request) -> web.Response:
        if self.classes_forbidden:
            return self._status(403, "priorityclasses is forbidden")
        if request.method == "DELETE":
            gone = self.priority_classes.pop(request.path.rpartition("/")[2], None)
            return web.json_response({}) if gone else self._status(404, "not found")
        body = await request.json()
        self.priority_classes[body["metadata"]["name"]] = body
        self.priority_classes_made.append(body)
        return web.json_response(body, status=201)

    async def _kueue(self, request: web.Request) -> web.Response:
        """Serve Kueue's objects and secrets if the cluster has Kueue."""
        path = request.path
        if self.kueue is None:
            return self._status(404, "not found")
        if request.method == "POST":
            body = await request.json()
            place = f"{path}/{body['metadata']['name']}"
            if place in self.kueue:
                return self._status(409, "already exists")
            self.kueue[place] = body
            body["metadata"]["uid"] = f"uid-of-{body['metadata']['name']}"
            if body["kind"] == "MultiKueueCluster":
                body["status"] = {"conditions": [self.connected]}
            return web.json_response(body, status=201)
        if request.method == "PATCH":
            self.kueue[path]["spec"] |= (await request.json())["spec"]
            return web.json_response(self.kueue[path])
        if request.method == "GET" and path.endswith(("/clusterqueues", "/workloads")):
            items = [found for place, found in self.kueue.items() if place.rpartition("/")[0] == path]
            return web.json_response({"items": items})
        found = self.kueue.pop(path, None) if request.method == "DELETE" else self.kueue.get(path)
        return web.json_response(found) if found else self._status(404, "not found")

    def _kinds(self) -> dict[str, list[tuple[str, str]]]:
        """Return names and kinds by the path of their API version."""
        kueue = [f"{KUEUE}/{version}" for version in self.kueue_versions if self.kueue is not None]
        return {**RESOURCES, **self.more, **{path: [("localqueues", "LocalQueue")] for path in kueue}}

    def _served(self, path: str) -> web.Response:
        kinds = self._kinds()
        if path in kinds:
            listed = [{"name": name, "kind": kind, "namespaced": True} for name, kind in kinds[path]]
            return web.json_response({"resources": listed})
        served = [version.removeprefix("/apis/") for version in kinds if version.startswith(f"{path}/")]
        if not served:
            return self._status(404, "not found")
        versions = [{"groupVersion": version} for version in served]
        return web.json_response({"versions": versions, "preferredVersion": versions[0]})

    async def _post(self, request: web.Request) -> web.Response:
        self.posts += 1
        fault = None if self.busy() or not self.post_faults else self.post_faults.popleft()
        refusal = self._refusal(fault)
        if refusal is not None:
            return refusal
        if fault == "reset":
            return self._cut(request)
        if fault == "stall":
            return await self._wait_for_ever()
        body = await request.json()
        name = body["metadata"]["name"]
        if name in self.objects.get(request.path, {}):
            if fault == "lost":
                return self._cut(request)
            return self._status(409, f'"{name}" already exists')
        created = await self.create(request.path, body)
        if self.complete_jobs:
            asyncio.get_running_loop().call_later(0.02, self._soon, request.path, name)
        if fault == "lost":
            return self._cut(request)
        if fault == "hold":
            return await self._wait_for_ever()
        return web.json_response(created, status=201, dumps=lambda value: json.dumps(value, separators=(",", ":")))

    async def _delete(self, request: web.Request) -> web.Response:
        collection, _separator, name = request.path.rpartition("/")
        options = await request.json()
        self.deletions.append((name, options))
        fault = self.delete_faults.popleft() if self.delete_faults else None
        if isinstance(fault, int):
            return self._status(fault, "scripted fault")
        if fault == "rights":
            return self._status(403, 'jobs.batch is forbidden: User "u" cannot create resource "jobs"')
        if fault == "reset":
            return self._cut(request)
        found = self.objects.get(collection, {}).get(name)
        if found is None:
            return self._status(404, "not found")
        if options.get("preconditions", {}).get("uid", found["metadata"]["uid"]) != found["metadata"]["uid"]:
            return self._status(409, "the UID in the precondition does not match")
        await self.delete(collection, name)
        return self._cut(request) if fault == "lost" else web.json_response({"status": "Success"})

    def _refusal(self, fault: int | str | None) -> web.Response | None:
        if self.busy():
            return self._status(429, "too many requests", {"Retry-After": self.retry_after or "1"})
        if fault == "rights":
            return self._status(403, 'jobs.batch is forbidden: User "u" cannot create resource "jobs"')
        if isinstance(fault, int):
            headers = {"Retry-After": self.retry_after} if self.retry_after else None
            return self._status(fault, self.fault_message, headers)
        return None

    def _soon(self, path: str, name: str) -> None:
        self._completing = asyncio.ensure_future(self.complete(path, name))

    async def _wait_for_ever(self) -> web.Response:
        """Wait until the server ends, unless the client closes the connection first."""
        await self.ended.wait()
        return self._status(503, "the server ends")

    @classmethod
    def _cut(cls, request: web.Request) -> web.Response:
        """Break the connection, so that the answer is lost."""
        assert request.transport is not None
        request.transport.abort()
        return cls._status(500, "nobody reads this")

    def _get(self, collection: str, name: str) -> web.Response:
        found = self.objects.get(collection, {}).get(name)
        return web.json_response(found) if found else self._status(404, "not found")

    def _list(self, request: web.Request) -> web.Response:
        """Return two objects a page, so that all lists have several pages."""
        self.lists += 1
        if self.refuse_lists:
            return self._status(self.refuse_lists, "refused")
        token = request.query.get("continue")
        items, version = self.pages.pop(token) if token else self._snapshot(request.path)
        metadata = {"resourceVersion": str(version)}
        if len(items) > 2:
            metadata["continue"] = f"page-{self.lists}"
            self.pages[metadata["continue"]] = (items[2:], version)
        return web.json_response({"metadata": metadata, "items": items[:2]})

    def _snapshot(self, path: str) -> tuple[list[dict[str, Any]], int]:
        return list(self.objects.get(path, {}).values()), self.version

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        self.watches_opened += 1
        version, cuts = int(request.query["resourceVersion"]), self.cut_watches
        if version < self.oldest or self.keeps_no_versions:
            return self._status(410, "too old resource version")
        response = web.StreamResponse()
        await response.prepare(request)
        self.watches.add(response)
        with suppress(ConnectionError):
            while self.cut_watches == cuts:
                if version < self.oldest and not self.history:
                    await self._send(response, "ERROR", {"kind": "Status", "code": 410, "metadata": {}})
                    break
                for at, kind, collection, obj in list(self.history):
                    if kind in self.withheld:
                        break
                    if at > version and collection == request.path:
                        await self._send(response, kind, obj)
                    version = max(version, at)
                async with self.changed:
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self.changed.wait(), 0.05)
        self.watches.discard(response)
        return response

    @staticmethod
    async def _send(response: web.StreamResponse, kind: str, obj: dict[str, Any]) -> None:
        await response.write(json.dumps({"type": kind, "object": obj}).encode() + b"\n")

    @staticmethod
    def _status(code: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
        body = {"kind": "Status", "message": message, "code": code}
        return web.json_response(body, status=code, headers=headers)


@asynccontextmanager
async def fake_api(prepared: FakeApi | None = None) -> AsyncIterator[FakeApi]:
    """Serve a simulated API, by default an empty one, on a free loopback port."""
    api = prepared or FakeApi()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", api._handle)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    api.server = f"http://{host}:{port}"
    try:
        yield api
    finally:
        api.ended.set()
        await api.disconnect()
        await runner.cleanup()
