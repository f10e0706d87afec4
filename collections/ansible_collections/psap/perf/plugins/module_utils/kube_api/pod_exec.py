"""Run a program in a container, and take what it writes piece by piece: it need not fit into memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode

import kubernetes.client
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, configured
from kubernetes.stream import ws_client
from websocket import WebSocketException

_WAKE_S = 1.0
_PROTOCOL = "v4.channel.k8s.io"
_LAST_WORDS = 2000


@dataclass(frozen=True, slots=True)
class Executed:
    """How a program in a container ended, and the end of what it said on its error output."""

    exit_code: int
    errors: str


def run_in_pod(
    access: Access,
    where: tuple[str, str, str],
    argv: Sequence[str],
    output: BinaryIO,
    check: Callable[[], None],
) -> Executed:
    """Run *argv* in *where*, namespace, pod and container; its output goes to *output*.

    :param access: how to reach the cluster.
    :param check: raises when the user asked to stop.
    :raises ClusterError: when the cluster does not let us, or cuts it off.
    """
    namespace, pod, container = where
    with configured(access) as configuration:
        socket = _opened(configuration, where, argv)
    errors = b""
    try:
        while socket.is_open():
            check()
            socket.update(timeout=_WAKE_S)
            output.write(socket.read_channel(ws_client.STDOUT_CHANNEL))
            errors = (errors + socket.read_channel(ws_client.STDERR_CHANNEL))[-_LAST_WORDS:]
        code = socket.returncode
    except (TypeError, KeyError, ValueError, OSError, WebSocketException) as error:
        raise ClusterError(
            f"{argv[0]} in pod {namespace}/{pod} (container {container}) was cut off: {_told(errors) or error}"
        ) from error
    finally:
        # close() leaves the connection open where the server ended the exchange
        socket.sock.shutdown()
    return Executed(int(code), _told(errors))


def _opened(configuration: Any, where: tuple[str, str, str], argv: Sequence[str]) -> Any:
    namespace, pod, container = where
    asked = [("container", container), ("stdout", "true"), ("stderr", "true"), *(("command", word) for word in argv)]
    url, headers = pod_address(configuration, f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(pod)}/exec", asked)
    try:
        return ws_client.WSClient(configuration, url, headers, capture_all=False, binary=True)
    except (kubernetes.client.ApiException, OSError, WebSocketException) as error:
        said = reason_of(error)
        raise ClusterError(f"cannot run {argv[0]} in pod {namespace}/{pod} (container {container}): {said}") from error


def pod_address(configuration: Any, path: str, asked: Sequence[tuple[str, str]]) -> tuple[str, dict[str, str]]:
    """The URL and the headers for a stream to a pod: of a subresource by its *path*, and what is *asked* of it."""
    headers = {"sec-websocket-protocol": _PROTOCOL}
    for credential in configuration.auth_settings().values():
        headers[credential["key"]] = credential["value"]
    return f"{str(configuration.host).rstrip('/').replace('http', 'ws', 1)}{path}?{urlencode(asked)}", headers


def reason_of(error: Exception) -> str:
    """What the API server says: the library puts the status and the headers of the answer in front of it."""
    body = str(getattr(error, "reason", None) or error).rpartition("-+-+-")[2].strip()
    try:
        return str(json.loads(body)["message"])
    except (ValueError, TypeError, KeyError):
        return body


def _told(errors: bytes) -> str:
    return errors.decode("utf-8", "replace").strip()
