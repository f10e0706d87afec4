"""Workers side by side: starting them, hearing what they report, ending all that they left."""

from __future__ import annotations

import collections
import json
import os
import selectors
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from perfdrv.ansible.private_directory import PrivateDirectory, private_directory
from perfdrv.ansible.request import RunRequest
from perfdrv.ansible.worker import AnsibleEvent
from perfdrv.errors import DriverError

TICK_SECONDS = 0.25
TAIL_LINES = 200


class Watcher(Protocol):
    """Whoever follows the workers."""

    def started(self, request: RunRequest) -> None:
        """Hear that a worker has been started."""

    def event(self, request: RunRequest, event: AnsibleEvent) -> None:
        """Hear an event of Ansible."""

    def tick(self) -> None:
        """Be called about four times a second, to act and to redraw."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A request that was carried out, to whatever end.

    Attributes:
        code: of ansible-playbook; None when a signal killed it.
        tail: the last lines that Ansible printed.
    """

    request: RunRequest
    code: int | None
    tail: tuple[str, ...]


class InternalError(DriverError):
    """A worker broke before it could say how Ansible ended."""

    exit_code = 70


def carry_out(requests: Iterable[RunRequest], limit: int, watcher: Watcher) -> Iterator[Finished]:
    """Carry out requests, at most *limit* at once, and yield each one when it has ended.

    A request is taken when there is room for it, so the iterable may still decide against it.

    Raises:
        InternalError: a worker broke; the others go on until the iterator is closed.
    """
    waiting = iter(requests)
    exhausted = False
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        running: set[_Worker] = set()
        while True:
            while not exhausted and len(running) < limit:
                request = next(waiting, None)
                exhausted = request is None
                if request is not None:
                    worker = stack.enter_context(_Worker(request))
                    running.add(worker)
                    watcher.started(request)
                    selector.register(worker, selectors.EVENT_READ, worker)
            if not running:
                return
            ready = [key.data for key, _events in selector.select(TICK_SECONDS)]
            for worker in ready:
                for event in worker.read():
                    watcher.event(worker.request, event)
                if worker.closed:
                    selector.unregister(worker)
                    running.discard(worker)
                    finished = worker.finish()
                    # a matrix may have more cells than a process may have open files
                    worker.close()
                    yield finished
            watcher.tick()


class _Worker:
    """One worker process, from its start to its end."""

    def __init__(self, request: RunRequest) -> None:
        self.request = request
        self.closed = False
        self._unread = b""
        self._tail: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
        self._result: tuple[int | None] | None = None
        with ExitStack() as made:
            private = made.enter_context(private_directory())
            self._log = private.log
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(  # noqa: S603 - this Python, our own module
                    [sys.executable, "-m", "perfdrv.ansible.worker", str(os.getpid())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=request.project.root,
                    env=request.process_environment() | private.variables(),
                    start_new_session=True,
                )
            made.callback(self._kill)
            self._send(private)
            self._resources = made.pop_all()

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave nothing of it; a second close does nothing."""
        self._resources.close()

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def fileno(self) -> int:
        """The descriptor that becomes readable when the worker reports."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        return self._process.stdout.fileno()

    def read(self) -> list[AnsibleEvent]:
        """Read what the worker has reported; never blocks once the descriptor is readable."""
        data = os.read(self.fileno(), 1 << 16)
        self.closed = not data
        *lines, self._unread = (self._unread + data).split(b"\n")
        return [event for line in lines if (event := self._understand(json.loads(line))) is not None]

    def finish(self) -> Finished:
        """How it ended.

        Raises:
            InternalError: the worker broke.
        """
        code = self._process.wait()
        if self._result is None and code >= 0:
            lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            last = lines[-1] if lines else "no message"
            raise InternalError(f"The process around Ansible ended with {code} and no result: {last}")
        return Finished(self.request, self._result[0] if self._result else None, tuple(self._tail))

    def _understand(self, document: dict[str, Any]) -> AnsibleEvent | None:
        if "end" in document:
            self._result = (document["end"],)
            return None
        event = AnsibleEvent(**document["event"])
        self._tail.extend(event.stdout.splitlines())
        return event

    def _send(self, private: PrivateDirectory) -> None:
        request = {
            "private": str(private.path),
            "project": str(self.request.project.root),
            "arguments": self.request.arguments(private.extra_vars),
        }
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        # how one ended that died at once is told when its end is read
        with suppress(BrokenPipeError), self._process.stdin as stream:
            stream.write(json.dumps(request).encode())
