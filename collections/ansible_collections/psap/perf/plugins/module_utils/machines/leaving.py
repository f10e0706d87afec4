"""Select the machines to delete when a MachineSet is scaled down, and failed machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import query_from
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source

_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Departures:
    """Names of machines: the *first* ones to delete, and *failed* ones that scaling does not delete."""

    first: tuple[str, ...]
    failed: tuple[str, ...]


def departures(wanted: Mapping[str, int], machines: Sequence[Manifest], pods: Mapping[str, int]) -> Departures:
    """Return which of *machines* to delete, with *wanted* machines in each set, by its uid."""
    first: list[str] = []
    broken: list[str] = []
    for uid, number in wanted.items():
        present = members(machines, uid)
        going = {_name(item) for item in leaving(present, len(present) - number, pods)}
        # if all machines go, no choice is needed
        first += sorted(going) if number else []
        broken += [_name(item) for item in failed(present) if _name(item) not in going]
    return Departures(tuple(first), tuple(broken))


def members(machines: Iterable[Manifest], uid: str) -> list[Manifest]:
    """Return the machines of the set *uid* that are not being deleted."""
    return [
        item
        for item in machines
        if not item["metadata"].get("deletionTimestamp")
        and any(owner["uid"] == uid for owner in item["metadata"].get("ownerReferences") or [])
    ]


def failed(machines: Iterable[Manifest]) -> list[Manifest]:
    """Return the failed machines, which never become nodes; OpenShift keeps and counts them."""
    return [item for item in machines if (item.get("status") or {}).get("phase") == "Failed"]


def leaving(machines: Sequence[Manifest], number: int, pods: Mapping[str, int]) -> list[Manifest]:
    """Return *number* of the *machines* of one set to delete: failed ones first, then those with the fewest pods.

    Args:
        pods: Number of users' pods by node.
    """
    broken = {_name(item) for item in failed(machines)}

    def importance(item: Manifest) -> tuple[bool, int, str]:
        name = _name(item)
        node = ((item.get("status") or {}).get("nodeRef") or {}).get("name", "")
        return name not in broken, pods.get(node, 0), name

    return sorted(machines, key=importance)[:number] if number > 0 else []


def pods_of_users(pods: Iterable[Manifest]) -> dict[str, int]:
    """Return the number of users' pods by node, without ended ones and those that run on every node."""
    found: dict[str, int] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName")
        owners = pod["metadata"].get("ownerReferences") or []
        everywhere = any(owner["kind"] in ("DaemonSet", "Node") for owner in owners)
        if node and not everywhere and pod["status"].get("phase") not in _ENDED:
            found[node] = found.get(node, 0) + 1
    return found


def _name(item: Manifest) -> str:
    return str(item["metadata"]["name"])


def failed_machine(source: Source, machine_set: Manifest) -> str:
    """Return the first failed machine of *machine_set*, and why; empty if none failed.

    Raises:
        ClusterError: If the cluster does not respond.
    """
    labels = machine_set["spec"]["selector"].get("matchLabels") or {}
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    machines, _version = source.list(
        query_from({"kind": "Machine", "namespace": machine_set["metadata"]["namespace"], "label_selector": selector})
    )
    for item in failed(machines):
        if not item["metadata"].get("deletionTimestamp"):
            status = item["status"]
            words = f"{status.get('errorReason', '')} {status.get('errorMessage', '')}".strip()
            return f"Machine {item['metadata']['name']} failed: {words}"
    return ""
