"""The GPU operator's resources, labels and annotations."""

from __future__ import annotations

from perflab.emulators.framework.resources import Resource

CLUSTER_POLICIES = Resource("nvidia.com", "v1", "clusterpolicies", "ClusterPolicy")

GPU = "nvidia.com/gpu"
PREFIX = "nvidia.com/"
PRESENT = "nvidia.com/gpu.present"
# what users set themselves, to choose for a node
KEPT = frozenset(
    ("nvidia.com/device-plugin.config", "nvidia.com/gpu.workload.config", "nvidia.com/gpu.deploy.operands",
     "nvidia.com/mig.config")
)  # fmt: skip
CONFIG_LABEL = "nvidia.com/device-plugin.config"
MIG_MANAGER_LABEL = "nvidia.com/gpu.deploy.mig-manager"
MONITORED = "openshift.io/cluster-monitoring"
# what is in a node's machine
GPUS = "lab.psap.perf/gpus"
PRODUCT = "lab.psap.perf/gpu-product"
# how busy a pod keeps its GPUs
TRAINING = "lab.psap.perf/training"

_PCI = ("10de", "0302_10de", "0300_10de")
DISCOVERED = tuple(f"feature.node.kubernetes.io/pci-{device}.present" for device in _PCI)
ANY_FEATURE = "feature.node.kubernetes.io/"
