"""The process that keeps a run's Lease: it renews the Lease until the run releases it or ends.

It is a dedicated process, since each verb is the process of one task, and Ansible's main process forks these all the
time, which threads and connections do not survive. It is also forked, so that it need not import the kubernetes client.
"""

from __future__ import annotations

import time
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import fork_companion, name_process
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lease import (
    RENEWED_EVERY_S,
    LeaseLostError,
    release,
    renew,
)
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import Holder
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.outage import Outage
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.run.failures import stop_run

PROCESS_NAME = "perf-lease"
_RELEASED_WITHIN_S = 15.0
# to connect and to read: a request that hangs must not last as long as the Lease
_REQUEST_TIMEOUT_S = (3, 5)
_PLUGIN_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A Lease that a run holds.

    Attributes:
        access: The cluster.
        holder: The run.
        run_directory: The directory of the Ansible run that took it, which may be a cell's.
        attempt: The attempt at the run.
    """

    access: Access
    holder: Holder
    run_directory: str
    attempt: int

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> HeldLease:
        """Return the Lease from the result of `dataclasses.asdict`."""
        access, holder = Access(**document["access"]), Holder(**document["holder"])
        return cls(access, holder, document["run_directory"], document["attempt"])


class LeaseKeeper:
    """Controls the process from Ansible's main process."""

    def __init__(self, held: HeldLease) -> None:
        self._held = held
        self._start()

    def _start(self) -> None:
        self._process, self._orders = fork_companion(_keep, self._held)

    def replace_if_killed(self) -> None:
        """Start another process if this one was killed or failed; one that lost the Lease ended with 0."""
        if self._process.exitcode:
            self._orders.close()
            # if memory is short, the next call tries again
            with suppress(OSError):
                self._start()

    def end(self, *, give_back: bool) -> None:
        """End the process; a Lease that it does not release stays until it expires or the run renews it."""
        self.replace_if_killed()
        # OSError: the process has ended, and closed the pipe
        with suppress(OSError), self._orders:
            self._orders.send(give_back)
        self._process.join(_RELEASED_WITHIN_S)
        self._process.kill()
        self._process.join()


def _keep(orders: Connection, held: HeldLease) -> None:
    """Renew the Lease until *orders* has a message; the main function of the process."""
    name_process(PROCESS_NAME)
    # immediately: it may replace a process that was killed some time ago
    while _renewed(held):
        if orders.poll(RENEWED_EVERY_S):
            _end(held, orders)
            return


def _renewed(held: HeldLease) -> bool:
    """Renew the Lease; stop the run and return False if another holder has it."""
    try:
        # a new connection each time: a run may last longer than its first token
        with closing(_connected(held)) as cluster:
            renew(cluster, held.holder)
    except LeaseLostError as error:
        # without the cleanup, since another run has the cluster now
        stop_run(
            Path(held.run_directory),
            LeaseLostError(f"{error}; the run stopped and left what it had created"),
            attempt=held.attempt,
            what="the lease of the cluster was lost",
            where=held.holder.run,
        )
        return False
    except ClusterError:
        # the next renewal may succeed; other machines cannot reach the cluster either
        return True
    return True


def _end(held: HeldLease, orders: Connection) -> None:
    with suppress(EOFError):
        if orders.recv():
            # if the cluster cannot be reached, the Lease expires
            with suppress(ClusterError), closing(_connected(held)) as cluster:
                release(cluster, held.holder)


def _connected(held: HeldLease) -> Cluster:
    until = time.monotonic() + _PLUGIN_TIMEOUT_S

    def check() -> None:
        if time.monotonic() >= until:
            raise ClusterError("the kubeconfig's credential plugin takes too long to renew the lease")

    return Cluster(held.access, Outage(check=check), _REQUEST_TIMEOUT_S)
