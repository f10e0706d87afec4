"""With which configuration the pods of operands were started: a change is read by the next pod, as in the product."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.documents import own_labels
from perflab.emulators.framework.resources import CONFIG_MAPS
from perflab.emulators.framework.store import key_of
from perflab.emulators.operators.gpu_operator import sharing
from perflab.emulators.operators.gpu_operator.operands import (
    CONFIGURATION,
    DCGM_EXPORTER,
    DEFAULT_CONFIG,
    DEVICE_PLUGIN,
    METRICS_FILE,
)
from perflab.emulators.operators.gpu_operator.pods import Pods
from perflab.emulators.operators.gpu_operator.sharing import UNSHARED, Sharing

_CONFIG_LABEL = "nvidia.com/device-plugin.config"


class Configuration:
    """What the ready pod of an operand read when it was first seen ready."""

    def __init__(self, cluster: Cluster, pods: Pods) -> None:
        """Over the cluster's ConfigMaps."""
        self._config_maps = cluster.store(CONFIG_MAPS)
        self._pods = pods
        # by node: the pod's uid, and what it read
        self._sharing: dict[str, tuple[str, Sharing]] = {}
        self._metrics: dict[str, tuple[str, str | None]] = {}

    def sharing(self, node: Document) -> Sharing | None:
        """How the device plugin of a node shares its GPUs; None when it does not run."""
        name = node["metadata"]["name"]
        pod = self._pods.ready(name, DEVICE_PLUGIN)
        if pod is None:
            return None
        uid = pod["metadata"]["uid"]
        if self._sharing.get(name, ("", UNSHARED))[0] != uid:
            self._sharing[name] = uid, self._read_sharing(node, pod)
        return self._sharing[name][1]

    def metrics(self, name: str) -> str | None:
        """The list of metrics of a node's DCGM exporter; None for its own."""
        pod = self._pods.ready(name, DCGM_EXPORTER)
        if pod is None:
            return None
        uid = pod["metadata"]["uid"]
        if self._metrics.get(name, ("", None))[0] != uid:
            self._metrics[name] = uid, (self._config_map(pod).get("data") or {}).get(METRICS_FILE)
        return self._metrics[name][1]

    def _read_sharing(self, node: Document, pod: Document) -> Sharing:
        chosen = own_labels(node).get(_CONFIG_LABEL)
        return sharing.read(self._config_map(pod), chosen or _default(pod))

    def _config_map(self, pod: Document) -> Document:
        volumes = pod["spec"].get("volumes") or ()
        names = (volume["configMap"]["name"] for volume in volumes if volume["name"] == CONFIGURATION)
        return self._config_maps.get((key_of(pod)[0], next(names, ""))) or {}


def _default(pod: Document) -> str:
    told = (entry for container in pod["spec"]["containers"] for entry in container.get("env") or ())
    return next((str(entry.get("value") or "") for entry in told if entry["name"] == DEFAULT_CONFIG), "")
