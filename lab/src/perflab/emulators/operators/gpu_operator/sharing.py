"""Time slicing, as the device plugin's configuration has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from perflab.cluster.api import Document

GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class Sharing:
    """How often each GPU is given away.

    :param replicas: 1 for no sharing.
    :param renamed: whether the resource is called `nvidia.com/gpu.shared`.
    """

    replicas: int = 1
    renamed: bool = False

    @property
    def strategy(self) -> str:
        """The value of the label of GPU feature discovery."""
        return "time-slicing" if self.replicas > 1 else "none"

    @property
    def resource(self) -> str:
        """The name of the resource."""
        return f"{GPU}.shared" if self.renamed and self.replicas > 1 else GPU


UNSHARED = Sharing()


def read(config_map: Document, key: str) -> Sharing:
    """What the entry *key* of the plugin's ConfigMap says; unshared when it says nothing that can be understood."""
    text = (config_map.get("data") or {}).get(key)
    try:
        document = yaml.safe_load(text) if text else None
    except yaml.YAMLError:
        return UNSHARED
    return _of_document(document)


def _of_document(document: Any) -> Sharing:
    if not isinstance(document, dict):
        return UNSHARED
    slicing = (document.get("sharing") or {}).get("timeSlicing") or {}
    for resource in slicing.get("resources") or ():
        if resource.get("name") == GPU and int(resource.get("replicas") or 1) > 1:
            return Sharing(int(resource["replicas"]), bool(slicing.get("renameByDefault")))
    return UNSHARED
