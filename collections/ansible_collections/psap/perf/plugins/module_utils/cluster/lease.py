"""The Lease by which one run at a time changes a cluster.

A Lease of ``coordination.k8s.io`` as leader election uses it: the holder renews it, whoever finds it unrenewed for its
duration takes it over. Every write is of the resourceVersion that was read, so of two that take it at once one fails.
The leader election of the kubernetes client does not do: it writes a ConfigMap, waits for ever instead of refusing, and
gives nothing back.

Runs that wait stand in a queue: a Lease of each, which it renews, in the order in which the API server created them.
Nobody takes the cluster while one that is alive stands before.
"""

from __future__ import annotations

import datetime
import getpass
import hashlib
import os
import re
import socket
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster, ConflictError
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import MANAGED_BY, Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.outage import UnavailableError
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.run.directory import LOCK_FILE, is_held

API_VERSION = "coordination.k8s.io/v1"
KIND, NAMESPACE, NAME = "Lease", "default", "psap-perf"
DURATION_S = 60
RENEWED_EVERY_S = 10.0
RIGHTS = {"kinds": [KIND], "verbs": ["get", "list", "create", "update", "delete"], "namespaces": [NAMESPACE]}
WAITING = "psap.perf/waiting"
_QUERY = Query(API_VERSION, KIND, namespace=NAMESPACE, name=NAME)
_QUEUE = Query(API_VERSION, KIND, namespace=NAMESPACE, label_selector=WAITING)
_LOOK_EVERY_S = 2.0
_LONGEST_LOOK_S = 5.0
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
        return now > parse_utc(self.renewed) + datetime.timedelta(seconds=self.duration_s)

    @property
    def place(self) -> tuple[str, str]:
        """What sorts a queue: within a second all of its readers agree on the same order."""
        return self.created, self.uid

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


def read_queue(cluster: Cluster) -> list[Lease]:
    """The places of the runs that wait, the first in the queue first."""
    return in_order(map(lease_of, cluster.list(_QUEUE)[0]))


def in_order(places: Iterable[Lease]) -> list[Lease]:
    """Places in a queue, the first one first."""
    return sorted(places, key=lambda each: each.place)


def acquire(
    cluster: Cluster,
    holder: Holder,
    wait_s: float,
    check_interrupted: Callable[[], None],
    report: Callable[[str], None] = lambda _state: None,
) -> None:
    """Take the lease for *holder*, or renew it.

    :param wait_s: for how long to wait, in the queue, for others.
    :param report: is called with what is waited for, whenever that changes.
    :raises LeaseHeldError: when others have it, or stand before in the queue, all that time.
    :raises ClusterError: when the cluster refuses, cannot be reached, or does not come back within *wait_s*.
    """
    until = time.monotonic() + wait_s
    attempt = _Attempt(cluster, holder)
    told = ""
    try:
        while True:
            try:
                if attempt.succeeds():
                    return
                if time.monotonic() >= until and not attempt.may_be_silent():
                    raise LeaseHeldError(
                        f"{attempt.state()}; wait for it (clusters_lock: wait), see it with "
                        "perfdrv lock status, or take the cluster from it with perfdrv lock break"
                    )
                if wait_s:
                    attempt.queue()
            except UnavailableError:
                # it answered when the wait began: an API server that restarts comes back
                if not attempt.looked or time.monotonic() >= until:
                    raise
            if attempt.state() != told:
                told = attempt.state()
                report(told)
            check_interrupted()
            time.sleep(_LOOK_EVERY_S)
    finally:
        attempt.leave_queue()


