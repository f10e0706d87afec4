"""Run a program in a container, with its input and output as a stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import aiohttp
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient

_STDIN, _STDOUT, _STDERR, _RESULT = range(4)
_PIECE = 1 << 15
_LAST_WORDS = 2000


@dataclass(slots=True)
class PodStream:
    """The connection to a program in a container."""

    socket: aiohttp.ClientWebSocketResponse
    _errors: bytes = field(default=b"", init=False)
    _result: str = field(default="", init=False)

    async def send(self, data: bytes) -> None:
        """Send *data* to the program's standard input.

        Raises:
            ClusterError: If the connection is broken.
        """
        try:
            for start in range(0, len(data), _PIECE):
                await self.socket.send_bytes(bytes((_STDIN,)) + data[start : start + _PIECE])
        except (aiohttp.ClientError, OSError) as error:
            raise ClusterError(f"the connection is broken: {error}") from error

    async def receive(self) -> bytes:
        """Return more of the program's standard output; empty when the connection has ended."""
        async for message in self.socket:
            if message.type is not aiohttp.WSMsgType.BINARY or len(message.data) < 2:
                continue
            channel, data = message.data[0], message.data[1:]
            if channel == _STDOUT:
                return bytes(data)
            if channel == _STDERR:
                self._errors = (self._errors + data)[-_LAST_WORDS:]
            elif channel == _RESULT:
                self._result = _failure(data)
        return b""

    @property
    def last_words(self) -> str:
        """The last line of the program's standard error, else why it could not run; empty without both."""
        lines = self._errors.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else self._result


@asynccontextmanager
async def pod_stream(
    client: ApiClient, namespace: str, pod: str, container: str, argv: Sequence[str]
) -> AsyncIterator[PodStream]:
    """Run *argv* in a container until the block ends.

    Raises:
        ClusterError: If the cluster refuses the request.
    """
    path = f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(pod)}/exec"
    options = [("container", container), *((name, "true") for name in ("stdin", "stdout", "stderr"))]
    try:
        async with client.channels(path, [*options, *(("command", word) for word in argv)]) as socket:
            yield PodStream(socket)
    except aiohttp.WSServerHandshakeError as error:
        raise ClusterError(f"cannot run {argv[0]} in pod {namespace}/{pod}: {error.status} {error.message}") from error
    except (aiohttp.ClientError, OSError) as error:
        raise ClusterError(f"cannot run {argv[0]} in pod {namespace}/{pod}: {error}") from error


def _failure(data: bytes) -> str:
    """Return the message of the cluster if it could not run the program; empty if it ended by itself or was killed."""
    try:
        result = json.loads(data)
        ran = result.get("status") == "Success" or result.get("reason") == "NonZeroExitCode"
        return "" if ran else str(result.get("message", ""))
    except (ValueError, AttributeError):
        return ""
