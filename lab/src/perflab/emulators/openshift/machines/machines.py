"""The life of a Machine: an instance is created, it joins the cluster as a Node, and both are deleted with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from perflab.cluster.api import Document, in_bulk
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, now_s, phase_of
from perflab.emulators.framework.resources import MACHINES, NODES, PODS
from perflab.emulators.framework.steps import Progress
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.openshift.machines import instance_types, providers
from perflab.emulators.openshift.machines.nodes import MACHINE_OF_NODE, node_of

FINALIZER = "machine.machine.openshift.io"
_GROUP, _VERSION = "machine.openshift.io", "v1beta1"
TYPE_LABEL, REGION_LABEL, ZONE_LABEL = (f"{_GROUP}/{name}" for name in ("instance-type", "region", "zone"))
PROVISIONING, PROVISIONED, RUNNING = "Provisioning", "Provisioned", "Running"
DELETING, FAILED = "Deleting", "Failed"

Take = Callable[[Key, Document], Awaitable[None]]
# the API's reasons for a Machine that failed in a step
_REASONS = {"provision": "InsufficientResources", "join": "JoinClusterTimeoutError"}


class Machines:
    """Moves each Machine one phase further at every reconciliation."""

    def __init__(self, cluster: Cluster) -> None:
        """*cluster* has the Machines and Nodes; pods are queried when needed."""
        self._cluster = cluster
        self._machines = cluster.store(MACHINES)
        self._nodes = cluster.store(NODES)
        self.controller = Controller("machine", self._reconcile)
        self.controller.follow(self._machines)
        cluster.steps.listen(self.controller.enqueue_all)

    async def _reconcile(self, key: Key) -> float | None:
        machine = self._machines.get(key)
        if machine is None:
            return None
        phase = phase_of(machine)
        if is_leaving(machine):
            await self._remove(key)
        elif not phase:
            await self._accept(key, machine)
        elif phase == PROVISIONING:
            return await self._step("provision", machine, self._provision)
        elif phase == PROVISIONED:
            return await self._step("join", machine, self._join)
        return None

    async def _step(self, step: str, machine: Document, take: Take) -> float | None:
        """Do a step when it is due, unless it is set to fail; else return when to reconcile again."""
        progress = Progress(self._cluster.steps, machine)
        state = progress.check(step, machine["metadata"]["name"])
        await progress.save(self._machines)
        if state.done:
            await take(key_of(machine), machine)
        elif state.failure:
            await self._fail(key_of(machine), machine, _REASONS[step], state.failure)
        # one that never ends is reconciled when its setting changes
        return progress.wait_s

    async def _accept(self, key: Key, machine: Document) -> None:
        wanted = providers.read(machine)
        labels = {TYPE_LABEL: wanted.type, REGION_LABEL: wanted.region, ZONE_LABEL: wanted.zone}
        await self._machines.patch(key, {"metadata": {"labels": labels, "finalizers": [FINALIZER]}})
        await self._enter(key, PROVISIONING)

    async def _provision(self, key: Key, machine: Document) -> None:
        wanted = providers.read(machine)
        if instance_types.find(wanted.type) is None:
            message = f"error launching instance: the instance type {wanted.type!r} does not exist"
            await self._fail(key, machine, "InvalidConfiguration", message)
            return
        await self._machines.patch(key, {"spec": {"providerID": providers.provider_id(machine)}})
        instance = {"instanceId": providers.instance_id(machine), "instanceState": "running"}
        await self._enter(key, PROVISIONED, providerStatus=instance)

    async def _join(self, key: Key, machine: Document) -> None:
        hardware = instance_types.find(providers.read(machine).type)
        if hardware is None:
            return
        kubernetes = (await self._cluster.api.get("/version"))["gitVersion"]
        await self._nodes.create(node_of(machine, hardware, kubernetes, self._cluster.mark()))
        node = self._node(key)
        if node is not None:
            reference = {"kind": "Node", "name": key[1], "uid": node["metadata"]["uid"]}
            addresses = [{"type": kind, "address": key[1]} for kind in ("Hostname", "InternalDNS")]
            await self._enter(key, RUNNING, nodeRef=reference, addresses=addresses)

    def _node(self, key: Key) -> Document | None:
        """Return the Node of a Machine, which has its name, if it exists."""
        node = self._nodes.get(("", key[1]))
        annotations = (node or {}).get("metadata", {}).get("annotations") or {}
        return node if annotations.get(MACHINE_OF_NODE) == "/".join(key) else None

    async def _fail(self, key: Key, machine: Document, reason: str, message: str) -> None:
        await self._enter(key, FAILED, errorReason=reason, errorMessage=message)
        await self._cluster.event(MACHINES, machine, "FailedCreate", message, "Warning")

    async def _enter(self, key: Key, phase: str, **details: object) -> None:
        await self._machines.patch_status(key, {"phase": phase, "lastUpdated": now_s(), **details})

    async def _remove(self, key: Key) -> None:
        await self._enter(key, DELETING)
        if self._node(key) is not None:
            # the node first, so that no new pod is bound to it
            await self._nodes.delete(("", key[1]))
            await self._delete_pods(key[1])
        await self._machines.patch(key, {"metadata": {"finalizers": None}})

    async def _delete_pods(self, node: str) -> None:
        # queried when needed: a copy of all pods of the cluster would only serve this
        pods = await self._cluster.api.list(f"{PODS.path()}?fieldSelector=spec.nodeName%3D{node}")
        await in_bulk([PODS.path(*key_of(pod)) for pod in pods], self._cluster.api.delete)