class _Attempt:
    """Looks at the lease and the queue, and takes the lease when it is the turn of *holder*."""

    def __init__(self, cluster: Cluster, holder: Holder) -> None:
        self._cluster, self._holder = cluster, holder
        self._silences: dict[str, Silence] = {}
        self._held: Lease | None = None
        self._before: Sequence[Lease] = ()
        self._queued_at: float | None = None
        self.looked = False
        """Whether the cluster has answered once."""

    def succeeds(self) -> bool:
        """Take the lease, if it is free and nobody stands before."""
        while True:
            found = read_lease(self._cluster)
            self.looked = True
            ours = found is not None and found.holder.run == self._holder.run
            self._held = None if found is None or ours or self._is_over(found) else found
            self._before = () if ours else self._living_before()
            if self._held or self._before:
                return False
            try:
                _write(self._cluster, _manifest(NAME, self._holder, found), found)
            except ConflictError:
                continue
            return True

    def may_be_silent(self) -> bool:
        """Whether all that stand in the way look expired: whether they are is seen in a moment."""
        return all(each.expired(_now()) for each in self._in_the_way())

    def state(self) -> str:
        """Who has the cluster, and who stands before in the queue."""
        server, more = self._cluster.server, len(self._before) - 1
        queue = f"{self._before[0]}{f' and {more} more' if more else ''}" if self._before else ""
        if self._held is None:
            return f"{server} is free, but for {queue} in the queue"
        return f"{server} is in use by {self._held}{f'; in the queue before: {queue}' if queue else ''}"

    def queue(self) -> None:
        """Stand in the queue, and renew the place there."""
        now = time.monotonic()
        if self._queued_at is not None and now - self._queued_at < RENEWED_EVERY_S:
            return
        query = self._own_place()
        former = self._cluster.get(query)
        with suppress(ConflictError):
            lease = lease_of(former) if former else None
            _write(self._cluster, _manifest(str(query.name), self._holder, lease, {WAITING: ""}), lease)
            self._queued_at = now

    def leave_queue(self) -> None:
        """Give the place in the queue up; one that cannot be deleted expires."""
        if self._queued_at is not None:
            with suppress(ClusterError):
                self._cluster.delete(self._own_place())

    def _own_place(self) -> Query:
        digest = hashlib.sha256(self._holder.run.encode()).hexdigest()[:12]
        return Query(API_VERSION, KIND, namespace=NAMESPACE, name=f"{NAME}-waiting-{digest}")

    def _living_before(self) -> list[Lease]:
        """Who stands before; places of runs that are over are deleted."""
        before = []
        for each in read_queue(self._cluster):
            if each.holder.run == self._holder.run:
                # perhaps of an attempt that was killed
                self._queued_at = self._queued_at or 0.0
                break
            if self._is_over(each):
                with suppress(ConflictError):
                    gone = Query(API_VERSION, KIND, namespace=NAMESPACE, name=each.name)
                    self._cluster.delete(gone, resource_version=each.resource_version)
            else:
                before.append(each)
        return before

    def _in_the_way(self) -> list[Lease]:
        return [*([self._held] if self._held else []), *self._before]

    def _is_over(self, lease: Lease) -> bool:
        silence = self._silences.setdefault(lease.name, Silence())
        silent = silence.ended(lease, time.monotonic(), _now())
        return not lease.holder.run or lease.holder.is_gone(self._holder) or silent


class Silence:
    """For how long a Lease was seen not to be renewed: another machine's clock may be wrong, its silence is not."""

    def __init__(self) -> None:
        self._version, self._looked_at, self._silent_s = "", 0.0, 0.0

    def ended(self, lease: Lease, elapsed_s: float, now: datetime.datetime) -> bool:
        """Whether the holder is over: it was silent for the duration of *lease*, or for less if that looks expired.

        While the API server does not answer nobody can renew, so the time between two looks counts up to a limit.

        :param elapsed_s: the time of this look, of a clock that nobody sets.
        :param now: the time by the clock with which the holder's is compared.
        """
        if lease.resource_version == self._version:
            self._silent_s += min(elapsed_s - self._looked_at, _LONGEST_LOOK_S)
        else:
            self._version, self._silent_s = lease.resource_version, 0.0
        self._looked_at = elapsed_s
        expired_s = RENEWED_EVERY_S + _LOOK_EVERY_S if lease.expired(now) else max(lease.duration_s, DURATION_S)
        return self._silent_s > expired_s


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
        _write(cluster, _manifest(NAME, holder, found), found)
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


def _manifest(name: str, holder: Holder, former: Lease | None, labels: Mapping[str, str] | None = None) -> Manifest:
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
    metadata = {
        "name": name,
        "namespace": NAMESPACE,
        "labels": {**MANAGED_BY, **(labels or {})},
        "annotations": {_ANNOTATION + key: value for key, value in {**who, "directory": holder.directory}.items()},
    }
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def _write(cluster: Cluster, manifest: Manifest, former: Lease | None) -> None:
    """Create it, or replace it as it was read.

    :raises ConflictError: when another one was faster.
    """
    if former is None:
        cluster.create(manifest)
    else:
        metadata = {**manifest["metadata"], "resourceVersion": former.resource_version}
        cluster.replace({**manifest, "metadata": metadata})


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
