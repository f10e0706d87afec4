"""A Lease of ``coordination.k8s.io`` that says who has a cluster: a run, a run that waits for it, or who locked it.

A run's Lease is renewed by the clock of its holder, as leader election does. Nobody renews a lock: its owner said how
long it lasts, and the clock of the API server decides, so that no machine whose clock is wrong takes it early.
"""

from __future__ import annotations

import datetime
import getpass
import os
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc, utc_text
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.run.directory import LOCK_FILE, is_held

API_VERSION = "coordination.k8s.io/v1"
KIND, NAMESPACE, NAME, LOCK_NAME = "Lease", "default", "psap-perf", "psap-perf-lock"
DURATION_S = 60
WAITING = "psap.perf/waiting"
_ANNOTATION = "psap.perf/"
_WHO = ("what", "user", "host", "machine", "directory", "workflow")


@dataclass(frozen=True, slots=True)
class Holder:
    """Who changes the cluster.

    :param run: id of the run, which identifies the holder: its processes share the lease.
    :param what: the flow, or the command.
    :param machine: identifies the booted machine, which a host name does not.
    :param directory: of the run, on that machine.
    :param workflow: address of the workflow job of AWX that the run is a step of; empty for any other run.
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
        """A run of this machine."""
        machine = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return cls(run, what, user(), socket.gethostname(), machine, str(directory), workflow)

    def is_gone(self, here: Holder) -> bool:
        """Whether its run is seen, from *here*, to have no process any more; False where that cannot be seen."""
        if self.machine != here.machine or not (Path(self.directory) / LOCK_FILE).is_file():
            return False
        return not is_held(Path(self.directory))

    def precedes(self, here: Holder) -> bool:
        """Whether its run and that of *here* are steps of one workflow, which AWX starts one after the other."""
        return bool(self.workflow) and self.workflow == here.workflow and self.run != here.run


@dataclass(frozen=True, slots=True)
class Lease:
    """What the cluster says about it, or about the place of a run in the queue.

    :param created: when the API server got it, to the second, by the clock of the API server.
    :param since: when the holder took it.
    :param renewed: when the holder last wrote it, by the clock of the holder.
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
        """Whether it has not been renewed for its duration."""
        return now > self.end

    @property
    def end(self) -> datetime.datetime:
        """Until when it is the holder's, if it is not renewed."""
        return parse_utc(self.renewed) + datetime.timedelta(seconds=self.duration_s)

    @property
    def place(self) -> tuple[str, str]:
        """What sorts a queue: within a second all of its readers agree on the same order."""
        return self.created, self.uid

    def __str__(self) -> str:
        who = self.holder
        if self.name == LOCK_NAME:
            what = f" ({who.what})" if who.what else ""
            return f"{who.run}{what}, by {who.user} on {who.host}, until {utc_text(self.end)[:19]}Z"
        step = f", a step of {who.workflow}" if who.workflow else ""
        return f"run {who.run} ({who.what}) of {who.user} on {who.host}, since {self.since}{step}"


def named(name: str) -> Query:
    """What asks for one of them."""
    return Query(API_VERSION, KIND, namespace=NAMESPACE, name=name)


def read_lease(cluster: Cluster, name: str = NAME) -> Lease | None:
    """The one of this name, or None when there is none."""
    found = cluster.get(named(name))
    return None if found is None else lease_of(found)


def read_lock(cluster: Cluster) -> Lease | None:
    """The lock, or None when there is none, or one that has expired by the clock of the API server."""
    # of a list there is always an answer, and with it the time
    found = next(map(lease_of, cluster.list(named(LOCK_NAME))[0]), None)
    return None if found is None or found.expired(cluster.now()) else found


def lease_of(document: Manifest) -> Lease:
    """The lease that *document* describes."""
    spec, metadata = document["spec"], document["metadata"]
    said = metadata.get("annotations") or {}
    run = str(spec.get("holderIdentity") or "")
    who = {key: str(said.get(_ANNOTATION + key, "")) for key in _WHO}
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
    """Places in a queue, the first one first."""
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
    """The Lease that *holder* writes in place of *former*.

    :param duration_s: for how long, if not for as long as one that is renewed.
    :param now: by whose clock it is renewed; by ours if it is left out.
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
    """Create it, or replace it as it was read; what the server has then.

    :raises ConflictError: when another one was faster.
    """
    if former is None:
        return lease_of(cluster.create(manifest))
    metadata = {**manifest["metadata"], "resourceVersion": former.resource_version}
    return lease_of(cluster.replace({**manifest, "metadata": metadata}))


def user() -> str:
    """Who we are on this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # a container's user need not have a name
        return str(os.getuid())


def clock() -> datetime.datetime:
    """The time of this machine."""
    return datetime.datetime.now(datetime.UTC)


def _to_seconds(moment: str | None) -> str:
    """A ``MicroTime`` as people read it; one that is not there is long ago."""
    return re.sub(r"\.\d+", "", moment or "1970-01-01T00:00:00Z")


def _micro(moment: datetime.datetime) -> str:
    """A ``MicroTime`` of Kubernetes."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
