"""A submitter in a pod, for the coordinator: both mirror the folder of the protocol through a stream.

If the stream breaks, for example when the API server restarts, another one continues at the same bytes.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.clocks import ClockOffset
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder, OwnFolder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.frames import Frame, FrameReader
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.in_pod import SILENCE_S
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.keeping import UNATTENDED_S
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pod_program import code

_TICK_S = 0.02
_PING_S = 5.0
_PAUSE_S = 1.0
_KILL_S = 1.0
# clocks of machines that are synchronized differ by milliseconds
_LARGEST_OFFSET_S = 0.5


class Stream(Protocol):
    """The connection to the program of a pod."""

    @property
    def last_words(self) -> str:
        """The last line of its standard error; empty without one."""

    async def send(self, data: bytes) -> None:
        """Send *data* to its standard input."""

    async def receive(self) -> bytes:
        """Return more of its standard output; empty when it has ended."""


class PodConnection(Protocol):
    """A pod in which a submitter can be started."""

    def stream(self, number: int) -> AbstractAsyncContextManager[Stream]:
        """Start the program of submitter *number*."""

    async def fate(self) -> str:
        """Return why the stream ended, as a phrase that follows the submitter's name; empty if the pod still runs."""


class MirroredSubmitter:
    """A submitter in a pod; it starts immediately."""

    def __init__(self, pod: PodConnection, folder: Folder, number: int) -> None:
        """Start the submitter of this *number* in *pod*; its files are in *folder*."""
        self._pod = pod
        self._folder = folder
        self._own = folder.of(number)
        self._number = number
        self._clock = RunClock.tied()
        self._offset: ClockOffset | None = None
        self._fate: str | None = None
        self._own.path.mkdir()
        self.task = asyncio.create_task(self._follow())

    def fate(self) -> str | None:
        """Return how it ended, as a phrase that follows its name; None while it runs."""
        return self._fate

    def kill(self) -> None:
        """End it immediately."""
        self._fate = self._fate or "was killed"
        self.task.cancel()

    async def _follow(self) -> None:
        heard_s = self._clock.now()
        fate = ""
        try:
            while not fate:
                try:
                    fate, words = await self._serve_stream()
                except ClusterError as error:
                    fate = await self._pod.fate()
                    if self._clock.now() - heard_s > UNATTENDED_S:
                        fate = fate or f"lost the connection to its pod: {error}"
                else:
                    heard_s = self._clock.now()
                    fate = fate or await self._pod.fate() or (f"ended ({words})" if words else "")
                await asyncio.sleep(0 if fate else _PAUSE_S)
        except (PerfError, OSError) as error:
            fate = f"failed: {error}"
        self._fate = self._fate or fate

    async def _serve_stream(self) -> tuple[str, str]:
        """Mirror through one stream; return how the submitter ended, empty if the stream ended before; and its errors.

        Raises:
            ClusterError: If the stream cannot be opened.
        """
        async with self._pod.stream(self._number) as stream:
            sending = asyncio.create_task(self._send(stream))
            try:
                fate = await self._receive(stream)
            except asyncio.CancelledError:
                with suppress(PerfError, TimeoutError):
                    await asyncio.wait_for(stream.send(Frame({"kill": True}).encode()), _KILL_S)
                raise
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
        return fate, stream.last_words

    async def _send(self, stream: Stream) -> None:
        """Send the code, the plan, the start and the stop, and pings meanwhile."""
        await stream.send(code())
        await stream.send(Frame({"have": {path.name: _size(path) for path in _growing(self._own)}}).encode())
        waiting = [self._folder.plan, self._folder.go, self._folder.stop]
        next_ping_s = 0.0
        while True:
            for path in [path for path in waiting if path.exists()]:
                waiting.remove(path)
                await stream.send(Frame({"file": path.name}, path.read_bytes()).encode())
            if self._clock.now() >= next_ping_s:
                next_ping_s = self._clock.now() + _PING_S
                await stream.send(Frame({"ping": self._clock.now()}).encode())
            await asyncio.sleep(_TICK_S)

    async def _receive(self, stream: Stream) -> str:
        """Process messages; return how the submitter ended, empty if the stream ended before, or is silent."""
        frames = FrameReader()
        with suppress(TimeoutError):
            while data := await asyncio.wait_for(stream.receive(), SILENCE_S):
                for frame in frames.feed(data):
                    if "ended" in frame.header:
                        return str(frame.header["ended"])
                    if "pong" in frame.header:
                        self._compare_clocks(float(frame.header["pong"]), float(frame.header["at_s"]))
                    else:
                        _write(self._own, frame)
        return ""

    def _compare_clocks(self, sent_s: float, there_s: float) -> None:
        offset = ClockOffset.of(sent_s, there_s, self._clock.now())
        if self._offset is None or offset.uncertainty_s < self._offset.uncertainty_s:
            self._offset = offset
            write_json(self._own.clock, offset.document(self._number))
        if self._offset.least_s > _LARGEST_OFFSET_S:
            raise PerfError(
                f"the clock of its node differs by {self._offset.offset_s:+.3f} s from this machine's, "
                f"which makes times wrong; synchronize both, for example with chrony"
            )


def _write(own: OwnFolder, frame: Frame) -> None:
    """Write a file of the submitter; files that it may not have are ignored."""
    name = frame.header.get("file")
    for path in _growing(own):
        if path.name == name:
            with path.open("ab") as stream:
                stream.write(frame.content)
    for path in (own.ready, own.progress, own.done):
        if path.name == name:
            with completing(path) as partial:
                partial.write_bytes(frame.content)


def _growing(own: OwnFolder) -> tuple[Path, ...]:
    """Return the files to which a submitter appends."""
    return own.log, own.sending, own.submissions


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
