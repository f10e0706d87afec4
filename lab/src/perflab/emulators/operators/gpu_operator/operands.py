"""What a ClusterPolicy wants to run: its operands, and the DaemonSet of each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from perflab.cluster.api import Document

PREFIX = "nvidia.com/"
MIG_MANAGER_LABEL = "nvidia.com/gpu.deploy.mig-manager"


HASH = "nvidia.com/last-applied-hash"
METRICS_FILE = "dcgm-metrics.csv"
# the volume of an operand's pods that holds their ConfigMap, and the variable that names the entry of it
CONFIGURATION = "configuration"
DEFAULT_CONFIG = "DEFAULT_CONFIG"
_METRICS_PATH = f"/etc/dcgm-exporter/{METRICS_FILE}"
_DEPLOY = "nvidia.com/gpu.deploy."
_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True)
class Operand:
    """One part of the stack.

    :param name: its DaemonSet's, and the value of the label `app`.
    :param state: what the operator calls it in its messages.
    :param key: its section of the ClusterPolicy's spec.
    :param label: the label of nodes that it runs on.
    :param image: from where, when the ClusterPolicy does not say.
    """

    name: str
    state: str
    key: str
    label: str
    image: str


DRIVER = Operand(
    "nvidia-driver-daemonset", "state-driver", "driver", f"{_DEPLOY}driver", "nvcr.io/nvidia/driver:570.148.08"
)
DEVICE_PLUGIN = Operand(
    "nvidia-device-plugin-daemonset",
    "state-device-plugin",
    "devicePlugin",
    f"{_DEPLOY}device-plugin",
    "nvcr.io/nvidia/k8s-device-plugin:v0.17.2",
)
FEATURE_DISCOVERY = Operand(
    "gpu-feature-discovery",
    "gpu-feature-discovery",
    "gfd",
    f"{_DEPLOY}gpu-feature-discovery",
    "nvcr.io/nvidia/k8s-device-plugin:v0.17.2",
)
DCGM_EXPORTER = Operand(
    "nvidia-dcgm-exporter",
    "state-dcgm-exporter",
    "dcgmExporter",
    f"{_DEPLOY}dcgm-exporter",
    "nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubi9",
)
NODE_STATUS_EXPORTER = Operand(
    "nvidia-node-status-exporter",
    "state-node-status-exporter",
    "nodeStatusExporter",
    f"{_DEPLOY}node-status-exporter",
    "nvcr.io/nvidia/cloud-native/gpu-operator-validator:v25.3.2",
)
# in the order in which the operator sees to them
OPERANDS = (
    DRIVER,
    Operand(
        "nvidia-container-toolkit-daemonset",
        "state-container-toolkit",
        "toolkit",
        f"{_DEPLOY}container-toolkit",
        "nvcr.io/nvidia/k8s/container-toolkit:v1.17.8-ubi8",
    ),
    Operand(
        "nvidia-operator-validator",
        "state-operator-validation",
        "validator",
        f"{_DEPLOY}operator-validator",
        "nvcr.io/nvidia/cloud-native/gpu-operator-validator:v25.3.2",
    ),
    DEVICE_PLUGIN,
    Operand("nvidia-dcgm", "state-dcgm", "dcgm", f"{_DEPLOY}dcgm", "nvcr.io/nvidia/cloud-native/dcgm:4.2.3-1-ubi9"),
    DCGM_EXPORTER,
    FEATURE_DISCOVERY,
    Operand(
        "nvidia-mig-manager",
        "state-mig-manager",
        "migManager",
        MIG_MANAGER_LABEL,
        "nvcr.io/nvidia/cloud-native/k8s-mig-manager:v0.12.1-ubi9",
    ),
    NODE_STATUS_EXPORTER,
)
VALIDATED = OPERANDS[2]


def wanted(policy: Document) -> Iterator[Operand]:
    """The operands that *policy* does not turn off."""
    for operand in OPERANDS:
        if section(policy, operand).get("enabled", True):
            yield operand


def section(policy: Document, operand: Operand) -> Document:
    """What *policy* says of one operand."""
    found: Document = policy.get("spec", {}).get(operand.key) or {}
    return found


def daemon_set(policy: Document, operand: Operand, mark: dict[str, str]) -> Document:
    """The DaemonSet of an operand, with a digest of itself by which a change is detected.

    :param mark: the annotation of what the emulator makes.
    """
    labels = {"app": operand.name}
    common = policy["spec"].get("daemonsets") or {}
    spec = {
        "selector": {"matchLabels": labels},
        "updateStrategy": _strategy(common),
        "template": {
            "metadata": {
                "labels": {**labels, "app.kubernetes.io/part-of": "nvidia-gpu", **(common.get("labels") or {})},
                "annotations": mark,
            },
            "spec": {
                "nodeSelector": {operand.label: "true"},
                "priorityClassName": common.get("priorityClassName") or "system-node-critical",
                "tolerations": common.get("tolerations") or [_TOLERATION],
                "containers": _containers(policy, operand),
                "volumes": _volumes(policy, operand),
            },
        },
    }
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]
    return {
        "metadata": {
            "name": operand.name,
            "labels": {**labels, "app.kubernetes.io/managed-by": "gpu-operator"},
            "annotations": {**mark, HASH: digest},
        },
        "spec": spec,
    }


def configuration(policy: Document, operand: Operand) -> str:
    """The name of the operand's ConfigMap; empty for none."""
    return str((section(policy, operand).get("config") or {}).get("name") or "")


def _strategy(common: Document) -> Document:
    if common.get("updateStrategy") == "OnDelete":
        return {"type": "OnDelete"}
    unavailable = str((common.get("rollingUpdate") or {}).get("maxUnavailable") or "1")
    amount = int(unavailable) if unavailable.isdigit() else unavailable
    return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": amount}}


def _containers(policy: Document, operand: Operand) -> list[Document]:
    told = section(policy, operand)
    environment = list(told.get("env") or [])
    name = configuration(policy, operand)
    if name and operand is DCGM_EXPORTER:
        environment.append({"name": "DCGM_EXPORTER_COLLECTORS", "value": _METRICS_PATH})
    container = {"name": operand.name, "image": _image(told, operand), "env": environment}
    if not (name and operand in (DEVICE_PLUGIN, FEATURE_DISCOVERY)):
        return [container]
    default = (told.get("config") or {}).get("default") or ""
    manager = {
        "name": "config-manager",
        "image": _image(told, operand),
        "command": ["config-manager"],
        "env": [{"name": DEFAULT_CONFIG, "value": default}],
    }
    return [container, manager]


def _image(told: Document, operand: Operand) -> str:
    """The image of the ClusterPolicy, whose parts may be left out."""
    path, _, tag = operand.image.rpartition(":")
    repository, _, image = path.rpartition("/")
    version = told.get("version") or tag
    mark = "@" if version.startswith("sha256:") else ":"
    return f"{told.get('repository') or repository}/{told.get('image') or image}{mark}{version}"


def _volumes(policy: Document, operand: Operand) -> list[Document]:
    name = configuration(policy, operand)
    return [{"name": CONFIGURATION, "configMap": {"name": name}}] if name else []
