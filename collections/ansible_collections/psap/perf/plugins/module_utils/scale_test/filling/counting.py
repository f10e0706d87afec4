"""Count the objects that were created here by kind, namespace, and state."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import NAMESPACES, find
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.listing import METADATA_ONLY, pages
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.copies import SELECTOR
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import (
    COMPLETED,
    FAILED,
    lifecycle_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.progress import SCHEMA as PROGRESS_SCHEMA
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import stuck_containers

SCHEMA = "psap.perf/object-counts/1"
EXIST = "exist"
READY = "ready"
DELETED = "being deleted"
_COLUMNS = (EXIST, READY, COMPLETED, FAILED, DELETED)
# only these have a state in their status
_WITH_STATES = ("Deployment", "Job", "Pod")


def state_of(kind: str, obj: Manifest) -> str | None:
    """Return ``ready``, ``completed``, ``failed``, ``being deleted``, or None.

    A Deployment is ready if all its replicas are available, a Job if all its parallel pods are ready, a pod by its
    condition; a pod also counts as failed if one of its containers cannot start or crashes repeatedly.
    """
    if "deletionTimestamp" in obj["metadata"]:
        return DELETED
    if kind not in _WITH_STATES:
        return None
    lifecycle = lifecycle_of(kind)
    words = {milestone.word for milestone in lifecycle.read(obj)}
    ends = {end for word, end in lifecycle.ends.items() if word in words}
    if FAILED in ends or (kind == "Pod" and any(True for _each in stuck_containers(obj))):
        return FAILED
    if COMPLETED in ends:
        # a Deployment's pods continue to run
        return READY if kind == "Deployment" else COMPLETED
    if kind == "Job":
        return READY if (obj.get("status") or {}).get("ready", 0) >= obj["spec"].get("parallelism", 1) > 0 else None
    return READY if READY in words else None


@dataclass(slots=True)
class Counts:
    """Objects by namespace and kind; a Namespace counts in itself."""

    namespaces: dict[str, dict[str, Counter[str]]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, kind: str, objects: Iterable[Manifest]) -> None:
        """Count *objects*."""
        for obj in objects:
            metadata = obj["metadata"]
            counter = self.namespaces[metadata.get("namespace") or metadata["name"]].setdefault(kind, Counter())
            counter[EXIST] += 1
            state = state_of(kind, obj)
            if state is not None:
                counter[state] += 1

    def within(self, names: Iterable[str]) -> Counts:
        """Return the counts of these namespaces."""
        return Counts({name: self.namespaces[name] for name in names if name in self.namespaces})

    @property
    def total(self) -> dict[str, Counter[str]]:
        """The counts by kind, over all namespaces."""
        total: dict[str, Counter[str]] = {}
        for kinds in self.namespaces.values():
            for kind, counter in kinds.items():
                total.setdefault(kind, Counter()).update(counter)
        return total

    def sentence(self) -> str:
        """Return a summary such as ``found 20 ConfigMap, 4 Deployment (3 ready, 1 failed)``."""
        return f"found {', '.join(_text(kind, counter) for kind, counter in self.total.items()) or 'nothing'}"

    def document(self) -> dict[str, Any]:
        """Return the content of ``counts.json``."""
        by_namespace = {name: _plain(kinds) for name, kinds in sorted(self.namespaces.items())}
        return {"schema": SCHEMA, "total": _plain(self.total), "namespaces": by_namespace}

    def progress(self, now_s: float) -> dict[str, Any]:
        """Return the content of ``progress.json``, whose summary the driver shows; *now_s* is since the epoch."""
        return {
            "schema": PROGRESS_SCHEMA,
            "phase": "done",
            "numbers": {},
            "updated_s": now_s,
            "summary": self.sentence(),
        }

    def table(self) -> str:
        """Return the counts as lines of text: the total, then each namespace."""
        rows = [["namespace", "kind", *_COLUMNS]]
        for name, kinds in [("all", self.total), *sorted(self.namespaces.items())]:
            rows += [[name, kind, *_cells(kind, counter)] for kind, counter in kinds.items()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "".join(f"{line}\n" for line in lines)


def _columns(kind: str) -> tuple[str, ...]:
    return _COLUMNS if kind in _WITH_STATES else (EXIST, DELETED)


def _cells(kind: str, counter: Mapping[str, int]) -> list[str]:
    return [str(counter[column]) if column in _columns(kind) else "-" for column in _COLUMNS]


def _text(kind: str, counter: Mapping[str, int]) -> str:
    states = ", ".join(f"{counter[column]} {column}" for column in _COLUMNS[1:] if counter[column])
    return f"{counter[EXIST]} {kind}{f' ({states})' if states else ''}"


def _plain(kinds: Mapping[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {
        kind: {column.replace(" ", "_"): counter[column] for column in _columns(kind)}
        for kind, counter in kinds.items()
    }


async def count(client: ApiClient, kinds: Sequence[str], namespaces: str) -> Counts:
    """Count the objects of *kinds* that were created here; a kind that the cluster does not serve has none.

    Args:
        namespaces: Label selector of the namespaces; empty for all.

    Raises:
        ClusterError: If the cluster refuses to list them.
    """
    counts = Counts()
    for kind in kinds:
        resource = NAMESPACES if kind == NAMESPACES.kind else await find(client, api_version_of(kind), kind)
        if resource is None:
            continue
        accept = None if kind in _WITH_STATES else METADATA_ONLY
        async for page in pages(client, resource.collection(None), SELECTOR, accept):
            counts.add(kind, page)
    if not namespaces:
        return counts
    selected = pages(client, NAMESPACES.collection(None), namespaces, METADATA_ONLY)
    return counts.within([obj["metadata"]["name"] async for page in selected for obj in page])
