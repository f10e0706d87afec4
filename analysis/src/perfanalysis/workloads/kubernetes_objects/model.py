"""The parts of Kubernetes objects that are read; everything else is skipped while decoding.

A list of objects is read item by item, and times with the cluster's timestamps.

msgspec reads only what `model` declares: 10,000 pods of 12 kB, as clusters have them, need 21 MB in addition to the
file's bytes; `json` needs 333 MB and ten times as long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct, field

from perfanalysis.files.documents import parse_time

Quantity = str | int | float
"""As in resources: 8, "500m", "16Gi"."""


class Labels(Struct, gc=False):
    """The labels that name the job of a pod, or describe a node."""

    kubeflow_job: str | None = field(default=None, name="training.kubeflow.org/job-name")
    batch_job: str | None = field(default=None, name="batch.kubernetes.io/job-name")
    old_batch_job: str | None = field(default=None, name="job-name")
    instance_type: str | None = field(default=None, name="node.kubernetes.io/instance-type")
    gpu_product: str | None = field(default=None, name="nvidia.com/gpu.product")

    @property
    def job(self) -> str | None:
        """Return the job of a pod."""
        return self.kubeflow_job or self.batch_job or self.old_batch_job


class Owner(Struct, gc=False):
    """The owner of an object."""

    name: str
    kind: str | None = None


class Metadata(Struct, gc=False, rename="camel"):
    """Names of an object, its owner, and its time of creation."""

    name: str
    namespace: str | None = None
    creation_timestamp: str | None = None
    labels: Labels | None = None
    owner_references: list[Owner] | None = None

    @property
    def owner(self) -> str | None:
        """Return the name of the first owner."""
        return self.owner_references[0].name if self.owner_references else None


class Condition(Struct, gc=False, rename="camel"):
    """A condition of a status. AppWrappers have timestamps with microseconds, under another name."""

    type: str
    status: str | None = None
    reason: str | None = None
    last_transition_time: str | None = None
    last_transition_micro_time: str | None = None

    @property
    def moment(self) -> str | None:
        """Return the time of its last transition."""
        return self.last_transition_micro_time or self.last_transition_time


class Running(Struct, gc=False, rename="camel"):
    """The state of a running container."""

    started_at: str | None = None


class Terminated(Struct, gc=False, rename="camel"):
    """The state of a terminated container."""

    started_at: str | None = None
    finished_at: str | None = None
    exit_code: int | None = None


class State(Struct, gc=False):
    """The state of a container: one of these, or neither while it waits."""

    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(Struct, gc=False, rename="camel"):
    """The status of a container."""

    state: State | None = None
    restart_count: int | None = None


class Resources(Struct, gc=False):
    """The resources of a container."""

    limits: dict[str, Quantity] | None = None


class Container(Struct, gc=False):
    """A container of a pod."""

    resources: Resources | None = None


class Spec(Struct, gc=False, rename="camel"):
    """The specification of an object. The last three are of ResourceSlices; other kinds have other types there."""

    node_name: str | None = None
    containers: list[Container] | None = None
    driver: Any = None
    pool: Any = None
    devices: Any = None


class Status(Struct, gc=False, rename="camel"):
    """The status of an object."""

    phase: str | None = None
    start_time: str | None = None
    completion_time: str | None = None
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    allocatable: dict[str, Quantity] | None = None


class Item(Struct, gc=False):
    """An object of any kind."""

    metadata: Metadata
    kind: str | None = None
    spec: Spec | None = None
    status: Status | None = None


class ObjectList(Struct, gc=False):
    """A list whose items may be read one by one; without `items`, it is an object itself."""

    items: list[Item] | None = None


MARKER, KIND = "kubernetes_objects.json", "kubernetes-objects"
SCHEMA = "psap.perf/kubernetes-objects/1"


WRONG = (ValueError, RecursionError)
"""Errors of reading: msgspec's errors are ValueErrors, except for documents that are nested too deeply."""


class _Items(msgspec.Struct):
    items: list[msgspec.Raw] | None = None


@dataclass(frozen=True)
class ReadList:
    """The objects of a file, how many entries are not objects and were left out, and why the file is incomplete."""

    items: tuple[Item, ...]
    left_out: int = 0
    problem: str | None = None


_DECODE_LIST = msgspec.json.Decoder(ObjectList).decode
_DECODE_ITEMS = msgspec.json.Decoder(list[Item]).decode
_DECODE_ITEM = msgspec.json.Decoder(Item).decode


def read_list(content: bytes) -> ReadList:
    """Return the objects of a `List`, of a JSON list, or the one object that the document is. Never raises."""
    try:
        return ReadList(tuple(_at_once(content)))
    except msgspec.ValidationError:
        return _one_by_one(content)
    except WRONG as error:
        return _whole_ones(content, str(error))


def _at_once(content: bytes) -> list[Item]:
    if _is_bare(content):
        return _DECODE_ITEMS(content)
    found = _DECODE_LIST(content).items
    return [_DECODE_ITEM(content)] if found is None else found


def _is_bare(content: bytes) -> bool:
    return content[:64].lstrip().startswith(b"[")


def _one_by_one(content: bytes) -> ReadList:
    """Return those of the declared types, of valid JSON that also contains others."""
    try:
        if _is_bare(content):
            parts = msgspec.json.decode(content, type=list[msgspec.Raw])
        else:
            parts = msgspec.json.decode(content, type=_Items).items or [msgspec.Raw(content)]
    except WRONG as error:
        return ReadList((), problem=f"it is not a list of Kubernetes objects: {error}")
    items = []
    for part in parts:
        try:
            items.append(_DECODE_ITEM(part))
        except WRONG:
            continue
    return ReadList(tuple(items), len(parts) - len(items))


def _whole_ones(content: bytes, problem: str) -> ReadList:
    """Return those before the place where a document is truncated or damaged."""
    items = []
    left_out = 0
    for record in _records(content.decode("utf-8", errors="replace")):
        try:
            items.append(msgspec.convert(record, Item))
        except WRONG:
            left_out += 1
    kept = f"; the {len(items)} objects before the damage are used" if items else ""
    return ReadList(tuple(items), left_out, f"it is incomplete: {problem}{kept}")


def _records(text: str) -> Iterator[object]:
    """Yield the complete values of the list `items`, or of the list that the text is."""
    named = text.find('"items"')
    place = text.find("[", max(named, 0)) + 1
    decode = json.JSONDecoder().raw_decode
    while place:
        while place < len(text) and text[place] in " \t\r\n,":
            place += 1
        try:
            record, place = decode(text, place)
        except WRONG:
            return
        yield record


class Stamps:
    """Timestamps as seconds since the epoch. Thousands of objects share a few, so each is parsed once.

    `unreadable` counts the distinct texts that are not times with a zone.
    """

    def __init__(self) -> None:
        self._known: dict[str, float | None] = {}

    def __call__(self, text: str | None) -> float | None:
        """Return seconds since the epoch; None for a missing or invalid timestamp."""
        if text is None:
            return None
        if text not in self._known:
            self._known[text] = parse_time(text)
        return self._known[text]

    @property
    def unreadable(self) -> int:
        """Return how many texts are not times."""
        return sum(moment is None for moment in self._known.values())


def latest(moments: list[float | None]) -> float | None:
    """Return the last of them; None unless all are known, and there is one."""
    known = [moment for moment in moments if moment is not None]
    return max(known) if known and len(known) == len(moments) else None
