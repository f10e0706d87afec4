"""Stores of kinds that a CustomResourceDefinition defines: filled when it is created, emptied when it is deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from perflab.cluster.api import Api, Document
from perflab.emulators.framework.resources import PODS, Resource
from perflab.emulators.framework.store import Store
from perflab.emulators.framework.stores import Stores
from perflab.errors import ClusterError

KIND = Resource("nfd.openshift.io", "v1", "nodefeaturediscoveries", "NodeFeatureDiscovery")


def definition(version: int, *, established: bool = True, served: str = "v1") -> Document:
    return {
        "metadata": {"name": f"{KIND.plural}.{KIND.group}", "uid": "crd", "resourceVersion": str(version)},
        "spec": {"versions": [{"name": served, "served": True, "schema": {"openAPIV3Schema": {}}}]},
        "status": {"conditions": [{"type": "Established", "status": str(established)}]},
    }


class FakeApi:
    """Serve the kind only while `served`, and definitions from a queue of events."""

    def __init__(self) -> None:
        self.served = False
        self.events: asyncio.Queue[Document] = asyncio.Queue()
        self.asked = 0

    async def get(self, path: str) -> Document:
        if KIND.plural in path:
            self.asked += 1
            if not self.served:
                raise ClusterError("404")
            one = {"metadata": {"name": "one", "uid": "one", "resourceVersion": "5"}}
            return {"items": [one], "metadata": {"resourceVersion": "9"}}
        return {"items": [], "metadata": {"resourceVersion": "1"}}

    async def watch(self, path: str) -> AsyncIterator[Document]:
        while "customresourcedefinitions" in path:
            yield await self.events.get()
        await asyncio.Event().wait()

    def tell(self, kind: str, document: Document) -> None:
        self.events.put_nowait({"type": kind, "object": document})


async def wait_until_true(look: Callable[[], Any]) -> None:
    async def wait() -> None:
        while not look():
            await asyncio.sleep(0)

    await asyncio.wait_for(wait(), 5)


def play(scene: Callable[[FakeApi, Store], Any]) -> None:
    async def run() -> None:
        api = FakeApi()
        stores = Stores(cast(Api, api))
        store = stores.get(KIND)
        following = [asyncio.create_task(each.follow()) for each in stores.all()]
        await asyncio.gather(*(each.synced.wait() for each in stores.all()))
        await scene(api, store)
        for each in following:
            each.cancel()

    asyncio.run(run())


def test_missing_kind_has_an_empty_store_and_no_requests() -> None:
    async def scene(api: FakeApi, store: Store) -> None:
        assert (store.values(), api.asked) == ([], 0)

    play(scene)


def test_store_fills_and_empties_with_its_kind() -> None:
    async def scene(api: FakeApi, store: Store) -> None:
        heard: list[tuple[bool, bool]] = []
        store.listen(lambda old, new: heard.append((old is not None, new is not None)))
        api.tell("ADDED", definition(2, established=False))
        api.served = True
        api.tell("MODIFIED", definition(3))
        await wait_until_true(store.values)
        api.tell("DELETED", definition(4))
        await wait_until_true(lambda: not store.values())
        assert heard == [(False, True), (True, False)]

    play(scene)


def test_unserved_version_is_not_followed() -> None:
    async def scene(api: FakeApi, store: Store) -> None:
        api.served = True
        api.tell("ADDED", definition(2, served="v2"))
        await wait_until_true(api.events.empty)
        await asyncio.sleep(0.01)
        assert (store.values(), api.asked) == ([], 0)

    play(scene)


def test_definitions_are_followed_for_custom_kinds_only() -> None:
    stores = Stores(cast(Api, FakeApi()))
    stores.get(PODS)
    assert [store.resource.plural for store in stores.all()] == ["pods"]
    stores.get(KIND)
    assert len(stores.all()) == 3


@pytest.mark.parametrize(("served", "followed"), [(["v1"], "v1"), (["v1", "v2"], "v2")])
def test_newest_served_version_is_followed(served: list[str], followed: str) -> None:
    kind = Resource.of("nfd.openshift.io/v2|v1", "NodeFeatureDiscovery")
    assert [each.api_version for each in kind.each_version()] == ["nfd.openshift.io/v2", "nfd.openshift.io/v1"]

    async def run() -> None:
        api = FakeApi()
        stores = Stores(cast(Api, api))
        store = stores.get(kind)
        following = [asyncio.create_task(each.follow()) for each in stores.all()]
        document = definition(2)
        document["spec"]["versions"] = [{"name": name, "served": True} for name in served]
        api.served = True
        api.tell("ADDED", document)
        await wait_until_true(store.values)
        assert store.resource.version == followed
        assert store.values()[0]["apiVersion"] == f"nfd.openshift.io/{followed}"
        for each in following:
            each.cancel()

    asyncio.run(run())
