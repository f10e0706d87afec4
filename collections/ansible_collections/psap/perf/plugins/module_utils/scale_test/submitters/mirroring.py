"""A submitter in a pod, for the coordinator: both mirror the folder of the protocol through one stream."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.clocks import ClockOffset
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder, OwnFolder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.frames import Frame, FrameReader
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.in_pod import SILENCE_S
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pod_program import code

_TICK_S = 0.02
_PING_S = 5.0
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
        """End it immediately: without a connection, the program in the pod ends."""
        self._fate = self._fate or "was killed"
        self.task.cancel()

    async def _follow(self) -> None:
        try:
            async with self._pod.stream(self._number) as stream:
                sending = asyncio.create_task(self._send(stream))
                try:
                    fate = await self._receive(stream)
                finally:
                    sending.cancel()
                    await asyncio.gather(sending, return_exceptions=True)
            fate = fate or await self._pod.fate()
            words = f"ended ({stream.last_words})" if stream.last_words else "lost the connection to its pod"
            self._fate = self._fate or fate or words
        except (PerfError, OSError) as error:
            self._fate = self._fate or f"failed: {error}"

    async def _send(self, stream: Stream) -> None:
        """Send the code, the plan, the start and the stop, and pings meanwhile."""
        await stream.send(code())
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
        """Process messages; return how the submitter ended, empty if the connection ended before."""
        frames = FrameReader()
        try:
            while data := await asyncio.wait_for(stream.receive(), SILENCE_S):
                for frame in frames.feed(data):
                    if "ended" in frame.header:
                        return str(frame.header["ended"])
                    if "pong" in frame.header:
                        self._compare_clocks(float(frame.header["pong"]), float(frame.header["at_s"]))
                    else:
                        _write(self._own, frame)
        except TimeoutError:
            return f"did not respond for {SILENCE_S:g} s"
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
    for path in (own.log, own.sending, own.submissions):
        if path.name == name:
            with path.open("ab") as stream:
                stream.write(frame.content)
    for path in (own.ready, own.progress, own.done):
        if path.name == name:
            with completing(path) as partial:
                partial.write_bytes(frame.content)
