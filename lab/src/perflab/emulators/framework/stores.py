"""The stores that all emulators of a lab share, also of kinds that a CustomResourceDefinition defines."""

from __future__ import annotations

import asyncio

from perflab.cluster.api import Api, Document
from perflab.emulators.framework.documents import is_true
from perflab.emulators.framework.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from perflab.emulators.framework.store import Store


class Definitions:
    """The kinds that the cluster serves by its CustomResourceDefinitions."""

    def __init__(self, store: Store) -> None:
        """*definitions* is the store of CustomResourceDefinitions."""
        self.synced = store.synced
        self._store = store
        self._waiting: dict[asyncio.Future[None], tuple[Resource, Resource | None]] = {}
        store.listen(self._changed)

    def served(self, resource: Resource) -> Resource | None:
        """Return the resource in the newest of its versions that is served; None until its kind is established."""
        definition = self._store.get(("", f"{resource.plural}.{resource.group}"))
        if definition is None or not is_true(definition, "Established"):
            return None
        versions = {each["name"] for each in definition["spec"]["versions"] if each["served"]}
        return next((each for each in resource.each_version() if each.version in versions), None)

    async def wait(self, resource: Resource, *, unlike: Resource | None) -> None:
        """Wait until the served resource is not *unlike*."""
        if self.served(resource) != unlike:
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[waiting] = (resource, unlike)
        try:
            await waiting
        finally:
            del self._waiting[waiting]

    def _changed(self, _old: Document | None, new: Document | None) -> None:
        if new is not None:
            # the schemas are most of a definition, and no emulator reads them
            for version in new["spec"]["versions"]:
                version.pop("schema", None)
        for waiting, (resource, unlike) in self._waiting.items():
            if not waiting.done() and self.served(resource) != unlike:
                waiting.set_result(None)


class CustomStore(Store):
    """The objects of a kind that a CustomResourceDefinition defines: none until it is defined.

    The store is synced and empty then, fills when the kind is served and empties when it is not any more.
    """

    def __init__(self, api: Api, resource: Resource, definitions: Definitions, query: str = "") -> None:
        """A Store, with *definitions* to follow the kind's definition."""
        super().__init__(api, resource, query)
        self._asked = resource
        self._definitions = definitions

    async def follow(self) -> None:
        """Keep the copy up to date until cancelled."""
        await self._definitions.synced.wait()
        while True:
            served = self._definitions.served(self._asked)
            if served is None:
                self.empty()
                self.synced.set()
                await self._definitions.wait(self._asked, unlike=None)
            else:
                if served != self.resource:
                    self.forget()
                self.resource = served
                await self._follow_while_served(served)

    async def _follow_while_served(self, served: Resource) -> None:
        following = asyncio.ensure_future(super().follow())
        gone = asyncio.ensure_future(self._definitions.wait(self._asked, unlike=served))
        try:
            await asyncio.wait((following, gone), return_when=asyncio.FIRST_COMPLETED)
            if following.done():
                # it only ends by an error
                following.result()
        finally:
            following.cancel()
            gone.cancel()


class Stores:
    """One store for each resource that an emulator needs, shared by all emulators."""

    def __init__(self, api: Api) -> None:
        """*api* is the API of the lab's cluster."""
        self.api = api
        self._stores: dict[tuple[Resource, str], Store] = {}
        self._definitions: Definitions | None = None

    def get(self, resource: Resource, label: str = "", name: str = "") -> Store:
        """Return the store of a resource, or of its objects with a label or a name.

        A kind that the cluster does not serve (yet) has an empty store.
        """
        selectors = {"labelSelector": label, "fieldSelector": f"metadata.name%3D{name}" if name else ""}
        query = "&".join(f"{key}={value}" for key, value in selectors.items() if value)
        if (resource, query) not in self._stores:
            self._stores[resource, query] = self._create(resource, query)
        return self._stores[resource, query]

    def all(self) -> list[Store]:
        """Return all stores in use."""
        return list(self._stores.values())

    def _create(self, resource: Resource, query: str) -> Store:
        if not resource.is_custom:
            return Store(self.api, resource, query)
        if self._definitions is None:
            self._definitions = Definitions(self.get(CUSTOM_RESOURCE_DEFINITIONS))
        return CustomStore(self.api, resource, self._definitions, query)
