"""A process that repeatedly holds a cluster, by a run's lease or a lock, and records when: for test_locks.py.

Its waits and its Lease's duration are a twentieth of the normal ones, and its clock is wrong.
"""

from __future__ import annotations

import datetime
import os
import sys
import time
from contextlib import closing
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease import lease, objects
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lock import LockRequest, lock, unlock
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import Holder
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.outage import Outage
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

LOCKED_S = 4


class Notes:
    """Lines ``NAME FROM TO`` of times at which this process held the cluster; of equal starts the last line counts."""

    def __init__(self, path: Path, name: str) -> None:
        self._file, self._name = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), name

    def add(self, begun: float, end: float) -> None:
        """Append a line."""
        os.write(self._file, f"{self._name} {begun} {end}\n".encode())


def main(kubeconfig: str, notes: str, name: str, behind_s: float) -> None:
    """Acquire and release the cluster until killed."""
    lease.RENEWED_EVERY_S, lease._READ_EVERY_S, lease._LONGEST_READ_S = 0.5, 0.1, 0.25
    objects.DURATION_S = 3
    wrong = datetime.timedelta(seconds=behind_s)
    objects.clock = lambda: datetime.datetime.now(datetime.UTC) - wrong
    noted = Notes(Path(notes), name)
    with closing(Cluster(Access(kubeconfig=kubeconfig), Outage(60.0))) as cluster:
        for number in range(100_000):
            holder = Holder(f"{name}-{number}", "test", "ada", "bastion", name, "/nowhere")
            try:
                _hold(cluster, holder, noted, number)
            except ClusterError as error:
                # lost, or the server went away before it confirmed the lease
                print(name, error, flush=True)


def _hold(cluster: Cluster, holder: Holder, notes: Notes, number: int) -> None:
    owner = holder.machine if number % 2 else ""
    locked_at = 0.0
    if owner:
        locked = lock(cluster, LockRequest(holder, owner, "test", LOCKED_S), 60.0, lambda: None, lambda _state: None)
        locked_at = time.time()
        notes.add(locked_at, locked.end.timestamp())
    lease.acquire(cluster, holder, 60.0, lambda: None, owner=owner)
    taken = time.time()
    for _each in range(5):
        time.sleep(0.05)
        before = time.time()
        lease.renew(cluster, holder)
        notes.add(taken, before)
    lease.release(cluster, holder)
    if owner:
        notes.add(locked_at, min(time.time(), locked.end.timestamp()))
        unlock(cluster, owner)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
