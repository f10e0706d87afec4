"""A copy of the objects of one resource, kept up to date by list and watch, and functions to change them."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator

from perflab.cluster.api import Api, Document
from perflab.emulators.framework.resources import Resource
from perflab.errors import ClusterError

Key = tuple[str, str]
Listener = Callable[[Document | None, Document | None], None]

_log = logging.getLogger(__name__)
_FIRST_RETRY_S = 0.1
_LONGEST_RETRY_S = 2.0
# uids of recently deleted objects: the response to a write may arrive after the event of the deletion
_REMEMBERED = 4096
# the server ends a watch after that time; it continues from its end
_WATCH_S = 600


class _ExpiredError(Exception):
    """The server does not have the resource version any more: list again."""


def key_of(document: Document) -> Key:
    """Return namespace (empty for cluster-scoped objects) and name."""
    metadata = document["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def owner_of(document: Document) -> Document | None:
    """Return the reference to the object's controller."""
    owners = document["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


class Store:
    """The objects of one resource, or those of them that *query* selects.

    Writes of this process are in the copy immediately, so that a controller does not act twice on its own change. The
    copy may be behind the writes of others: names of created objects contain their purpose, so that none is created
    twice. After a restart of the API server, listeners are called for everything that changed meanwhile.
    """

    def __init__(self, api: Api, resource: Resource, query: str = "") -> None:
        """Nothing is read before `follow` runs; *query* selects objects, such as `labelSelector=a`."""
        self.resource = resource
        self.synced = asyncio.Event()
        self._api = api
        self._query = f"{query}&" if query else ""
        self._objects: dict[Key, Document] = {}
        self._owned: defaultdict[str, set[Key]] = defaultdict(set)
        self._gone: dict[str, None] = {}
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Call *listener* with the old and the new state of each object that changes (None: absent)."""
        self._listeners.append(listener)

    def get(self, key: Key) -> Document | None:
        """Return the object, or None."""
        return self._objects.get(key)

    def values(self) -> list[Document]:
        """Return all objects."""
        return list(self._objects.values())

    def owned_by(self, uid: str) -> Iterator[Document]:
        """Return the objects whose controller has this uid."""
        return (self._objects[key] for key in tuple(self._owned.get(uid, ())))

    async def create(self, document: Document) -> Document | None:
        """Create an object; None if its name is taken."""
        namespace = document["metadata"].get("namespace", "")
        body = {**document, "apiVersion": self.resource.api_version, "kind": self.resource.kind}
        created = await self._api.create(self.resource.path(namespace), body)
        if created is not None:
            self._put(created)
        return created

    async def patch(self, key: Key, change: Document) -> None:
        """Merge *change* into an object; nothing happens if it does not exist any more."""
        await self._patch(key, self.resource.path(*key), change)

    async def patch_status(self, key: Key, status: Document) -> None:
        """Merge *status* into an object's status if it differs; nothing happens if the object does not exist."""
        known = (self.get(key) or {}).get("status") or {}
        change = {name: value for name, value in status.items() if known.get(name) != value}
        body: Document | list[Document] = {"status": change}
        lists = (value for value in change.values() if isinstance(value, list))
        if any(isinstance(each, dict) and None in each.values() for value in lists for each in value):
            # in a list, a merge patch drops null values
            body = [{"op": "add", "path": f"/status/{name}", "value": value} for name, value in change.items()]
        if change:
            await self._patch(key, f"{self.resource.path(*key)}/status", body)

    async def add_finalizer(self, document: Document, finalizer: str) -> None:
        """Add *finalizer* to an object that does not have it: the object stays until it is removed."""
        present = document["metadata"].get("finalizers") or []
        if finalizer not in present:
            await self.patch(key_of(document), {"metadata": {"finalizers": [*present, finalizer]}})

    async def remove_finalizer(self, document: Document, finalizer: str) -> None:
        """Remove *finalizer* from an object that has it."""
        present = document["metadata"].get("finalizers") or []
        if finalizer in present:
            left = [each for each in present if each != finalizer]
            await self.patch(key_of(document), {"metadata": {"finalizers": left}})

    async def delete(self, key: Key) -> None:
        """Delete an object without a grace period; it need not exist."""
        await self._api.delete(self.resource.path(*key))

    async def _patch(self, key: Key, path: str, change: Document | list[Document]) -> None:
        before = self.get(key)
        patched = await self._api.patch_present(path, change)
        if patched is not None:
            self._put(patched)
        elif before is not None:
            self._remove(before)

    def empty(self) -> None:
        """Forget all objects, as if each had been deleted."""
        for document in self.values():
            self._remove(document)

    def forget(self) -> None:
        """Drop the copy, whose objects have another version, without calling a listener."""
        self._objects.clear()
        self._owned.clear()

    async def follow(self) -> None:
        """Keep the copy up to date until cancelled."""
        version, wait_s = "", _FIRST_RETRY_S
        while True:
            try:
                version = version or await self._list()
                async for seen in self._watch(version):
                    version, wait_s = seen, _FIRST_RETRY_S
            except _ExpiredError:
                version = ""
            except ClusterError as error:
                # a restarted server may not have the version any more
                version = ""
                _log.warning("%s: %s; again in %.1f s", self.resource.plural, error, wait_s)
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_RETRY_S)

    async def _list(self) -> str:
        listed = await self._api.get(f"{self.resource.path()}?{self._query}")
        documents = {key_of(document): document for document in listed["items"]}
        for gone in self._objects.keys() - documents.keys():
            self._remove(self._objects[gone])
        for document in documents.values():
            self._put(document)
        self.synced.set()
        version: str = listed["metadata"]["resourceVersion"]
        return version

    async def _watch(self, version: str) -> AsyncIterator[str]:
        path = f"{self.resource.path()}?{self._query}watch=1&allowWatchBookmarks=true&timeoutSeconds={_WATCH_S}"
        async for event in self._api.watch(f"{path}&resourceVersion={version}"):
            document = event["object"]
            if event["type"] == "ERROR":
                raise _ExpiredError(document)
            if event["type"] == "DELETED":
                self._remove(document)
            elif event["type"] != "BOOKMARK":
                self._put(document)
            yield document["metadata"]["resourceVersion"]

    def _put(self, document: Document) -> None:
        key = key_of(document)
        old = self._objects.get(key)
        if document["metadata"]["uid"] in self._gone or (old is not None and not _is_newer(document, old)):
            return
        document["metadata"].pop("managedFields", None)
        # the items of a list do not have their kind
        document.setdefault("apiVersion", self.resource.api_version)
        document.setdefault("kind", self.resource.kind)
        if old is not None:
            self._forget_owner(key, old)
        self._objects[key] = document
        owner = owner_of(document)
        if owner:
            self._owned[owner["uid"]].add(key)
        self._notify(old, document)

    def _remove(self, document: Document) -> None:
        key, uid = key_of(document), document["metadata"]["uid"]
        self._gone[uid] = None
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]
        old = self._objects.get(key)
        # another object may have the name meanwhile
        if old is not None and old["metadata"]["uid"] == uid:
            del self._objects[key]
            self._forget_owner(key, old)
            self._notify(old, None)

    def _forget_owner(self, key: Key, document: Document) -> None:
        owner = owner_of(document)
        if owner:
            keys = self._owned[owner["uid"]]
            keys.discard(key)
            if not keys:
                del self._owned[owner["uid"]]

    def _notify(self, old: Document | None, new: Document | None) -> None:
        for listener in self._listeners:
            try:
                listener(old, new)
            except Exception:
                # an error of one controller must not withhold the event from the others; it is logged
                _log.exception("%s: a listener failed", self.resource.plural)


def _is_newer(document: Document, old: Document) -> bool:
    # versions in one cluster are growing numbers; another uid is another object of the same name
    same = document["metadata"]["uid"] == old["metadata"]["uid"]
    return not same or int(document["metadata"]["resourceVersion"]) > int(old["metadata"]["resourceVersion"])
