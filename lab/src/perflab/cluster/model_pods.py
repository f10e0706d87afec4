"""Pods that serve a model: their declaration, and the local address of their servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MODEL = "lab.psap.perf/model"
_SIMULATED, _LOOPBACK = "10.", "127."


def address_of(pod: Mapping[str, Any]) -> str:
    """Return the loopback address that represents a pod's own: 127.128.0.7 for 10.128.0.7; empty if it has none."""
    address: str = (pod.get("status") or {}).get("podIP", "")
    # a pod in the network of its node has the node's address, which all such pods share
    return _LOOPBACK + address.removeprefix(_SIMULATED) if address.startswith(_SIMULATED) else ""
