"""Convert a stream of object states to transitions, which are the differences from the object's last state."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Stamp
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import workload_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import (
    DELETED,
    Lifecycle,
    Milestone,
)


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of ``transitions.jsonl``: a milestone that an object reached, seen at ``seen_s``."""

    seen_s: float
    kind: str
    namespace: str
    name: str
    uid: str
    workload: str | None
    transition: str
    stamp: Stamp | None
    node: str | None
    reason: str | None
    # of an allocated claim
    devices: int | None = None
    gpus: int | None = None
    # of a dispatched workload
    cluster: str | None = None

    def row(self) -> dict[str, Any]:
        """Return the row."""
        return {
            "seen_s": self.seen_s,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "workload": self.workload,
            "transition": self.transition,
            "server_s": self.stamp.server_s if self.stamp else None,
            "resolution_s": self.stamp.resolution_s if self.stamp else None,
            "node": self.node,
            "reason": self.reason,
            **({"devices": self.devices, "gpus": self.gpus} if self.devices is not None else {}),
            **({"cluster": self.cluster} if self.cluster is not None else {}),
        }


class _TrackedObject:
    """The compact state of one object, as 20,000 workloads and their pods must fit into memory."""

    __slots__ = ("mask", "name", "namespace", "node", "workload")

    def __init__(self, namespace: str, name: str, workload: str | None) -> None:
        self.namespace = namespace
        self.name = name
        self.workload = workload
        self.node: str | None = None
        self.mask = 0


class Tracker:
    """The last known state of every object of one kind."""

    def __init__(
        self, kind: str, lifecycle: Lifecycle, workload_in: Callable[[dict[str, Any]], str | None] | None = None
    ) -> None:
        """Store the kind and its milestones.

        Args:
            workload_in: Returns the workload of an object; by default a pod's from its labels and its controller, any
                other object is a workload itself.
        """
        self._kind = kind
        self._lifecycle = lifecycle
        self._workload_in = workload_in or (_workload_of_pod if kind == "Pod" else _itself)
        self._objects: dict[str, _TrackedObject] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, uid: str) -> bool:
        return uid in self._objects

    def workload(self, uid: str) -> str | None:
        """Return the workload of a tracked object; None for any other uid."""
        entry = self._objects.get(uid)
        return entry.workload if entry else None

    def observe(self, obj: dict[str, Any], seen_s: float) -> list[Transition]:
        """Return the transitions to this state of an object; none for a repeated state."""
        uid, entry = self._recall(obj)
        silent = self._lifecycle.implied if not entry.mask else ()
        bits = self._lifecycle.bits
        present = 0
        fresh: dict[str, Transition] = {}
        for milestone in self._lifecycle.read(obj):
            bit = bits[milestone.word]
            present |= bit
            if not entry.mask & bit and milestone.word not in silent:
                fresh[milestone.word] = self._transition(uid, entry, seen_s, milestone)
        entry.mask = (entry.mask & self._lifecycle.lasting) | present
        return [fresh[word] for word in self._lifecycle.words if word in fresh]

    def remove(self, obj: dict[str, Any], seen_s: float) -> list[Transition]:
        """Return the transitions to the last state of a deleted object, then ``deleted``."""
        found = self.observe(obj, seen_s)
        uid = str(obj["metadata"]["uid"])
        found.append(self._transition(uid, self._objects.pop(uid), seen_s, Milestone(DELETED)))
        return found

    def missing(self, listed: Iterable[str], seen_s: float) -> list[Transition]:
        """Return ``deleted`` for each tracked object that a complete list of uids no longer has."""
        gone = self._objects.keys() - set(listed)
        return [self._transition(uid, self._objects.pop(uid), seen_s, Milestone(DELETED)) for uid in sorted(gone)]

    def _recall(self, obj: dict[str, Any]) -> tuple[str, _TrackedObject]:
        metadata = obj["metadata"]
        uid = str(metadata["uid"])
        entry = self._objects.get(uid)
        if entry is None:
            workload = self._workload_in(obj)
            entry = self._objects[uid] = _TrackedObject(metadata.get("namespace", ""), metadata["name"], workload)
            entry.node = metadata["name"] if self._kind == "Node" else None
        if entry.node is None and self._kind == "Pod":
            node = (obj.get("spec") or {}).get("nodeName")
            # one string for all pods of a node
            entry.node = sys.intern(str(node)) if node else None
        return uid, entry

    def _transition(self, uid: str, entry: _TrackedObject, seen_s: float, milestone: Milestone) -> Transition:
        return Transition(
            seen_s=seen_s,
            kind=self._kind,
            namespace=entry.namespace,
            name=entry.name,
            uid=uid,
            workload=entry.workload,
            transition=milestone.word,
            stamp=milestone.stamp,
            node=milestone.node or entry.node,
            reason=milestone.reason,
            devices=milestone.devices,
            gpus=milestone.gpus,
            cluster=milestone.cluster,
        )


def _workload_of_pod(pod: dict[str, Any]) -> str | None:
    return workload_of(pod["metadata"])


def _itself(obj: dict[str, Any]) -> str | None:
    return str(obj["metadata"]["name"])
