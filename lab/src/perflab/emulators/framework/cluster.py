"""What the controllers of one emulator share: the API, the stores of objects, the values of steps."""

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
    """The lab's cluster for an emulator."""

    def __init__(self, stores: Stores, name: str, declarations: Declarations | None = None) -> None:
        """*stores* are those of all emulators, *name* is this one's; *declared* are its steps and numbers."""
        self.api = stores.api
        self.name = name
        self.steps = Steps(name, declarations or Declarations(), stores.get(CONFIG_MAPS, name=STEPS_NAME))
        self.stores = stores

    def store(self, resource: Resource, label: str = "", name: str = "") -> Store:
        """Return the store of a resource, or of its objects with a label or a name; see `Stores.get`."""
        return self.stores.get(resource, label, name)

    def mark(self) -> dict[str, str]:
        """Return the annotation of objects that this emulator creates."""
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
    """Return the reference that makes *owner* the controller of an object, which is then deleted with it."""
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
