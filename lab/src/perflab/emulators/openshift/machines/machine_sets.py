"""Keeps as many Machines as each MachineSet requests, and counts them."""

from __future__ import annotations

from typing import Any

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, is_true, own_annotations, phase_of
from perflab.emulators.framework.resources import MACHINE_SETS, MACHINES, NODES
from perflab.emulators.framework.store import Key, key_of, owner_of
from perflab.emulators.openshift.machines.machines import FAILED
from perflab.emulators.openshift.machines.nodes import MACHINE_OF_NODE

# annotation of a Machine to delete first when its set becomes smaller
DELETE_FIRST = "machine.openshift.io/delete-machine"


class MachineSets:
    """One Machine for each replica."""

    def __init__(self, cluster: Cluster) -> None:
        """*cluster* has the MachineSets, Machines and Nodes."""
        self._mark = cluster.mark()
        self._sets = cluster.store(MACHINE_SETS)
        self._machines = cluster.store(MACHINES)
        self._nodes = cluster.store(NODES)
        self.controller = Controller("machineset", self._reconcile)
        self.controller.follow(self._sets)
        self._machines.listen(self._machine_changed)
        self._nodes.listen(self._node_changed)

    def _machine_changed(self, old: Document | None, new: Document | None) -> None:
        machine = new or old or {}
        owner = owner_of(machine)
        if owner is not None:
            self.controller.enqueue((machine["metadata"]["namespace"], owner["name"]))

    def _node_changed(self, old: Document | None, new: Document | None) -> None:
        annotations = (new or old or {})["metadata"].get("annotations") or {}
        namespace, _, name = annotations.get(MACHINE_OF_NODE, "").partition("/")
        machine = self._machines.get((namespace, name))
        if machine is not None:
            self._machine_changed(None, machine)

    async def _reconcile(self, key: Key) -> None:
        found = self._sets.get(key)
        if found is None or is_leaving(found):
            return
        wanted = found["spec"]["replicas"]
        machines = self._staying(found)
        for _ in range(wanted - len(machines)):
            await self._machines.create(_machine(found, self._mark))
        for machine in sorted(machines, key=_goes_first)[: max(0, len(machines) - wanted)]:
            await self._machines.delete(key_of(machine))
        await self._sets.patch_status(key, self._status(found))

    def _staying(self, owner: Document) -> list[Document]:
        owned = self._machines.owned_by(owner["metadata"]["uid"])
        return [machine for machine in owned if not is_leaving(machine)]

    def _status(self, owner: Document) -> dict[str, Any]:
        machines = self._staying(owner)
        ready = sum(map(self._has_ready_node, machines))
        return {
            "observedGeneration": owner["metadata"]["generation"],
            "replicas": len(machines),
            # as on a cluster, a count of zero is absent
            "fullyLabeledReplicas": len(machines) or None,
            "readyReplicas": ready or None,
            "availableReplicas": ready or None,
        }

    def _has_ready_node(self, machine: Document) -> bool:
        reference = (machine.get("status") or {}).get("nodeRef") or {}
        node = self._nodes.get(("", reference.get("name", "")))
        return node is not None and is_true(node, "Ready")


def _machine(owner: Document, mark: dict[str, str]) -> Document:
    metadata, template = owner["metadata"], owner["spec"]["template"]
    return {
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": (template.get("metadata") or {}).get("labels") or {},
            "annotations": mark,
            "ownerReferences": [owner_reference(MACHINE_SETS, owner)],
        },
        "spec": template["spec"],
    }


def _goes_first(machine: Document) -> tuple[bool, bool, str]:
    """Sort in OpenShift's order: marked ones, then failed ones; the API defines no order of equals, here by name."""
    asked = DELETE_FIRST in own_annotations(machine)
    failed = phase_of(machine) == FAILED
    return not asked, not failed, machine["metadata"]["name"]
