"""Find pods whose node is lost: it is deleted, has not been ready for long, or is being drained."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import condition

# A restart of the kubelet takes less; Kubernetes itself evicts the pods after five minutes.
_PATIENCE_S = 60.0
_ENDED = ("Succeeded", "Failed")


def lost_pods(source: Source, pods: Iterable[Manifest], now: datetime) -> dict[str, str]:
    """Return the reason by the name of each of *pods* that is lost.

    Raises:
        ClusterError: If the cluster does not answer.
    """
    waiting = [pod for pod in pods if pod.get("spec", {}).get("nodeName")]
    alive = [pod for pod in waiting if pod.get("status", {}).get("phase") not in _ENDED]
    nodes = {name: _why(source, name, now) for name in sorted({pod["spec"]["nodeName"] for pod in alive})}
    found = {pod["metadata"]["name"]: nodes[pod["spec"]["nodeName"]] for pod in alive}
    disrupted = {pod["metadata"]["name"]: _disruption(pod) for pod in waiting}
    return {name: text for name in disrupted if (text := found.get(name) or disrupted[name])}


def _why(source: Source, name: str, now: datetime) -> str:
    """Return why a node counts as lost; empty if it does not."""
    nodes, _version = source.list(Query("v1", "Node", name=name))
    if not nodes:
        return f"its node {name} is gone"
    ready = condition(nodes[0], "Ready") or {}
    since = ready.get("lastTransitionTime")
    if ready.get("status") == "True" or since is None:
        return ""
    length_s = (now - parse_utc(since)).total_seconds()
    if length_s < _PATIENCE_S:
        return ""
    words = " ".join(filter(None, (ready.get("reason"), ready.get("message"))))
    return f"its node {name} has not been ready for {length_s:.0f} s: {words}".rstrip(": ")


def _disruption(pod: Manifest) -> str:
    """Return why a pod is evicted from its node, by its own condition; this includes preemption by a queue."""
    found = condition(pod, "DisruptionTarget") or {}
    if found.get("status") != "True":
        return ""
    words = f"{found.get('reason', '')} {found.get('message', '')}".strip()
    return f"taken from its node {pod['spec']['nodeName']}: {words}"
