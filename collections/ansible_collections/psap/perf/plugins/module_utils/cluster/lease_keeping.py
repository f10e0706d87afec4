"""The process that keeps a run's lease: it renews it until the run gives it back or has no process any more.

One of its own, since the verbs are processes of a task each, and Ansible's main process forks them all the time, which
threads and connections do not survive.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import child_command
from ansible_collections.psap.perf.plugins.module_utils.cluster.access import Access
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.lease import (
    RENEWED_EVERY_S,
    Holder,
    LeaseLostError,
    release,
    renew,
)
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure, append_failure

_GIVE_BACK = b"release\n"
_RELEASED_WITHIN_S = 15.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A lease that a run holds.

    :param run_directory: of the Ansible whose lease it is, which may be a cell's.
    """

    access: Access
    holder: Holder
    run_directory: str
    attempt: int

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Kept:
        """From what :func:`dataclasses.asdict` made."""
        access, holder = Access(**document["access"]), Holder(**document["holder"])
        return cls(access, holder, document["run_directory"], document["attempt"])


class LeaseKeeper:
    """The process, as Ansible's main process sees it."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._process = _start(kept)

    def replace_if_killed(self) -> None:
        """Start another one, if somebody killed it."""
        if (self._process.poll() or 0) != 0:
            self._process = _start(self._kept)

    def end(self, *, give_back: bool) -> None:
        """End it; a lease that is not given back is the run's until it expires, or until its next process renews it."""
        self.replace_if_killed()
        with suppress(BrokenPipeError), cast(IO[bytes], self._process.stdin) as stream:
            stream.write(_GIVE_BACK if give_back else b"")
        try:
            self._process.wait(_RELEASED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _start(kept: Kept) -> subprocess.Popen[bytes]:
    command = child_command("cluster.lease_keeping", json.dumps(asdict(kept)))
    return subprocess.Popen(  # noqa: S603 - this Python, our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def main(document: str) -> None:
    """Be the process."""
    kept = Kept.from_document(json.loads(document))
    while True:
        readable, _writable, _failed = select.select([sys.stdin.fileno()], [], [], RENEWED_EVERY_S)
        if readable:
            if sys.stdin.buffer.readline() == _GIVE_BACK:
                # what cannot be reached is left to expire
                with suppress(ClusterError), closing(Cluster(kept.access)) as cluster:
                    release(cluster, kept.holder)
            return
        try:
            # connected anew each time: a run may last longer than the token that it began with
            with closing(Cluster(kept.access)) as cluster:
                renew(cluster, kept.holder)
        except LeaseLostError as error:
            _stop(kept, error)
            return
        except ClusterError:
            # tried again in a moment; nobody else can reach it either
            continue


def _stop(kept: Kept, error: LeaseLostError) -> None:
    """End the run as if its user had asked for it, but for its cleanup: what stands there now is another one's."""
    run = Path(kept.run_directory)
    failure = Failure(
        at=utc_now(),
        attempt=kept.attempt,
        host="",
        role=None,
        what="the lease of the cluster was lost",
        where=kept.holder.run,
        why=f"{error}; the run stopped and left what it had created",
        exit_code=error.exit_code,
        kind=type(error).__name__,
        directory=None,
    )
    append_failure(run, failure)
    write_text(run / STOP_FILE, "")
