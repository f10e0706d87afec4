"""The local address of the server of a pod that serves a model."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.cluster.model_pods import MODEL, address_of
from perflab.emulators.framework.documents import is_leaving, is_true, own_annotations


def endpoint_of(pod: Document | None) -> str:
    """Return that address while the pod is Ready and declares a model, else nothing."""
    if pod is None or is_leaving(pod) or MODEL not in own_annotations(pod) or not is_true(pod, "Ready"):
        return ""
    return address_of(pod)
