"""The process that watches the reservations of a run, and stops the run before they end.

It is a dedicated process, like the one that renews the Lease of a cluster, since Ansible's main process is always busy.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection as Pipe
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic

from ansible_collections.psap.perf.plugins.module_utils.base.processes import fork_companion
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads, Server
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Account, Connection, HttpTransport
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import LeaseEndsError
from ansible_collections.psap.perf.plugins.module_utils.quads.record import BOOKED, Record, Records
from ansible_collections.psap.perf.plugins.module_utils.quads.watching import watch
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import stop_run

_PATIENCE_S = 10.0


class BookingWatch:
    """The process, as Ansible's main process controls it."""

    def __init__(self, environment: RunEnvironment) -> None:
        """Use :meth:`check`."""
        self._environment = environment
        self._process: BaseProcess | None = None
        self._ended = False
        self._orders: Pipe | None = None

    def check(self) -> list[str]:
        """Start the process if hosts are booked, and again if it was killed; return its warnings."""
        if self._process is not None and self._process.exitcode:
            self._process = None
        if self._process is None and not self._ended and _has_bookings(self._environment.root):
            self._process, self._orders = fork_companion(_watch, self._environment)
        warnings = []
        with suppress(EOFError, OSError):
            while self._orders is not None and self._orders.poll():
                warnings.append(str(self._orders.recv()))
        return warnings

    def end(self) -> None:
        """End the process permanently, before the run releases the hosts."""
        self._ended = True
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _has_bookings(root: Path) -> bool:
    return any(each.phase == BOOKED for each in Records(root).all())


@dataclass(frozen=True, slots=True)
class _Timing:
    """The time of the machine; a pause ends when the process is ended."""

    orders: Pipe

    def now(self) -> datetime:
        """Return the present moment, aware."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the seconds of a monotonic clock."""
        return monotonic()

    def pause(self, seconds: float) -> None:
        """Sleep for *seconds*."""
        if self.orders.poll(seconds):
            raise SystemExit


def _watch(orders: Pipe, environment: RunEnvironment) -> None:
    """Run the process."""
    timing = _Timing(orders)

    def server_of(record: Record) -> Quads:
        account = Account(record.url, record.user, admin=record.admin)
        connection = Connection(account, HttpTransport(record.authority), timing, _PATIENCE_S)
        # the routes that are read are the same on all servers
        return Quads(connection, Server("", self_service=True))

    why = watch(Records(environment.root), server_of, timing, orders.send)
    if why:
        # as if the user asked for it: the run fails, and its finalizers follow
        stop_run(
            environment.directory,
            LeaseEndsError(why),
            attempt=environment.attempt,
            what="the lease of the hosts ends",
            where=environment.run,
        )
