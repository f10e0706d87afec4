"""What the controllers of one emulator share: the API, and one store for each resource that they ask for."""

from __future__ import annotations

from perflab.cluster.api import Api, Document
from perflab.emulators.framework.kinds import CustomStore, Definitions
from perflab.emulators.framework.resources import CONFIG_MAPS, DEFINITIONS, EVENTS, Resource
from perflab.emulators.framework.steps import STEPS_NAME, Declared, Steps
from perflab.emulators.framework.store import Store
from perflab.processes.state import now

EMULATED = "lab.psap.perf/emulated"


class Cluster:
    """The lab's cluster as an emulator sees it."""

    def __init__(self, api: Api, name: str, declared: Declared | None = None) -> None:
        """*name* is the emulator's; *declared* is what can be set of it."""
        self.api = api
        self.name = name
        self._declared = declared or Declared()
        self._stores: dict[tuple[Resource, str], Store] = {}
        self._definitions: Definitions | None = None
        self._steps: Steps | None = None

    def store(self, resource: Resource, label: str = "", name: str = "") -> Store:
        """The store of a resource, or of what of it has a label or a name; the same for all who ask.

        A kind that the cluster does not serve (yet) has an empty store.
        """
        selectors = {"labelSelector": label, "fieldSelector": f"metadata.name%3D{name}" if name else ""}
        query = "&".join(f"{key}={value}" for key, value in selectors.items() if value)
        asked = (resource, query)
        if asked not in self._stores:
            self._stores[asked] = self._made(resource, query)
        return self._stores[asked]

    @property
    def steps(self) -> Steps:
        """Which delays and failures are set of this emulator's steps."""
        if self._steps is None:
            self._steps = Steps(self.name, self._declared, self.store(CONFIG_MAPS, name=STEPS_NAME))
        return self._steps

    @property
    def steps_version(self) -> str | None:
        """The version of the ConfigMap that the steps are of, empty when there is none; None: nothing reads them."""
        return self._steps.version if self._steps else None

    def _made(self, resource: Resource, query: str) -> Store:
        if not resource.is_custom:
            return Store(self.api, resource, query)
        if self._definitions is None:
            self._definitions = Definitions(self.store(DEFINITIONS))
        return CustomStore(self.api, resource, self._definitions, query)

    def stores(self) -> list[Store]:
        """All stores that were asked for."""
        return list(self._stores.values())

    def mark(self) -> dict[str, str]:
        """The annotation of what this emulator makes."""
        return {EMULATED: self.name}

    async def event(self, resource: Resource, about: Document, reason: str, message: str, kind: str = "Normal") -> None:
        """Tell something of an object, as its controller would; *kind* is Normal or Warning."""
        metadata = about["metadata"]
        namespace = metadata.get("namespace", "default")
        moment = now()
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{metadata['name'][:200]}.", "namespace": namespace},
            "involvedObject": {
                "apiVersion": resource.api_version,
                "kind": resource.kind,
                "name": metadata["name"],
                "namespace": metadata.get("namespace", ""),
                "uid": metadata["uid"],
                "resourceVersion": metadata["resourceVersion"],
            },
            "reason": reason,
            "message": message,
            "type": kind,
            "source": {"component": f"perflab-{self.name}"},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        await self.api.create(EVENTS.path(namespace), body)


def owner_reference(resource: Resource, owner: Document) -> Document:
    """The reference that makes *owner* the controller of what carries it, so that it is deleted with it."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
