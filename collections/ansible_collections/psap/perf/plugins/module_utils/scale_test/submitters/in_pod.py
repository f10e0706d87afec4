"""The program of a submitter pod: it starts the process of a submitter, and mirrors its folder to the coordinator."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.frames import Frame, FrameReader
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.process import (
    LocalProcesses,
    SubmitterProcess,
)

SILENCE_S = 60.0
"""After this time without a message, each side considers the other lost."""
_TICK_S = 0.05
_READ = 1 << 16


def main(number: str) -> None:
    """Run submitter *number* by the messages on the standard input, with the credentials of the pod's account."""
    try:
        asyncio.run(_Pod(int(number)).run())
    except PerfError as error:
        sys.exit(hide(f"Error: {error}"))


class _Pod:
    def __init__(self, number: int) -> None:
        self._number = number
        self._folder = Folder(Path(tempfile.mkdtemp(prefix="submitter-")))
        self._own = self._folder.of(number)
        self._process: SubmitterProcess | None = None
        self._sent: dict[Path, int] = {}

    async def run(self) -> None:
        """Serve until the process or the connection ends."""
        listening = asyncio.create_task(self._listen())
        try:
            while not listening.done():
                await asyncio.wait({listening}, timeout=_TICK_S)
                # its end first, so that everything before its end is sent
                fate = self._process.fate() if self._process else None
                self._send_files()
                if fate is not None:
                    _send(Frame({"ended": fate}))
                    return
            listening.result()
        finally:
            listening.cancel()
            if self._process is not None:
                self._process.kill()

    async def _listen(self) -> None:
        """Process messages until the coordinator ends."""
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        frames = FrameReader()
        while data := await asyncio.wait_for(reader.read(_READ), SILENCE_S):
            for frame in frames.feed(data):
                self._receive(frame)

    def _receive(self, frame: Frame) -> None:
        if "ping" in frame.header:
            _send(Frame({"pong": frame.header["ping"], "at_s": time.time()}))
            return
        path = self._folder.path / Path(frame.header["file"]).name
        with completing(path) as partial:
            partial.write_bytes(frame.content)
        if path == self._folder.plan:
            self._process = LocalProcesses(load_endpoint()).start(self._folder, self._number)

    def _send_files(self) -> None:
        own = self._own
        # read in this order and sent in the other: each row was announced before
        rows, sending = self._grown(own.submissions), self._grown(own.sending)
        for path, content in ((own.log, self._grown(own.log)), (own.sending, sending), (own.submissions, rows)):
            if content:
                _send(Frame({"file": path.name, "append": True}, content))
        for path in (own.progress, own.ready, own.done):
            if path.exists() and self._sent.get(path) != (version := path.stat().st_mtime_ns):
                self._sent[path] = version
                _send(Frame({"file": path.name}, path.read_bytes()))

    def _grown(self, path: Path) -> bytes:
        """Return what was appended to the file since the last call."""
        if not path.exists():
            return b""
        with path.open("rb") as stream:
            stream.seek(self._sent.get(path, 0))
            content = stream.read()
        self._sent[path] = self._sent.get(path, 0) + len(content)
        return content


def _send(frame: Frame) -> None:
    pending = memoryview(frame.encode())
    while pending:
        pending = pending[os.write(1, pending) :]
