"""Where the server of a pod listens: a simulated server for a pod that declares a model, a program in a real pod."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from perflab.cluster import model_pods, real_node
from perflab.cluster.api import Document
from perflab.emulators.framework.documents import is_leaving, is_true, own_annotations


class Endpoint(NamedTuple):
    """A server, as this machine reaches it."""

    address: str
    port: int


def address_of(pod: Document | None) -> str:
    """Return the address of a pod's server while the pod is Ready; empty if it has no server."""
    if pod is None or is_leaving(pod) or not is_true(pod, "Ready"):
        return ""
    if is_real(pod):
        return str(pod["status"].get("podIP", ""))
    return model_pods.address_of(pod) if model_pods.MODEL in own_annotations(pod) else ""


def is_real(pod: Document) -> bool:
    """Return whether programs run in a pod."""
    return bool(pod["spec"].get("nodeName") == real_node.NAME)


def endpoints_in(pod: Document, targets: list[int | str], models_port: int) -> Iterator[Endpoint]:
    """Yield the servers of a pod for these *targets*, numbers or names of its ports.

    All simulated servers listen at *models_port*; 0 if there are none.
    """
    address = address_of(pod)
    ports = [_port_of(pod, target) for target in targets] if is_real(pod) else [models_port]
    return (Endpoint(address, port) for port in ports if address and port)


def _port_of(pod: Document, target: int | str) -> int:
    """Return the number of a port; 0 if the pod has no port of that name."""
    if isinstance(target, int):
        return target
    containers = (*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or ()))
    named = {port.get("name"): port["containerPort"] for each in containers for port in each.get("ports") or ()}
    return int(named.get(target, 0))
