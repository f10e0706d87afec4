"""Processes of this machine that the coordinator uses like pods: the same program through a stream."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters import in_pod
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.keeping import KeeperFiles
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.mirroring import MirroredSubmitter
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pod_program import start_command


@dataclass
class ProcessStream:
    """The pipes of a process."""

    process: Process
    last_words: str = ""

    async def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def receive(self) -> bytes:
        assert self.process.stdout is not None
        return await self.process.stdout.read(1 << 16)


@dataclass
class FakePod:
    """Starts the program of a pod on this machine, with a kubeconfig instead of an account."""

    kubeconfig: Path
    scratch: Path
    end: str = ""
    process: Process | None = None
    streams: int = 0

    @asynccontextmanager
    async def stream(self, number: int) -> AsyncIterator[ProcessStream]:
        command = [sys.executable, *start_command(in_pod.__name__, str(number))[1:]]
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig), "TMPDIR": str(self.scratch)}
        self.streams += 1
        if self.end:
            raise ClusterError("no such pod")
        self.process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, env=environment)
        stream = ProcessStream(self.process)
        try:
            yield stream
        finally:
            assert self.process.stdin is not None
            self.process.stdin.close()
            await self.process.wait()

    async def fate(self) -> str:
        return self.end

    def break_stream(self) -> None:
        """End the program of the stream; the submitter runs on."""
        assert self.process is not None
        self.process.kill()

    def lose(self, fate: str) -> None:
        """End all programs, as the deletion of a pod does."""
        self.end = fate
        keeper = KeeperFiles(self.scratch / "submitter").pid
        os.kill(int(keeper.read_text()), signal.SIGKILL)
        self.break_stream()


@dataclass
class FakePods:
    """Starts submitters in such pods."""

    server: str
    folder: Path
    pods: list[FakePod] = field(default_factory=list)

    def start(self, folder: Folder, number: int) -> MirroredSubmitter:
        kubeconfig, scratch = self.folder / "kubeconfig", self.folder / f"scratch-{number}"
        scratch.mkdir()
        write_yaml(
            kubeconfig,
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "fake", "cluster": {"server": self.server}}],
                "users": [{"name": "fake", "user": {}}],
                "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
                "current-context": "fake",
            },
        )
        self.pods.append(FakePod(kubeconfig, scratch))
        return MirroredSubmitter(self.pods[-1], folder, number)
