"""What the controllers of one emulator share: the API, the stores of objects, the steps that are set."""

from __future__ import annotations

import hashlib

from perflab.cluster.api import Document
from perflab.emulators.framework.resources import CONFIG_MAPS, EVENTS, Resource
from perflab.emulators.framework.steps import STEPS_NAME, Declarations, Steps
from perflab.emulators.framework.store import Store
from perflab.emulators.framework.stores import Stores
from perflab.processes.state import now

EMULATED = "lab.psap.perf/emulated"


class Cluster:
    """The lab's cluster as an emulator sees it."""

    def __init__(self, stores: Stores, name: str, declarations: Declarations | None = None) -> None:
        """*stores* are those of all emulators, *name* is this one's; *declared* is what can be set of it."""
        self.api = stores.api
        self.name = name
        self.steps = Steps(name, declarations or Declarations(), stores.get(CONFIG_MAPS, name=STEPS_NAME))
        self.stores = stores

    def store(self, resource: Resource, label: str = "", name: str = "") -> Store:
        """The store of a resource, or of what of it has a label or a name; see `Stores.get`."""
        return self.stores.get(resource, label, name)

    def mark(self) -> dict[str, str]:
        """The annotation of what this emulator makes."""
        return {EMULATED: self.name}

    async def event(self, resource: Resource, about: Document, reason: str, message: str, kind: str) -> None:
        """Create an Event about an object, as its controller would, once for each reason and message.

        *kind* is Normal or Warning.
        """
        metadata = about["metadata"]
        namespace = metadata.get("namespace", "default")
        moment = now()
        once = hashlib.sha256(f"{metadata['uid']}/{reason}/{message}".encode()).hexdigest()[:16]
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{metadata['name'][:200]}.{once}", "namespace": namespace},
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
