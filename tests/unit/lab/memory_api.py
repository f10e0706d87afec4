"""An API server in memory: objects, merge patches, finalizers, label selectors and watches; and emulators on it."""

from __future__ import annotations

import asyncio
import copy
import re
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, cast

from perflab.cluster.api import Api, Document
from perflab.emulators.engine.targets import Targets
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.stores import Stores
from perflab.emulators.registry import Runnable, runnable_of

_PATH = re.compile(r"(/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/([^/]+)(?=/))?/([^/?]+)(?:/([^/?]+))?(/status)?")


APPS = "/apis/apps/v1/namespaces/{}/{}"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class MemoryApi:
    """The functions that `perflab.cluster.api.Api` needs of a server."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str, str], Document] = {}
        self.writes: list[str] = []
        self._version = 0
        self._watches: list[tuple[str, str, asyncio.Queue[Document]]] = []

    def put(self, path: str, document: Document) -> Document:
        """Create or replace an object, as a user or another controller does; *path* is its list's."""
        return self._store(self._key(path, document["metadata"]["name"]), copy.deepcopy(document))

    def find(self, path: str) -> Document | None:
        """Return the object at a path, or None."""
        return self.objects.get(self._key(path))

    @property
    def has_news(self) -> bool:
        """Return whether a watch has changes to deliver."""
        return any(not queue.empty() for _, _, queue in self._watches)

    async def get(self, path: str) -> Document:
        base, plural, selector = self._of_list(path)
        items = [
            copy.deepcopy(document)
            for (where, _, kind, _), document in self.objects.items()
            if (where, kind) == (base, plural) and selected(document, selector)
        ]
        return {"items": items, "metadata": {"resourceVersion": str(self._version)}}

    async def list(self, path: str) -> list[Document]:
        return cast(list[Document], (await self.get(path))["items"])

    async def exists(self, path: str) -> bool:
        return self.find(path) is not None

    async def create(self, path: str, body: Document) -> Document | None:
        self.writes.append(f"POST {path}")
        key = self._key(path, body["metadata"].get("name") or f"generated-{self._version}")
        return None if key in self.objects else copy.deepcopy(self._store(key, copy.deepcopy(body)))

    async def patch(self, path: str, body: Document) -> Document:
        return cast(Document, await self.patch_present(path, body))

    async def patch_present(self, path: str, body: Document) -> Document | None:
        self.writes.append(f"PATCH {path}")
        key = self._key(path)
        if key not in self.objects:
            return None
        # A JSON patch adds to the status.
        fields: Document = (
            {each["path"].rpartition("/")[2]: each["value"] for each in body} if isinstance(body, list) else {}
        )
        changed = merged(self.objects[key], {"status": fields} if fields else body)
        if changed != self.objects[key]:
            self._store(key, changed)
        return copy.deepcopy(self.objects.get(key) or changed)

    async def delete(self, path: str) -> None:
        self.writes.append(f"DELETE {path}")
        key = self._key(path)
        if key in self.objects:
            gone = copy.deepcopy(self.objects[key])
            gone["metadata"].setdefault("deletionTimestamp", "2025-01-01T00:00:00Z")
            self._store(key, gone)

    async def watch(self, path: str) -> AsyncIterator[Document]:
        queue: asyncio.Queue[Document] = asyncio.Queue()
        base, plural, selector = self._of_list(path)
        watch = (base, plural, queue)
        self._watches.append(watch)
        try:
            while True:
                event = await queue.get()
                if selected(event["object"], selector):
                    yield copy.deepcopy(event)
        finally:
            self._watches.remove(watch)

    def _store(self, key: tuple[str, str, str, str], document: Document) -> Document:
        self._version += 1
        base, namespace, plural, name = key
        known = self.objects.get(key)
        metadata = {"uid": f"uid-{plural}-{name}", "creationTimestamp": "2025-01-01T00:00:00Z", "generation": 1}
        metadata |= {"namespace": namespace} if namespace else {}
        document["metadata"] = {**metadata, **document["metadata"], "name": name, "resourceVersion": str(self._version)}
        leaves = "deletionTimestamp" in document["metadata"] and not document["metadata"].get("finalizers")
        kind = "DELETED" if leaves else "MODIFIED" if known else "ADDED"
        if leaves:
            self.objects.pop(key, None)
        else:
            self.objects[key] = document
        for where, what, queue in self._watches:
            if (where, what) == (base, plural):
                queue.put_nowait({"type": kind, "object": document})
        return document

    def _key(self, path: str, name: str = "") -> tuple[str, str, str, str]:
        found = _PATH.match(path)
        assert found, path
        return found[1], found[2] or "", found[3], name or found[4] or ""

    def _of_list(self, path: str) -> tuple[str, str, str]:
        base, _, plural, _ = self._key(path.partition("?")[0], "-")
        query = urllib.parse.parse_qs(path.partition("?")[2])
        return base, plural, "".join(query.get("labelSelector", ())) + "".join(query.get("fieldSelector", ()))


