"""A lock of a cluster: while it lasts, only runs that belong to its owner get the Lease of runs.

A lock is written by a process that has the Lease of runs, and a run reads the lock after it has the Lease, so that one
of them always sees the other. Only the owner may extend a lock, until it expires.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease import objects
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lease import LeaseHeldError, acquire, release
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import (
    LOCK_NAME,
    Holder,
    Lease,
    manifest_of,
    named,
    read_lease,
    read_lock,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import ConflictError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster


@dataclass(frozen=True, slots=True)
class LockRequest:
    """A request to lock a cluster.

    Attributes:
        run: The holder of the Lease of runs while the lock is written.
        owner: The owner of the lock.
        what: The purpose, for messages.
        duration_s: How long the lock lasts.
    """

    run: Holder
    owner: str
    what: str
    duration_s: int

    @property
    def holder(self) -> Holder:
        """Return the holder that the lock names; it has no machine and directory, since a user has no process."""
        return Holder(self.owner, self.what, self.run.user, self.run.host, "", "")


def lock(
    cluster: Cluster,
    request: LockRequest,
    wait_s: float,
    check_interrupted: Callable[[], None],
    report: Callable[[str], None],
    *,
    has_lease: bool = False,
) -> Lease:
    """Lock the cluster from now on, or extend the lock of the same owner.

    Args:
        cluster: The cluster.
        request: The lock.
        wait_s: How long to wait in the queue.
        check_interrupted: Raises if the user interrupts the run.
        report: Called with what the run waits for, whenever that changes.
        has_lease: Whether this run has the Lease of runs, and keeps it.

    Raises:
        LeaseHeldError: If other runs have the Lease or are ahead in the queue for *wait_s*.
        ClusterError: If the cluster refuses, cannot be reached, or does not answer again within *wait_s*.
    """
    while True:
        locked = _extended(cluster, request)
        if locked:
            return locked
        acquire(cluster, request.run, wait_s, check_interrupted, report, owner=request.owner)
        try:
            locked = _locked(cluster, request)
        finally:
            if not has_lease:
                release(cluster, request.run)
        if locked:
            return locked


def unlock(cluster: Cluster, owner: str) -> bool:
    """Release the lock of *owner*; return False if the cluster is not locked.

    Raises:
        LeaseHeldError: If the lock is another owner's.
        ClusterError: If the cluster refuses or cannot be reached.
    """
    while True:
        found = read_lease(cluster, LOCK_NAME)
        if found is None:
            return False
        if found.holder.run != owner:
            if read_lock(cluster) is None:
                return False
            raise LeaseHeldError(f"{cluster.server} is locked for {found}; take it with perfdrv lock break")
        try:
            return cluster.delete(named(LOCK_NAME), resource_version=found.resource_version)
        except ConflictError:
            continue


def _extended(cluster: Cluster, request: LockRequest) -> Lease | None:
    """Extend the lock; return None if it is not the owner's, or expired before it was written."""
    former = read_lock(cluster)
    if former is None or former.holder.run != request.owner:
        return None
    try:
        written = _write(cluster, request, former)
    except ConflictError:
        return None
    if former.expired(cluster.now()):
        # a run may have started before it was written
        _take_back(cluster, written)
        return None
    return written


def _locked(cluster: Cluster, request: LockRequest) -> Lease | None:
    """Write the lock as the holder of the Lease of runs; return None if that Lease was lost meanwhile."""
    try:
        written = _write(cluster, request, read_lease(cluster, LOCK_NAME))
    except ConflictError:
        return None
    run = read_lease(cluster)
    if run and run.holder.run == request.run.run:
        return written
    _take_back(cluster, written)
    return None


def _write(cluster: Cluster, request: LockRequest, former: Lease | None) -> Lease:
    manifest = manifest_of(LOCK_NAME, request.holder, former, duration_s=request.duration_s, now=cluster.now())
    return objects.write(cluster, manifest, former)


def _take_back(cluster: Cluster, written: Lease) -> None:
    try:
        cluster.delete(named(LOCK_NAME), resource_version=written.resource_version)
    except ConflictError as error:
        raise ClusterError(f"the lock of {cluster.server} was changed while it was taken; try again") from error
