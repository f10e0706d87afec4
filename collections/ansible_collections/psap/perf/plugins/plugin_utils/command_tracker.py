"""The start and end of each command of each host, derived only from the results of tasks.

Ansible has no event for the end of a role. A command ends when its host continues with a task outside of it, when the
next command opens beside it, or when the play is over. Its end time is the end of its last task, also for
``host_pinned``, where a host's next task may start much later or never.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class OpenCommand:
    """An open command of a host.

    Attributes:
        marker: Identifies the inclusion of the role; it is in the chain of the command's tasks.
    """

    directory: Path
    role: str
    host: str
    marker: int
    started: str
    last: str
    changed: bool = False
    failed: bool = False
    interrupted: bool = False
    error: str | None = None

    @property
    def status(self) -> str:
        """The status: ``ok``, ``failed`` or ``interrupted``."""
        if self.interrupted:
            return "interrupted"
        return "failed" if self.failed else "ok"


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """The result of one task on one host; *chain* has the markers of all roles around the task."""

    host: str
    chain: Collection[int]
    at: str
    changed: bool = False
    failed: bool = False
    interrupted: bool = False
    error: str | None = None


class CommandTracker:
    """Follows the open commands of all hosts; *ended* is called once for each that ends."""

    def __init__(self, ended: Callable[[OpenCommand], None]) -> None:
        self._ended = ended
        self._open: dict[str, list[OpenCommand]] = {}

    def open(self, command: OpenCommand, chain: Collection[int]) -> None:
        """Open a command on its host; *chain* has the markers of the roles around it."""
        self._close_outside(command.host, [marker for marker in chain if marker != command.marker])
        self._open.setdefault(command.host, []).append(command)

    def task_ended(self, end: TaskEnd) -> OpenCommand | None:
        """Record a result; return the innermost command of the task."""
        self._close_outside(end.host, end.chain)
        stack = self._open.get(end.host, [])
        for command in stack:
            command.last = end.at
            command.changed = command.changed or end.changed
            if end.failed:
                command.failed = True
                command.interrupted = command.interrupted or end.interrupted
                command.error = command.error or end.error
        return stack[-1] if stack else None

    def interrupt_all(self) -> None:
        """Interrupt all open commands that have not failed, because Ansible exits during the play."""
        for command in (command for stack in self._open.values() for command in stack if not command.failed):
            command.interrupted = True

    def close_all(self) -> None:
        """End all open commands, because the play or the run is over."""
        for host in list(self._open):
            self._close_outside(host, ())

    def _close_outside(self, host: str, chain: Collection[int]) -> None:
        stack = self._open.get(host, [])
        while stack and stack[-1].marker not in chain:
            self._ended(stack.pop())