def merged(document: Any, change: Any) -> Any:
    """Return *document* after a merge patch."""
    if not isinstance(change, dict):
        return copy.deepcopy(change)
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def selected(document: Document, selector: str) -> bool:
    """Return whether a selector selects an object: `a=b`, `a`, `a in (b,c)`, `metadata.name=b`."""
    labels = {**(document["metadata"].get("labels") or {}), "metadata.name": document["metadata"]["name"]}
    if " in " in selector:
        name, _, values = selector.partition(" in ")
        return labels.get(name) in values.strip("()").split(",")
    name, equals, value = selector.partition("=")
    return not selector or (labels.get(name) == value if equals else name in labels)


async def settle(api: MemoryApi, name: str, folder: Path, then: Callable[[], Awaitable[None]] | None = None) -> Targets:
    """Run the emulator *name* on *api* until it is idle; then run *then*, and wait again."""
    return await settle_with(api, folder, lambda stores, targets: runnable_of(name, stores, targets), then)


async def settle_with(
    api: MemoryApi,
    folder: Path,
    make: Callable[[Stores, Targets], Iterable[Runnable]],
    then: Callable[[], Awaitable[None]] | None = None,
) -> Targets:
    """Do the same for the controllers that *make* returns."""
    stores, targets = Stores(cast(Api, api)), Targets(folder)
    running = [each for each in make(stores, targets) if isinstance(each, Controller)]
    tasks = [asyncio.create_task(store.follow()) for store in stores.all()]
    await asyncio.wait_for(asyncio.gather(*(store.synced.wait() for store in stores.all())), 10)
    tasks += [asyncio.create_task(each.run()) for each in running]
    for each in (None, then):
        if each:
            await each()
        # As many turns of the loop as a change needs from its write to the resulting work
        quiet = turns = 0
        while quiet < 100:
            await asyncio.sleep(0)
            turns += 1
            assert turns < 100_000, "it never has nothing left to do"
            quiet = 0 if api.has_news or any(not each.is_idle for each in running) else quiet + 1
            assert len(api.writes) < 500, api.writes[-5:]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return targets


def with_kind(api: MemoryApi, *names: str) -> None:
    """Serve the kinds of these CustomResourceDefinitions, `nodefeaturediscoveries.nfd.openshift.io/v1`."""
    for each in names:
        name, _, version = each.partition("/")
        spec = {"versions": [{"name": version, "served": True}]}
        status = {"conditions": [{"type": "Established", "status": "True"}]}
        api.put(CRDS, {"metadata": {"name": name}, "spec": spec, "status": status})


def run_operator(api: MemoryApi, package: str, namespace: str, **labels: str) -> None:
    """Create the running operator of a package."""
    metadata = {"name": package, "labels": {"lab.psap.perf/operator": package, **labels}}
    spec = {"replicas": 1, "template": {"spec": {"containers": [{"name": "manager"}]}}}
    api.put(
        APPS.format(namespace, "deployments"), {"metadata": metadata, "spec": spec, "status": {"availableReplicas": 1}}
    )


def rolled_out(api: MemoryApi, namespace: str, *kinds: str) -> None:
    """Make all workloads of a namespace ready."""
    for kind in kinds:
        prefix = APPS.format(namespace, kind)
        for (base, where, plural, name), document in list(api.objects.items()):
            if (base, where, plural) == ("/apis/apps/v1", namespace, kind):
                counts = {"desiredNumberScheduled": 1, "numberReady": 1, "numberAvailable": 1}
                counts |= {"updatedNumberScheduled": 1, "observedGeneration": 1, "availableReplicas": 1}
                document["spec"].setdefault("replicas", 1)
                api.put(prefix, {**document, "metadata": {**document["metadata"], "name": name}, "status": counts})


def found(api: MemoryApi, path: str) -> Document:
    """Return the object at a path, which must exist."""
    document = api.find(path)
    assert document is not None, path
    return document


def conditions(document: Document | None) -> dict[str, str]:
    """Return the status of each condition of an object, by type."""
    assert document is not None
    return {each["type"]: each["status"] for each in document["status"]["conditions"]}
