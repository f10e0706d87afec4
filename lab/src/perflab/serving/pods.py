"""Which pods serve a model: those that are Ready and whose annotation declares one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import yaml

from perflab.cluster.model_pods import MODEL
from perflab.files.bounded_yaml import load_yaml
from perflab.serving.models import ServedModel, model_of

# labels of the pods of KServe's two kinds: their service
_SERVICE_LABELS = ("serving.kserve.io/inferenceservice", "app.kubernetes.io/name")

_log = logging.getLogger(__name__)


def service_of(pod: Mapping[str, Any]) -> str:
    """Return namespace and name of a pod's service, `NAMESPACE/NAME`; its own name if no label states it."""
    metadata = pod["metadata"]
    labels = metadata.get("labels") or {}
    name = next((labels[label] for label in _SERVICE_LABELS if label in labels), metadata["name"])
    return f"{metadata['namespace']}/{name}"


def model_in(pod: Mapping[str, Any] | None) -> ServedModel | None:
    """Return the model that a pod serves now; None if it is not Ready, is being deleted, or has no valid declaration.

    The annotation is YAML: `{name: NAME, ttft: {median_s: 0.05}, …}`; the default name is its service's.
    """
    if pod is None or pod["metadata"].get("deletionTimestamp") or not _is_ready(pod):
        return None
    text = (pod["metadata"].get("annotations") or {}).get(MODEL)
    if text is None:
        return None
    service = service_of(pod)
    try:
        declared = load_yaml(text) or {}
        name = declared.pop("name", service.partition("/")[2])
        return model_of(f"pod {service}: annotation {MODEL}", str(name), declared)
    except (yaml.YAMLError, AttributeError, ValueError) as error:
        _log.error("%s serves nothing: %s", service, error)
        return None


def _is_ready(pod: Mapping[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
