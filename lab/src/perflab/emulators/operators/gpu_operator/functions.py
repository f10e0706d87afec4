"""Functions for the rules of the GPU operator: the hardware of a node, images of operands, time slicing, metrics."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import yaml

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import own_labels
from perflab.emulators.operators.gpu_operator import metrics
from perflab.emulators.operators.gpu_operator.hardware import hardware_of, number_of_gpus
from perflab.emulators.operators.gpu_operator.usage import Usage, of_gpus
from perflab.files.bounded_yaml import load_yaml

_PCI = ("10de", "0302_10de", "0300_10de")
_DISCOVERED = tuple(f"feature.node.kubernetes.io/pci-{device}.present" for device in _PCI)
_GPU = "nvidia.com/gpu"


def has_gpus(node: Document) -> bool:
    """Return whether Node Feature Discovery found an NVIDIA device in it, and the lab states how many there are."""
    labels = own_labels(node)
    return bool(number_of_gpus(node)) and any(labels.get(name) == "true" for name in _DISCOVERED)


def hardware(node: Document) -> Document:
    """Return the GPUs of a node's machine: `number`, and the properties of one."""
    found = hardware_of(node)
    fields = ("product", "family", "compute_major", "compute_minor", "memory_mib", "mig_capable")
    return {"number": number_of_gpus(node), **{name: getattr(found, name) for name in fields}}


def image(default: Mapping[str, str], section: Any) -> str:
    """Return the image of an operand: each part as in the section of the ClusterPolicy, else the default."""
    given = section or {}
    repository, name, version = (given.get(part) or default[part] for part in ("repository", "image", "version"))
    return f"{repository}/{name}{'@' if version.startswith('sha256:') else ':'}{version}"


def manager(operand: Document, section: Document) -> Document:
    """Return the container that passes the configuration to an operand."""
    return {
        "name": "config-manager",
        "image": image(operand["image"], section),
        "command": ["config-manager"],
        "env": [{"name": "DEFAULT_CONFIG", "value": section["config"].get("default") or ""}],
    }


def sharing(configuration: Any) -> Document:
    """Return how often the device plugin offers each GPU, `replicas`, and whether it renames them, `renamed`.

    Args:
        configuration: The configuration that the plugin's pod has read; not shared when it is invalid.
    """
    try:
        loaded = load_yaml(_text(configuration) or "")
    except yaml.YAMLError:
        loaded = None
    slicing = ((loaded.get("sharing") or {}).get("timeSlicing") or {}) if isinstance(loaded, dict) else {}
    for resource in slicing.get("resources") or ():
        if resource.get("name") == _GPU and int(resource.get("replicas") or 1) > 1:
            return {"replicas": int(resource["replicas"]), "renamed": bool(slicing.get("renameByDefault"))}
    return {"replicas": 1, "renamed": False}


def dcgm_page(node: Document, pods: Iterable[Document], configuration: Any) -> str:
    """Return the page of a node's DCGM exporter, with the list of metrics in *configuration*, or else its own.

    Raises:
        ValueError: The list cannot be read.
    """
    listed = _text(configuration)
    chosen = metrics.read_list(metrics.DEFAULTS if listed is None else listed)
    found = hardware_of(node)
    usages = of_gpus(number_of_gpus(node), found.memory_mib, pods)
    name = node["metadata"]["name"]
    return metrics.dcgm_page(name, found, list(zip(usages, _ENERGY.joules(name, usages), strict=True)), chosen)


def _text(configuration: Any) -> str | None:
    text: str | None = json.loads(configuration)["text"] if isinstance(configuration, str) else None
    return text


class _Energy:
    """Counters of energy: they count while the process runs, as those of an exporter do."""

    def __init__(self) -> None:
        # joules by node and GPU, and the time of the last update
        self._known: dict[str, tuple[float, list[float]]] = {}

    def joules(self, node: str, usages: list[Usage]) -> list[float]:
        """Return the energy of each GPU since the first call, assuming constant power since the last one."""
        now = time.monotonic()
        since, before = self._known.get(node, (now, []))
        known = [*before, *[0.0] * (len(usages) - len(before))]
        joules = [old + metrics.power_w(usage) * (now - since) for old, usage in zip(known, usages, strict=False)]
        self._known[node] = now, joules
        return joules


_ENERGY = _Energy()
_ALL = (has_gpus, hardware, image, manager, sharing, dcgm_page)
FUNCTIONS: Mapping[str, Callable[..., Any]] = {each.__name__: each for each in _ALL}
