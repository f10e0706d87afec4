"""Concurrent workers: their start, their events, their end."""

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
    """An observer of the workers."""

    def started(self, request: RunRequest) -> None:
        """Record that a worker has started."""

    def event(self, request: RunRequest, event: AnsibleEvent) -> None:
        """Handle an event of Ansible."""

    def tick(self) -> None:
        """Act and redraw; called about four times a second."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A request whose Ansible has ended.

    Attributes:
        code: Exit code of ansible-playbook; None if a signal killed it.
        tail: The last lines that Ansible printed.
    """

    request: RunRequest
    code: int | None
    tail: tuple[str, ...]


class InternalError(DriverError):
    """A worker ended without the result of Ansible."""

    exit_code = 70


def carry_out(requests: Iterable[RunRequest], limit: int, watcher: Watcher) -> Iterator[Finished]:
    """Carry out requests, at most *limit* concurrently, and yield each one when it has ended.

    Args:
        requests: Consumed as workers become free, so that it can stop early.

    Raises:
        InternalError: A worker ended without a result; the others continue until the iterator is closed.
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
                    # a matrix can have more cells than a process can have open files
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
        """Kill the process and remove its files; a second call does nothing."""
        self._resources.close()

    def _kill(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when the worker prints."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        return self._process.stdout.fileno()

    def read(self) -> list[AnsibleEvent]:
        """Return the new events of the worker; does not block if the descriptor is readable."""
        data = os.read(self.fileno(), 1 << 16)
        self.closed = not data
        *lines, self._unread = (self._unread + data).split(b"\n")
        return [event for line in lines if (event := self._understand(json.loads(line))) is not None]

    def finish(self) -> Finished:
        """Return how Ansible ended.

        Raises:
            InternalError: The worker ended without a result.
        """
        code = self._process.wait()
        if self._result is None and code >= 0:
            lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            last = lines[-1] if lines else "no message"
            raise InternalError(f"the worker process ended with exit code {code} and no result: {last}")
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
        # a worker that died immediately is reported when its result is read
        with suppress(BrokenPipeError), self._process.stdin as stream:
            stream.write(json.dumps(request).encode())
