"""The Lease by which one run at a time changes a cluster.

A Lease of ``coordination.k8s.io`` as leader election uses it: the holder renews it, and another run takes it over if
it was not renewed for its duration. Every write names the resourceVersion that was read, so of two concurrent writes
one fails. The leader election of the kubernetes client does not fit: it writes a ConfigMap, waits indefinitely instead
of refusing, and releases nothing.

Runs that wait form a queue: each has a Lease, which it renews, in the order in which the API server created them. A run
takes the cluster only when no live run is ahead of it in the queue.
"""

from __future__ import annotations

import datetime
import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease import objects
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import (
    API_VERSION,
    KIND,
    NAME,
    NAMESPACE,
    WAITING,
    Holder,
    Lease,
    in_order,
    lease_of,
    manifest_of,
    named,
    read_lease,
    read_lock,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import ConflictError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.outage import UnavailableError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

RENEWED_EVERY_S = 10.0
RIGHTS = {"kinds": [KIND], "verbs": ["get", "list", "create", "update", "delete"], "namespaces": [NAMESPACE]}
_QUEUE = Query(API_VERSION, KIND, namespace=NAMESPACE, label_selector=WAITING)
_READ_EVERY_S = 2.0
_LONGEST_READ_S = 5.0
# for a former step of the same workflow; a live step renews within that time, even if one renewal fails
_STEP_SILENT_S = 2.5 * RENEWED_EVERY_S


class LeaseHeldError(ClusterError):
    """Another run changes the cluster, or another owner locked it."""


class LeaseLostError(ClusterError):
    """The run has lost its Lease."""


def read_queue(cluster: Cluster) -> list[Lease]:
    """Return the places of the runs that wait, in the order of the queue."""
    return in_order(map(lease_of, cluster.list(_QUEUE)[0]))


def acquire(
    cluster: Cluster,
    holder: Holder,
    wait_s: float,
    check_interrupted: Callable[[], None],
    report: Callable[[str], None] = lambda _state: None,
    *,
    owner: str = "",
) -> None:
    """Take the Lease for *holder*, or renew it.

    Args:
        cluster: The cluster.
        holder: The run.
        wait_s: How long to wait in the queue.
        check_interrupted: Raises if the user interrupts the run.
        report: Called with what the run waits for, whenever that changes.
        owner: The owner whose lock does not keep *holder* out.

    Raises:
        LeaseHeldError: If other runs have the Lease or are ahead in the queue for *wait_s*.
        ClusterError: If the cluster refuses, cannot be reached, or does not answer again within *wait_s*.
    """
    until = time.monotonic() + wait_s
    attempt = _Attempt(cluster, holder, owner)
    reported = ""
    try:
        while True:
            try:
                if attempt.succeeds():
                    return
                if time.monotonic() >= until and not attempt.may_be_silent():
                    raise LeaseHeldError(f"{attempt.state()}; {attempt.advice()}")
                if wait_s:
                    attempt.queue()
            except UnavailableError:
                # an API server that answered when the wait began may be restarting
                if not attempt.answered or time.monotonic() >= until:
                    raise
            if attempt.state() != reported:
                reported = attempt.state()
                report(reported)
            check_interrupted()
            time.sleep(_READ_EVERY_S)
    finally:
        attempt.leave_queue()


class _Attempt:
    """Reads the Lease and the queue, and takes the Lease when no other run has it or is ahead."""

    def __init__(self, cluster: Cluster, holder: Holder, owner: str = "") -> None:
        self._cluster, self._holder, self._owner = cluster, holder, owner
        self._silences: dict[str, Silence] = {}
        self._held: Lease | None = None
        self._lock: Lease | None = None
        self._before: Sequence[Lease] = ()
        self._queued_at: float | None = None
        self.answered = False
        """Whether the cluster has answered once."""

    def succeeds(self) -> bool:
        """Take the Lease if it is free and no run is ahead; return whether the run has it."""
        while True:
            found = read_lease(self._cluster)
            self.answered = True
            ours = found is not None and found.holder.run == self._holder.run
            self._held = None if found is None or ours or self._is_over(found) else found
            self._lock = None if ours else self._lock_of_another()
            self._before = () if ours else self._living_before()
            if self._held or self._lock or self._before:
                return False
            try:
                objects.write(self._cluster, manifest_of(NAME, self._holder, found), found)
            except ConflictError:
                continue
            # A lock is written only by a run that has the Lease, so no lock can appear after this.
            self._lock = self._lock_of_another()
            if self._lock:
                release(self._cluster, self._holder)
            return self._lock is None

    def may_be_silent(self) -> bool:
        """Return whether all holders in the way look expired; the next reads show whether they are."""
        return self._lock is None and all(map(self._looks_silent, self._in_the_way()))

    def state(self) -> str:
        """Return who has the cluster, and which runs are ahead in the queue."""
        more = len(self._before) - 1
        queue = f"{self._before[0]}{f' and {more} more' if more else ''}" if self._before else ""
        having = [f"in use by {self._held}"] if self._held else []
        having += [f"locked for {self._lock}"] if self._lock else []
        if not having:
            return f"{self._cluster.server} is free, but for {queue} in the queue"
        return f"{self._cluster.server} is {' and '.join(having)}{f'; in the queue before: {queue}' if queue else ''}"

    def advice(self) -> str:
        """Return what the user can do when the wait is over."""
        owner = self._lock.holder.run if self._lock else ""
        belongs = f"declare that the run belongs to {owner} (clusters_lock_owner: {owner}), " if owner else ""
        return (
            f"{belongs}wait for it (clusters_lock: wait), see it with perfdrv lock status, or take the cluster from it "
            "with perfdrv lock break"
        )

    def queue(self) -> None:
        """Take a place in the queue, or renew it."""
        now = time.monotonic()
        if self._queued_at is not None and now - self._queued_at < RENEWED_EVERY_S:
            return
        query = self._own_place()
        former = self._cluster.get(query)
        with suppress(ConflictError):
            lease = lease_of(former) if former else None
            place = manifest_of(str(query.name), self._holder, lease, labels={WAITING: ""})
            objects.write(self._cluster, place, lease)
            self._queued_at = now

    def leave_queue(self) -> None:
        """Delete the place in the queue; a place that cannot be deleted expires."""
        if self._queued_at is not None:
            with suppress(ClusterError):
                self._cluster.delete(self._own_place())

    def _own_place(self) -> Query:
        digest = hashlib.sha256(self._holder.run.encode()).hexdigest()[:12]
        return named(f"{NAME}-waiting-{digest}")

    def _living_before(self) -> list[Lease]:
        """Return the places ahead; places of ended runs are deleted."""
        before = []
        for each in read_queue(self._cluster):
            if each.holder.run == self._holder.run:
                # the place may be left over from an attempt that was killed
                self._queued_at = self._queued_at or 0.0
                break
            if self._is_over(each):
                with suppress(ConflictError):
                    self._cluster.delete(named(each.name), resource_version=each.resource_version)
            else:
                before.append(each)
        return before

    def _lock_of_another(self) -> Lease | None:
        found = read_lock(self._cluster)
        return None if found is None or found.holder.run == self._owner else found

    def _in_the_way(self) -> list[Lease]:
        return [*([self._held] if self._held else []), *self._before]

    def _looks_silent(self, lease: Lease) -> bool:
        former_step = lease.holder.precedes(self._holder) and not self._silences[lease.name].broken
        return former_step or lease.expired(objects.clock())

    def _is_over(self, lease: Lease) -> bool:
        silence = self._silences.setdefault(lease.name, Silence())
        former_step = lease.holder.precedes(self._holder)
        silent = silence.ended(lease, time.monotonic(), objects.clock(), former_step=former_step)
        return not lease.holder.run or lease.holder.is_gone(self._holder) or silent


class Silence:
    """How long a Lease was not renewed, by the reader's clock, since the clock of the holder may be wrong."""

    def __init__(self) -> None:
        self._version, self._read_at, self._silent_s = "", 0.0, 0.0
        self.broken = False
        """Whether the holder renewed it since the first read."""

    def ended(self, lease: Lease, elapsed_s: float, now: datetime.datetime, *, former_step: bool = False) -> bool:
        """Return whether the holder has ended: no renewal for the duration of *lease*, or less if it looks expired.

        While the API server is unavailable no holder can renew, so the time between two reads counts up to a limit.

        Args:
            lease: The Lease as it was read now.
            elapsed_s: The time of this read, by a monotonic clock.
            now: The time by the clock that the holder's is compared with.
            former_step: Whether the holder is a former step of the reader's workflow, which AWX has ended.
        """
        if lease.resource_version == self._version:
            self._silent_s += min(elapsed_s - self._read_at, _LONGEST_READ_S)
        else:
            self.broken = bool(self._version)
            self._version, self._silent_s = lease.resource_version, 0.0
        self._read_at = elapsed_s
        return self._silent_s > _longest_silence(lease, now, former_step=former_step)


def _longest_silence(lease: Lease, now: datetime.datetime, *, former_step: bool) -> float:
    """Return the seconds without a renewal after which the holder is over."""
    if lease.expired(now):
        return RENEWED_EVERY_S + _READ_EVERY_S
    return _STEP_SILENT_S if former_step else max(lease.duration_s, objects.DURATION_S)


def renew(cluster: Cluster, holder: Holder) -> None:
    """Renew the Lease of *holder*.

    Raises:
        LeaseLostError: If another run has the Lease, or it was deleted.
        ClusterError: If the cluster cannot be reached.
    """
    found = read_lease(cluster)
    if found is None:
        raise LeaseLostError(f"the lease of {cluster.server} was deleted, for example by perfdrv lock break")
    if found.holder.run != holder.run:
        raise LeaseLostError(f"{cluster.server} was taken over by {found}")
    try:
        objects.write(cluster, manifest_of(NAME, holder, found), found)
    except ConflictError:
        renew(cluster, holder)


def release(cluster: Cluster, holder: Holder) -> None:
    """Release the Lease if *holder* still has it.

    Raises:
        ClusterError: If the cluster cannot be reached.
    """
    found = read_lease(cluster)
    if found is None or found.holder.run != holder.run:
        return
    try:
        cluster.delete(named(NAME), resource_version=found.resource_version)
    except ConflictError:
        release(cluster, holder)
