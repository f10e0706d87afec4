"""The stack's metrics over HTTP on loopback, and where the lab's Prometheus finds them."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller, Reconcile
from perflab.emulators.framework.operator_deployments import Operator
from perflab.emulators.framework.resources import CLUSTER_POLICIES, NAMESPACES, NODES
from perflab.emulators.framework.store import Key
from perflab.emulators.operators.gpu_operator import metrics
from perflab.emulators.operators.gpu_operator.configuration import Configuration
from perflab.emulators.operators.gpu_operator.hardware import hardware_of, is_gpu_node, number_of_gpus
from perflab.emulators.operators.gpu_operator.operands import (
    DCGM_EXPORTER,
    DEVICE_PLUGIN,
    NODE_STATUS_EXPORTER,
    section,
)
from perflab.emulators.operators.gpu_operator.pods import Pods
from perflab.emulators.operators.gpu_operator.usage import Usage, of_gpus
from perflab.processes.ports import LOOPBACK

_MONITORED = "openshift.io/cluster-monitoring"

_FILE = "gpu-operator.json"
_OPERATOR = "gpu-operator"
_ALL: Key = ("", "targets")
# the ports that the real pods listen on, for the label `instance`
_PORTS = {DCGM_EXPORTER.name: 9400, NODE_STATUS_EXPORTER.name: 8000, _OPERATOR: 8080}


class Exporter:
    """Serves `/dcgm/NODE`, `/node-status/NODE` and `/operator`, and keeps the list of targets."""

    def __init__(
        self, cluster: Cluster, operator: Operator, pods: Pods, configuration: Configuration, lab: Path
    ) -> None:
        """*lab* is the lab's folder."""
        self._cluster = cluster
        self._operator = operator
        self._pods = pods
        self._configuration = configuration
        self._file = lab / "prometheus" / _FILE
        self._nodes = cluster.store(NODES)
        self._namespaces = cluster.store(NAMESPACES)
        self._policies = cluster.store(CLUSTER_POLICIES)
        # joules by node and GPU, and the moment of the last look
        self._energy: dict[str, tuple[float, list[float]]] = {}
        self._port = 0
        self.controller = _Serving(self._reconcile, self._listen)
        pods.listen(self._pod_changed)
        operator.listen(self._enqueue)
        for store in (self._namespaces, self._policies):
            store.listen(lambda _old, _new: self._enqueue())

    def _enqueue(self) -> None:
        self.controller.enqueue(_ALL)

    def _pod_changed(self, _node: str) -> None:
        self._enqueue()

    async def _listen(self) -> None:
        app = web.Application()
        app.router.add_get("/dcgm/{node}", self._dcgm)
        app.router.add_get("/node-status/{node}", self._node_status)
        app.router.add_get("/operator", self._of_operator)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, LOOPBACK, 0)
        await site.start()
        self._port = runner.addresses[0][1]
        self._enqueue()

    async def _reconcile(self, _key: Key) -> float | None:
        if self._port:
            _write(self._file, self._targets())
        return None

    def _targets(self) -> list[Document]:
        namespace = self._operator.namespace
        labels = (self._namespaces.get(("", namespace)) or {"metadata": {}})["metadata"].get("labels") or {}
        policy = next(iter(self._policies.values()), None)
        if labels.get(_MONITORED) != "true" or not self._operator.running:
            return []
        found = [self._target("/operator", namespace, _OPERATOR, _OPERATOR, _OPERATOR)]
        if policy is None:
            return found
        for node in self._nodes.values():
            name = node["metadata"]["name"]
            for operand, path in ((DCGM_EXPORTER, "dcgm"), (NODE_STATUS_EXPORTER, "node-status")):
                pod = self._pods.ready(name, operand)
                monitored = (section(policy, operand).get("serviceMonitor") or {}).get("enabled", True)
                if pod is not None and monitored:
                    pod_name = pod["metadata"]["name"]
                    found.append(self._target(f"/{path}/{name}", namespace, operand.name, pod_name, name))
        return found

    def _target(self, path: str, namespace: str, service: str, pod: str, host: str) -> Document:
        labels = {
            "__metrics_path__": path,
            "instance": f"{host}:{_PORTS[service]}",
            "job": service,
            "namespace": namespace,
            "service": service,
            "pod": pod,
            "container": service,
        }
        return {"targets": [f"{LOOPBACK}:{self._port}"], "labels": labels}

    async def _dcgm(self, request: web.Request) -> web.Response:
        name = request.match_info["node"]
        node = self._nodes.get(("", name))
        if node is None or self._pods.ready(name, DCGM_EXPORTER) is None:
            return web.Response(status=404, text=f"no DCGM exporter runs on {name}\n")
        listed = self._configuration.metrics(name)
        try:
            chosen = metrics.read_list(metrics.DEFAULTS if listed is None else listed)
        except ValueError as error:
            return web.Response(status=500, text=f"the list of metrics cannot be read: {error}\n")
        hardware = hardware_of(node)
        usages = of_gpus(number_of_gpus(node), hardware.memory_mib, self._pods.holding(name))
        gpus = list(zip(usages, self._joules(name, usages), strict=True))
        return web.Response(text=metrics.dcgm_page(name, hardware, gpus, chosen))

    def _joules(self, name: str, usages: list[Usage]) -> list[float]:
        """What each GPU has drawn since the first look, as if it had been so since the last one."""
        now = time.monotonic()
        since, before = self._energy.get(name, (now, [0.0] * len(usages)))
        joules = [old + metrics.power_w(usage) * (now - since) for old, usage in zip(before, usages, strict=False)]
        joules += [0.0] * (len(usages) - len(joules))
        self._energy[name] = now, joules
        return joules

    async def _node_status(self, request: web.Request) -> web.Response:
        name = request.match_info["node"]
        node = self._nodes.get(("", name))
        if node is None or self._pods.ready(name, NODE_STATUS_EXPORTER) is None:
            return web.Response(status=404, text=f"no node status exporter runs on {name}\n")
        has_plugin = self._pods.ready(name, DEVICE_PLUGIN) is not None
        gpus = number_of_gpus(node) if has_plugin else 0
        gauges = {
            "gpu_operator_node_device_plugin_ready": ("The device plugin of the node works.", float(has_plugin)),
            "gpu_operator_node_device_plugin_devices_total": ("GPUs that it exposes.", float(gpus)),
        }
        return web.Response(text=metrics.plain_page(gauges))

    async def _of_operator(self, _request: web.Request) -> web.Response:
        gpu_nodes = sum(map(is_gpu_node, self._nodes.values()))
        states = [(policy.get("status") or {}).get("state") for policy in self._policies.values()]
        gauges = {
            "gpu_operator_gpu_nodes_total": ("Nodes with GPUs.", float(gpu_nodes)),
            "gpu_operator_reconciliation_status": ("1 when the ClusterPolicy is ready.", float("ready" in states)),
        }
        return web.Response(text=metrics.plain_page(gauges))


class _Serving(Controller):
    """A controller that begins by listening."""

    def __init__(self, reconcile: Reconcile, listen: Callable[[], Awaitable[None]]) -> None:
        super().__init__("targets", reconcile)
        self._begin = listen

    async def run(self) -> None:
        """Listen, then work until cancelled."""
        await self._begin()
        await super().run()


def _write(path: Path, targets: list[Document]) -> None:
    """Write the list whole, when it is another than before: Prometheus looks at the file at any time."""
    text = json.dumps(targets, indent=1)
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".new")
    unfinished.write_text(text)
    unfinished.replace(path)
