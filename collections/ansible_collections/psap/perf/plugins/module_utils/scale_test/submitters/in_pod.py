"""The program of a stream to a submitter pod: it mirrors the folder of the submitter to the coordinator.

The submitter runs on if the stream breaks, and another stream continues at the same bytes.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters import keeping
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.frames import Frame, FrameReader
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pod_program import run_again

SILENCE_S = 20.0
"""After this time without a message, each side considers a stream broken."""
_TICK_S = 0.05
_READ = 1 << 16


def main(number: str) -> None:
    """Serve one stream to submitter *number*, on standard input and output."""
    try:
        asyncio.run(_Relay(int(number)).run())
    except PerfError as error:
        raise SystemExit(hide(f"Error: {error}")) from error


class _Relay:
    def __init__(self, number: int) -> None:
        self._number = number
        self._folder = Folder(Path(tempfile.gettempdir(), "submitter"))
        self._own = self._folder.of(number)
        self._keeper = keeping.KeeperFiles(self._folder.path)
        # how much of each file the coordinator has; None before it reports that
        self._sent: dict[str, int] | None = None

    async def run(self) -> None:
        """Serve until the submitter or the connection ends."""
        self._folder.path.mkdir(exist_ok=True)
        listening = asyncio.create_task(self._listen())
        try:
            while not listening.done():
                await asyncio.wait({listening}, timeout=_TICK_S)
                self._keeper.attended.touch()
                # its end first, so that everything before its end is sent
                fate = self._keeper.fate()
                self._send_files()
                if fate is not None:
                    _send(Frame({"ended": fate}))
                    return
            listening.result()
        finally:
            listening.cancel()

    async def _listen(self) -> None:
        """Process messages until the coordinator closes the stream, or is silent."""
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        frames = FrameReader()
        with suppress(TimeoutError):
            while data := await asyncio.wait_for(reader.read(_READ), SILENCE_S):
                for frame in frames.feed(data):
                    self._receive(frame)

    def _receive(self, frame: Frame) -> None:
        if "ping" in frame.header:
            _send(Frame({"pong": frame.header["ping"], "at_s": time.time()}))
        elif "have" in frame.header:
            self._sent = dict(frame.header["have"])
        elif "kill" in frame.header:
            self._keeper.killed.touch()
        else:
            self._write(self._folder.path / Path(frame.header["file"]).name, frame.content)

    def _write(self, path: Path, content: bytes) -> None:
        if path.exists():
            return
        with completing(path) as partial:
            partial.write_bytes(content)
        if path == self._folder.plan:
            self._keeper.attended.touch()
            command = run_again(keeping.__name__, str(self._folder.path), str(self._number))
            with (self._folder.path / "keeper.log").open("wb") as log:
                subprocess.Popen(  # noqa: S603 - this Python, our own program
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )

    def _send_files(self) -> None:
        if self._sent is None:
            return
        own = self._own
        # read in this order and sent in the other: each row was announced before
        rows, sending = self._grown(own.submissions), self._grown(own.sending)
        for path, content in ((own.log, self._grown(own.log)), (own.sending, sending), (own.submissions, rows)):
            if content:
                _send(Frame({"file": path.name}, content))
        for path in (own.progress, own.ready, own.done):
            if path.exists() and self._sent.get(path.name) != (version := path.stat().st_mtime_ns):
                self._sent[path.name] = version
                _send(Frame({"file": path.name}, path.read_bytes()))

    def _grown(self, path: Path) -> bytes:
        """Return what was appended to the file since the last call."""
        if self._sent is None or not path.exists():
            return b""
        with path.open("rb") as stream:
            stream.seek(self._sent.get(path.name, 0))
            content = stream.read()
        self._sent[path.name] = self._sent.get(path.name, 0) + len(content)
        return content


def _send(frame: Frame) -> None:
    pending = memoryview(frame.encode())
    while pending:
        pending = pending[os.write(1, pending) :]
