"""The process that keeps a run's Lease: it renews the Lease until the run releases it or ends.

It is a dedicated process, since each verb is the process of one task, and Ansible's main process forks these all the
time, which threads and connections do not survive. It is also forked, so that it need not import the kubernetes client.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent, name_process
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
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE, make_room
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure, append_failure

PROCESS_NAME = "perf-lease"
_RELEASED_WITHIN_S = 15.0
# to connect and to read: a request that hangs must not last as long as the Lease
_REQUEST_TIMEOUT_S = (3, 5)
_PLUGIN_TIMEOUT_S = 10.0
_FORK = multiprocessing.get_context("fork")


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
        ours, theirs = _FORK.Pipe()
        process = _FORK.Process(target=_keep, args=(self._held, theirs, ours), daemon=True)
        process.start()
        theirs.close()
        self._orders, self._process = ours, process

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


def _keep(held: HeldLease, orders: Connection, their_end: Connection) -> None:
    """Renew the Lease until *orders* has a message; the main function of the process."""
    # Ctrl-C in a terminal reaches every process of its group; this one is ended by the process that started it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
    their_end.close()
    # a reader of Ansible's output waits until its last process has closed it
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
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
        _stop(held, error)
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


def _stop(held: HeldLease, error: LeaseLostError) -> None:
    """Stop the run without its cleanup, since another run has the cluster now."""
    run = Path(held.run_directory)
    failure = Failure(
        at=utc_now(),
        attempt=held.attempt,
        host="",
        role=None,
        what="the lease of the cluster was lost",
        where=held.holder.run,
        why=f"{error}; the run stopped and left what it had created",
        exit_code=error.exit_code,
        kind=type(error).__name__,
        directory=None,
    )
    # on a full disk an empty file that stops the run matters more than the reason
    with suppress(OSError):
        make_room(run)
        append_failure(run, failure)
    write_text(run / STOP_FILE, "")
