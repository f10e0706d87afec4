"""A lock in a folder of a host, for machines without Kubernetes: ``state.json``, read and replaced under ``flock(2)``.

The state is written completely, synced and renamed, so that a killed process, a power failure or a full disk leaves the
former state. No process holds the flock longer than that takes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.moments import Moment
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.state import (
    LockHeldError,
    LockLostError,
    Requester,
    State,
)

_STATE, _NEW, _GUARD = "state.json", "state.json.new", "flock"
_READ_EVERY_S = 0.25
_GUARDED_WITHIN_S = 10.0


class FileLock:
    """The lock of *folder*, which is created if it is missing.

    Each method raises a PerfError if the folder cannot be read or written.
    """

    def __init__(self, folder: Path, clock: Callable[[], Moment] = Moment.now) -> None:
        self._folder, self._clock = folder, clock

    def read(self) -> State:
        """Return the holder and the queue."""
        with self._guarded():
            return self._read().at(self._clock())

    def take(
        self, who: Requester, duration_s: float, wait_s: float = 0.0, *, stays: bool = False
    ) -> tuple[State, bool]:
        """Take the lock for *who*, or extend the lock of the same owner.

        Args:
            who: The requester.
            duration_s: How long the lock lasts from now on.
            wait_s: How long to wait in the queue.
            stays: Whether to keep the place in the queue, since *who* calls again within a minute.

        Returns:
            The state, and whether the owner has the lock.
        """
        begun, until = self._clock(), time.monotonic() + wait_s
        while True:
            last = time.monotonic() >= until
            with self._guarded():
                former, now = self._read(), self._clock()
                state = former.at(now)
                if not state.in_the_way(who):
                    taken = state.taken(who, duration_s, now)
                    self._write(taken)
                    return taken, True
                state = state.left(who) if last and not stays else state.queued(who, begun.of_boot(now), now)
                if state != former:
                    self._write(state)
                if last:
                    return state, False
            time.sleep(_READ_EVERY_S)

    def renew(self, owner: str) -> State:
        """Extend the lock of *owner* by its duration.

        Raises:
            LockLostError: If *owner* does not have the lock.
        """
        with self._guarded():
            now = self._clock()
            state = self._read().at(now)
            if state.holder is None or state.holder.who.owner != owner:
                raise LockLostError(f"{self._folder} {'is free' if state.holder is None else f'has {state.holder}'}")
            renewed = state.taken(state.holder.who, state.holder.duration_s, now)
            self._write(renewed)
            return renewed

    def release(self, owner: str) -> bool:
        """Release the lock of *owner*; return False if the host is not locked.

        Raises:
            LockHeldError: If another owner has the lock.
        """
        with self._guarded():
            state = self._read().at(self._clock())
            if state.holder is None:
                return False
            if state.holder.who.owner != owner:
                raise LockHeldError(f"{self._folder} is locked for {state.holder}; take it with perfdrv lock break")
            self._end(state)
            return True

    def leave(self, who: Requester) -> None:
        """Leave the queue, and release the lock if *who* took it meanwhile."""
        with self._guarded():
            state = self._read().at(self._clock()).left(who)
            if state.holder and state.holder.who.run == who.run:
                self._end(state)
            else:
                self._write(state)

    def break_lock(self) -> State:
        """Release the lock of any owner; return the former state."""
        with self._guarded():
            state = self._read().at(self._clock())
            if state.holder:
                self._end(state)
            return state

    def _end(self, state: State) -> None:
        """Remove the holder. On a full disk, remove the state; runs that wait queue again."""
        try:
            self._write(State(None, state.waiting))
        except _FullError:
            (self._folder / _STATE).unlink()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Hold the flock, so that no other process reads or writes the state."""
        with self._reported():
            self._folder.mkdir(parents=True, exist_ok=True)
            guard = self._open(_GUARD, os.O_RDWR)
        try:
            until = time.monotonic() + _GUARDED_WITHIN_S
            while True:
                try:
                    fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= until:
                        raise PerfError(
                            f"a process, which may be stopped, has held {self._folder / _GUARD} for more than "
                            f"{_GUARDED_WITHIN_S:g} s; find it with fuser, and end it"
                        ) from None
                    time.sleep(0.02)
            yield
        finally:
            os.close(guard)

    def _open(self, name: str, flags: int) -> int:
        """Open a file with the write permissions of the folder."""
        mode = self._folder.stat().st_mode & 0o666
        path = self._folder / name
        flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = os.open(path, flags, mode)
        with contextlib.suppress(PermissionError):
            # the umask would apply; another user's file has its mode already
            os.fchmod(opened, mode)
        return opened

    def _read(self) -> State:
        path = self._folder / _STATE
        with self._reported():
            try:
                text = path.read_text(encoding="utf-8")
            except FileNotFoundError:
                return State()
        try:
            document = json.loads(text)
            if document["version"] != 1:
                raise ValueError(f"version {document['version']}")
            return State.from_document(document)
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{path} is not the state of a lock ({error}); find out who wrote it, and remove it if no owner uses "
                "the host"
            ) from error

    def _write(self, state: State) -> None:
        new = self._folder / _NEW
        with self._reported():
            # a killed process may have left it, possibly of another user
            new.unlink(missing_ok=True)
            try:
                with os.fdopen(self._open(_NEW, os.O_WRONLY | os.O_EXCL), "w", encoding="utf-8") as stream:
                    stream.write(json.dumps(state.document(), indent=2) + "\n")
                    stream.flush()
                    os.fsync(stream.fileno())
            except OSError:
                # an incomplete file would take space that is needed
                new.unlink(missing_ok=True)
                raise
            new.replace(self._folder / _STATE)
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    @contextlib.contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            kind = _FullError if error.errno in (errno.ENOSPC, errno.EDQUOT) else PerfError
            raise kind(
                f"cannot use the lock of {self._folder}: {error.strerror}; free space there, let its group write "
                "to it, or choose another folder"
            ) from error


class _FullError(PerfError):
    """The disk is full."""
