"""Which machines go when a MachineSet becomes smaller, and which are of no use any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import query_from
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source

_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Departures:
    """Names of machines: those that shall be the *first* to go, and those that *failed* and would stay."""

    first: tuple[str, ...]
    failed: tuple[str, ...]


def departures(wanted: Mapping[str, int], machines: Sequence[Manifest], pods: Mapping[str, int]) -> Departures:
    """Who goes of *machines*, when each set, by its uid, is to have as many as *wanted* says."""
    first: list[str] = []
    broken: list[str] = []
    for uid, number in wanted.items():
        present = members(machines, uid)
        going = {_name(item) for item in leaving(present, len(present) - number, pods)}
        # where none stays there is nothing to choose
        first += sorted(going) if number else []
        broken += [_name(item) for item in failed(present) if _name(item) not in going]
    return Departures(tuple(first), tuple(broken))


def members(machines: Iterable[Manifest], uid: str) -> list[Manifest]:
    """The machines of the set *uid* that are not on their way out."""
    return [
        item
        for item in machines
        if not item["metadata"].get("deletionTimestamp")
        and any(owner["uid"] == uid for owner in item["metadata"].get("ownerReferences") or [])
    ]


def failed(machines: Iterable[Manifest]) -> list[Manifest]:
    """Those that will never become a node: OpenShift leaves them as they are, and counts them."""
    return [item for item in machines if (item.get("status") or {}).get("phase") == "Failed"]


def leaving(machines: Sequence[Manifest], number: int, pods: Mapping[str, int]) -> list[Manifest]:
    """The *number* of *machines* of one set that are missed least: those that failed, then those of few pods.

    :param pods: how many pods of users each node has, by its name.
    """
    broken = {_name(item) for item in failed(machines)}

    def missed(item: Manifest) -> tuple[bool, int, str]:
        name = _name(item)
        node = ((item.get("status") or {}).get("nodeRef") or {}).get("name", "")
        return name not in broken, pods.get(node, 0), name

    return sorted(machines, key=missed)[:number] if number > 0 else []


def pods_of_users(pods: Iterable[Manifest]) -> dict[str, int]:
    """How many pods each node has that a user would miss: neither ended, nor one of those that every node has."""
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
    """The first machine of *machine_set* that failed, and why; empty when none has.

    :raises ClusterError: when the cluster does not answer.
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
