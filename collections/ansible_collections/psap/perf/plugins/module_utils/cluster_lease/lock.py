"""A cluster locked for its owner, beside the Lease of runs: only runs that belong to the owner get that Lease.

Who locks has the Lease of runs while it writes the lock, and a run looks for a lock once it has the Lease: of the two,
one sees the other. The owner alone may extend a lock, as long as it has not expired.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.api_errors import ConflictError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
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


@dataclass(frozen=True, slots=True)
class LockRequest:
    """A request to lock a cluster.

    Args:
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
        """What the lock says: a person has no process that is seen to be gone."""
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
    """Lock the cluster, or extend the lock of the same owner: it lasts from now on.

    :param wait_s: for how long to wait, in the queue, for others.
    :param has_lease: whether this run has the Lease of runs, and goes on with it.
    :raises LeaseHeldError: when others have it, or stand before in the queue, all that time.
    :raises ClusterError: when the cluster refuses, cannot be reached, or does not come back within *wait_s*.
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
    """End the lock of *owner*; False when there is none.

    :raises LeaseHeldError: when it is another one's.
    :raises ClusterError: when the cluster refuses or cannot be reached.
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
    """The lock, if it was the owner's and its end had not come when it was written."""
    former = read_lock(cluster)
    if former is None or former.holder.run != request.owner:
        return None
    try:
        written = _write(cluster, request, former)
    except ConflictError:
        return None
    if former.expired(cluster.now()):
        # a run may have begun before it was written
        _take_back(cluster, written)
        return None
    return written


def _locked(cluster: Cluster, request: LockRequest) -> Lease | None:
    """The lock, written by who has the Lease of runs; None when it lost that Lease meanwhile."""
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
