"""The Leases of ``coordination.k8s.io`` of a cluster: of the run that has it, of a run that waits, and of a lock.

A run's Lease is renewed by the clock of its holder, as leader election does. A lock is not renewed: it has a fixed
duration by the clock of the API server, so that no machine with a wrong clock takes the cluster early.
"""

from __future__ import annotations

import datetime
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc, utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.processes import user_name
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.run.directory import LOCK_FILE, is_held

API_VERSION = "coordination.k8s.io/v1"
KIND, NAMESPACE, NAME, LOCK_NAME = "Lease", "default", "psap-perf", "psap-perf-lock"
DURATION_S = 60
WAITING = "psap.perf/waiting"
_ANNOTATION = "psap.perf/"
_WHO = ("what", "user", "host", "machine", "directory", "workflow")


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a Lease.

    Attributes:
        run: ID of the run; its processes share the Lease. For a lock, the owner.
        what: The flow, the command, or the purpose of the lock.
        user: The user.
        host: The host name of the machine.
        machine: The boot ID of the machine, which is unique, unlike its host name.
        directory: The run directory on that machine.
        workflow: Address of the AWX workflow job that the run is a step of; empty for other runs.
    """

    run: str
    what: str
    user: str
    host: str
    machine: str
    directory: str
    workflow: str = ""

    @classmethod
    def here(cls, run: str, what: str, directory: Path, workflow: str = "") -> Holder:
        """Return the holder for a run on this machine."""
        machine = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return cls(run, what, user_name(), socket.gethostname(), machine, str(directory), workflow)

    def is_gone(self, here: Holder) -> bool:
        """Return whether its run has ended; False if it is on another machine than *here*."""
        if self.machine != here.machine or not (Path(self.directory) / LOCK_FILE).is_file():
            return False
        return not is_held(Path(self.directory))

    def precedes(self, here: Holder) -> bool:
        """Return whether it is a former step of the AWX workflow of *here*."""
        return bool(self.workflow) and self.workflow == here.workflow and self.run != here.run


@dataclass(frozen=True, slots=True)
class Lease:
    """A Lease as the cluster has it, or the place of a run in the queue.

    Attributes:
        name: Its name.
        uid: Its ID.
        created: When it was created, to the second, by the clock of the API server.
        holder: The holder.
        since: When the holder took it.
        renewed: When the holder last wrote it, by the clock of the holder.
        duration_s: How long it lasts without a renewal.
        transitions: How often the holder changed.
        resource_version: Its version, for writes.
    """

    name: str
    uid: str
    created: str
    holder: Holder
    since: str
    renewed: str
    duration_s: int
    transitions: int
    resource_version: str

    def expired(self, now: datetime.datetime) -> bool:
        """Return whether it was not renewed for its duration."""
        return now > self.end

    @property
    def end(self) -> datetime.datetime:
        """Return when it expires without a renewal."""
        return parse_utc(self.renewed) + datetime.timedelta(seconds=self.duration_s)

    @property
    def place(self) -> tuple[str, str]:
        """Return the sort key of the queue, on which all readers agree even within a second."""
        return self.created, self.uid

    def __str__(self) -> str:
        who = self.holder
        if self.name == LOCK_NAME:
            what = f" ({who.what})" if who.what else ""
            return f"{who.run}{what}, by {who.user} on {who.host}, until {utc_text(self.end)[:19]}Z"
        step = f", a step of {who.workflow}" if who.workflow else ""
        return f"run {who.run} ({who.what}) of {who.user} on {who.host}, since {self.since}{step}"


def named(name: str) -> Query:
    """Return the query for the Lease *name*."""
    return Query(API_VERSION, KIND, namespace=NAMESPACE, name=name)


def read_lease(cluster: Cluster, name: str = NAME) -> Lease | None:
    """Return the Lease *name*, or None if it is missing."""
    found = cluster.get(named(name))
    return None if found is None else lease_of(found)


def read_lock(cluster: Cluster) -> Lease | None:
    """Return the lock, or None if it is missing or has expired by the clock of the API server."""
    # a list always has a response, and with it the time of the API server
    found = next(map(lease_of, cluster.list(named(LOCK_NAME))[0]), None)
    return None if found is None or found.expired(cluster.now()) else found


def lease_of(document: Manifest) -> Lease:
    """Return the Lease that *document* describes."""
    spec, metadata = document["spec"], document["metadata"]
    annotations = metadata.get("annotations") or {}
    run = str(spec.get("holderIdentity") or "")
    who = {key: str(annotations.get(_ANNOTATION + key, "")) for key in _WHO}
    return Lease(
        name=str(metadata.get("name", "")),
        uid=str(metadata.get("uid", "")),
        created=str(metadata.get("creationTimestamp", "")),
        holder=Holder(run=run, **who),
        since=_to_seconds(spec.get("acquireTime")),
        renewed=_to_seconds(spec.get("renewTime")),
        duration_s=int(spec.get("leaseDurationSeconds") or 0),
        transitions=int(spec.get("leaseTransitions") or 0),
        resource_version=str(metadata.get("resourceVersion", "")),
    )


def in_order(places: Iterable[Lease]) -> list[Lease]:
    """Return *places* in the order of the queue."""
    return sorted(places, key=lambda each: each.place)


def manifest_of(
    name: str,
    holder: Holder,
    former: Lease | None,
    *,
    labels: Mapping[str, str] | None = None,
    duration_s: int | None = None,
    now: datetime.datetime | None = None,
) -> Manifest:
    """Return the manifest of the Lease that *holder* writes.

    Args:
        name: Its name.
        holder: The holder.
        former: The Lease that it replaces.
        labels: More labels.
        duration_s: How long it lasts; None for the duration of a Lease that is renewed.
        now: The time of the renewal; None for the time of this machine.
    """
    ours = former is not None and former.holder.run == holder.run
    renewed = _micro(now or clock())
    spec: dict[str, Any] = {
        "holderIdentity": holder.run,
        "leaseDurationSeconds": duration_s or DURATION_S,
        "acquireTime": former.since.replace("Z", ".000000Z") if former and ours else renewed,
        "renewTime": renewed,
        "leaseTransitions": former.transitions + (not ours) if former else 0,
    }
    who = {_ANNOTATION + key: value for key in _WHO if (value := getattr(holder, key))}
    metadata = {
        "name": name,
        "namespace": NAMESPACE,
        "labels": {**MANAGED_BY, **(labels or {})},
        "annotations": who,
    }
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def write(cluster: Cluster, manifest: Manifest, former: Lease | None) -> Lease:
    """Create the Lease, or replace *former*, and return it as the server has it.

    Raises:
        ConflictError: If it was changed since *former* was read.
    """
    if former is None:
        return lease_of(cluster.create(manifest))
    metadata = {**manifest["metadata"], "resourceVersion": former.resource_version}
    return lease_of(cluster.replace({**manifest, "metadata": metadata}))


def clock() -> datetime.datetime:
    """Return the time of this machine."""
    return datetime.datetime.now(datetime.UTC)


def _to_seconds(moment: str | None) -> str:
    """Return a ``MicroTime`` to the second; a missing one is 1970."""
    return re.sub(r"\.\d+", "", moment or "1970-01-01T00:00:00Z")


def _micro(moment: datetime.datetime) -> str:
    """Return *moment* as a ``MicroTime`` of Kubernetes."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
