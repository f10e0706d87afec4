"""The Node Feature Discovery operator: labels that say what is in a node.

Emulated: for each NodeFeatureDiscovery, while the operator runs (OLM installs it from the package `nfd`), the DaemonSet
`nfd-worker` and the Deployments `nfd-master` and `nfd-gc`, its conditions, and the labels
`feature.node.kubernetes.io/…` of every node that has a worker: one and the same machine for all nodes, and an NVIDIA
device where the node's annotation `lab.psap.perf/gpus` says so. The end of a NodeFeatureDiscovery waits for the
operator; labels go with it when `spec.prunerOnDelete` is true, and else stay, as on a cluster.

Not emulated: NodeFeatureRules and NodeFeatures (stored and not read), the topology updater, `workerConfig`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.operators.nfd.discoveries import Discoveries
from perflab.emulators.operators.nfd.labels import Labels

STEPS: Mapping[str, str] = MappingProxyType(
    {"labels": "from the worker of a node being ready to the node's labels; OBJECT is the node's"}
)


def controllers(cluster: Cluster) -> list[Controller]:
    """One for the operator's objects, one for the nodes."""
    labels = Labels(cluster)
    return [Discoveries(cluster, labels).controller, labels.controller]
