"""The Lease by which one run at a time changes a cluster.

A Lease of ``coordination.k8s.io`` as leader election uses it: the holder renews it, whoever finds it unrenewed for its
duration takes it over. Every write is of the resourceVersion that was read, so of two that take it at once one fails.
The leader election of the kubernetes client does not do: it writes a ConfigMap, waits for ever instead of refusing, and
gives nothing back.
"""

from __future__ import annotations

import datetime
import getpass
import os
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster, ConflictError
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.run.directory import LOCK_FILE, is_held

API_VERSION = "coordination.k8s.io/v1"
KIND, NAMESPACE, NAME = "Lease", "default", "psap-perf"
DURATION_S = 60
RENEWED_EVERY_S = 10.0
RIGHTS = {"kinds": [KIND], "verbs": ["get", "create", "update", "delete"], "namespaces": [NAMESPACE]}
_QUERY = Query(API_VERSION, KIND, namespace=NAMESPACE, name=NAME)
_LOOK_EVERY_S = 2.0
_ANNOTATION = "psap.perf/"


class LeaseHeldError(ClusterError):
    """Another run changes the cluster."""


class LeaseLostError(ClusterError):
    """The lease was ours and is not any more."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who changes the cluster.

    :param run: id of the run, which identifies the holder: its processes share the lease.
    :param what: the flow, or the command.
    :param machine: identifies the booted machine, which a host name does not.
    :param directory: of the run, on that machine.
    """

    run: str
    what: str
    user: str
    host: str
    machine: str
    directory: str

    @classmethod
    def here(cls, run: str, what: str, directory: Path) -> Holder:
        """A run of this machine."""
        machine = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return cls(run, what, _user(), socket.gethostname(), machine, str(directory))

    def is_gone(self, here: Holder) -> bool:
        """Whether its run is seen, from *here*, to have no process any more; False where that cannot be seen."""
        if self.machine != here.machine or not (Path(self.directory) / LOCK_FILE).is_file():
            return False
        return not is_held(Path(self.directory))


@dataclass(frozen=True, slots=True)
class Lease:
    """What the cluster says about it.

    :param since: when the holder took it.
    :param renewed: when the holder last wrote it, by the clock of the holder.
    """

    holder: Holder
    since: str
    renewed: str
    duration_s: int
    transitions: int
    resource_version: str

    def expired(self, now: datetime.datetime) -> bool:
        """Whether it has not been renewed for its duration."""
        return now > parse_utc(self.renewed) + datetime.timedelta(seconds=self.duration_s)

    def __str__(self) -> str:
        who = self.holder
        return f"run {who.run} ({who.what}) of {who.user} on {who.host}, since {self.since}"


def read_lease(cluster: Cluster) -> Lease | None:
    """The lease, or None when there is none."""
    found = cluster.get(_QUERY)
    return None if found is None else lease_of(found)


def lease_of(document: Manifest) -> Lease:
    """The lease that *document* describes."""
    spec, metadata = document["spec"], document["metadata"]
    said = metadata.get("annotations") or {}
    run = str(spec.get("holderIdentity") or "")
    who = {key: str(said.get(_ANNOTATION + key, "")) for key in ("what", "user", "host", "machine", "directory")}
    return Lease(
        holder=Holder(run=run, **who),
        since=_to_seconds(spec.get("acquireTime")),
        renewed=_to_seconds(spec.get("renewTime")),
        duration_s=int(spec.get("leaseDurationSeconds") or 0),
        transitions=int(spec.get("leaseTransitions") or 0),
        resource_version=str(metadata.get("resourceVersion", "")),
    )


def acquire(cluster: Cluster, holder: Holder, wait_s: float, check_interrupted: Callable[[], None]) -> None:
    """Take the lease for *holder*, or renew it.

    :param wait_s: for how long to wait for another one that holds it.
    :raises LeaseHeldError: when another one holds it all that time.
    :raises ClusterError: when the cluster refuses, or cannot be reached.
    """
    until = time.monotonic() + wait_s
    quiet = _Quiet()
    while True:
        found = read_lease(cluster)
        if found is None or found.holder.run in ("", holder.run) or found.holder.is_gone(holder) or quiet.seen(found):
            try:
                _write(cluster, holder, found)
            except ConflictError:
                continue
            return
        if not found.expired(_now()) and time.monotonic() >= until:
            raise LeaseHeldError(
                f"{cluster.server} is in use by {found}; wait for its end (clusters_lock: wait), see it with "
                "perfdrv lock status, or take the cluster from it with perfdrv lock break"
            )
        check_interrupted()
        time.sleep(_LOOK_EVERY_S)


class _Quiet:
    """Whether a lease that looks expired is: another machine's clock may be wrong, its silence is not."""

    def __init__(self) -> None:
        self._last: tuple[str, float] | None = None

    def seen(self, lease: Lease) -> bool:
        """Whether *lease* has expired by our clock, and nobody has renewed it while we looked."""
        now = time.monotonic()
        if self._last is None or self._last[0] != lease.resource_version:
            self._last = (lease.resource_version, now)
        return lease.expired(_now()) and now - self._last[1] > RENEWED_EVERY_S + _LOOK_EVERY_S


def renew(cluster: Cluster, holder: Holder) -> None:
    """Say that *holder* still works.

    :raises LeaseLostError: when the lease is another one's, or was deleted.
    :raises ClusterError: when the cluster cannot be reached.
    """
    found = read_lease(cluster)
    if found is None:
        raise LeaseLostError(f"somebody deleted the lease of {cluster.server}, as perfdrv lock break does")
    if found.holder.run != holder.run:
        raise LeaseLostError(f"{cluster.server} was taken over by {found}")
    try:
        _write(cluster, holder, found)
    except ConflictError:
        renew(cluster, holder)


def release(cluster: Cluster, holder: Holder) -> None:
    """Give the lease back, if *holder* still has it.

    :raises ClusterError: when the cluster cannot be reached.
    """
    found = read_lease(cluster)
    if found is None or found.holder.run != holder.run:
        return
    try:
        cluster.delete(_QUERY, resource_version=found.resource_version)
    except ConflictError:
        release(cluster, holder)


def _write(cluster: Cluster, holder: Holder, former: Lease | None) -> None:
    ours = former is not None and former.holder.run == holder.run
    now = _micro(_now())
    spec: dict[str, Any] = {
        "holderIdentity": holder.run,
        "leaseDurationSeconds": DURATION_S,
        "acquireTime": former.since.replace("Z", ".000000Z") if former and ours else now,
        "renewTime": now,
        "leaseTransitions": former.transitions + (not ours) if former else 0,
    }
    who = {"what": holder.what, "user": holder.user, "host": holder.host, "machine": holder.machine}
    annotations = {_ANNOTATION + key: value for key, value in {**who, "directory": holder.directory}.items()}
    metadata = {"name": NAME, "namespace": NAMESPACE, "labels": MANAGED_BY, "annotations": annotations}
    if former is None:
        cluster.create({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec})
        return
    metadata["resourceVersion"] = former.resource_version
    cluster.replace({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec})


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # a container's user need not have a name
        return str(os.getuid())


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _to_seconds(moment: str | None) -> str:
    """A ``MicroTime`` as people read it; one that is not there is long ago."""
    return re.sub(r"\.\d+", "", moment or "1970-01-01T00:00:00Z")


def _micro(moment: datetime.datetime) -> str:
    """A ``MicroTime`` of Kubernetes."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
