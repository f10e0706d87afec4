"""Pods that serve a model: how one declares it, and where its server is reached from this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MODEL = "lab.psap.perf/model"
_SIMULATED, _LOOPBACK = "10.", "127."


def address_of(pod: Mapping[str, Any]) -> str:
    """The loopback address that stands for a pod's own: 127.128.0.7 for 10.128.0.7; empty when it has none."""
    address: str = (pod.get("status") or {}).get("podIP", "")
    # a pod in the network of its node has the node's address, which all of these share
    return _LOOPBACK + address.removeprefix(_SIMULATED) if address.startswith(_SIMULATED) else ""
