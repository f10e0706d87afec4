"""Where the server of a pod that serves a model is reached from this machine."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import is_leaving, is_true, own_annotations

MODEL = "lab.psap.perf/model"
_SIMULATED, _LOOPBACK = "10.", "127."


def address_of(pod: Document) -> str:
    """The loopback address that stands for a pod's own: 127.128.0.7 for 10.128.0.7; empty when it has none."""
    address: str = (pod.get("status") or {}).get("podIP", "")
    # a pod in the network of its node has the node's address, which all of these share
    return _LOOPBACK + address.removeprefix(_SIMULATED) if address.startswith(_SIMULATED) else ""


def endpoint_of(pod: Document | None) -> str:
    """That address while the pod is Ready and declares a model, else nothing."""
    if pod is None or is_leaving(pod) or MODEL not in own_annotations(pod) or not is_true(pod, "Ready"):
        return ""
    return address_of(pod)
