"""NVIDIA's GPU operator: a ClusterPolicy becomes DaemonSets, labels and GPUs of nodes, and metrics.

Emulated: the operands' DaemonSets with their real names and labels, on the nodes that Node Feature Discovery found an
NVIDIA device in, run by Kubernetes' own DaemonSet controller; the labels `nvidia.com/…` of the operator, of GPU feature
discovery, and of time slicing; `nvidia.com/gpu` of a node's capacity, as many times as the device plugin's ConfigMap
says when the plugin's pod starts; `status.state` and its conditions; and, over HTTP, the metrics of the DCGM exporter
(with the ConfigMap of its own metrics), of the node status exporter and of the operator, given to the lab's Prometheus
where the operator's namespace is labelled for monitoring. All of it goes with the ClusterPolicy. It acts only while the
Deployment that OLM made for the operator is available.

The GPUs of a node's machine are declared by its annotations `lab.psap.perf/gpus` and `lab.psap.perf/gpu-product`. How
busy a GPU is follows from the pods that hold it: their annotation `lab.psap.perf/training`, or else all of it and half
its memory.

Not emulated: drivers, MIG, vGPU, sandboxed workloads, the NVIDIADriver kind, upgrades. A node's capacity goes when the
device plugin goes, where a kubelet would keep it with nothing allocatable.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.operator_deployments import Operator
from perflab.emulators.operators.gpu_operator.configuration import Configuration
from perflab.emulators.operators.gpu_operator.exporter import Exporter
from perflab.emulators.operators.gpu_operator.nodes import STEP_LABELS, Nodes
from perflab.emulators.operators.gpu_operator.pods import Pods
from perflab.emulators.operators.gpu_operator.policies import STEP_DAEMON_SETS, STEP_VALIDATION, Policies

STEPS: Mapping[str, str] = {
    STEP_DAEMON_SETS: "from the ClusterPolicy to an operand's DaemonSet; OBJECT is the DaemonSet",
    STEP_VALIDATION: "from all DaemonSets ready to the state ready of the ClusterPolicy",
    STEP_LABELS: "from the ready pod of GPU feature discovery or the device plugin to a node's labels and GPUs",
}


def controllers(cluster: Cluster) -> list[Controller]:
    """Those of ClusterPolicies, of nodes, and of what the exporters tell."""
    operator = Operator(cluster, "gpu-operator-certified")
    pods = Pods(cluster)
    configuration = Configuration(cluster, pods)
    return [
        Policies(cluster, operator).controller,
        Nodes(cluster, operator, pods, configuration).controller,
        Exporter(cluster, operator, pods, configuration, Path.cwd()).controller,
    ]
