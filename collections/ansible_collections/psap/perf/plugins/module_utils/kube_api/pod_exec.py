"""Run a program in a container, and read its output in pieces: it need not fit into memory."""

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
    """The exit code of a program in a container, and the end of its error output."""

    exit_code: int
    errors: str


def run_in_pod(
    access: Access,
    where: tuple[str, str, str],
    argv: Sequence[str],
    output: BinaryIO,
    check: Callable[[], None],
) -> Executed:
    """Run *argv* in a container, and write its output to *output*.

    Args:
        where: Namespace, pod and container.
        check: Raises if the user interrupts the run.

    Raises:
        ClusterError: If the cluster refuses the request, or the connection breaks.
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
            f"{argv[0]} in pod {namespace}/{pod} (container {container}) was cut off: {_decode(errors) or error}"
        ) from error
    finally:
        # close() leaves the connection open if the server ended the exchange
        socket.sock.shutdown()
    return Executed(int(code), _decode(errors))


def _opened(configuration: Any, where: tuple[str, str, str], argv: Sequence[str]) -> Any:
    namespace, pod, container = where
    options = [("container", container), ("stdout", "true"), ("stderr", "true"), *(("command", word) for word in argv)]
    url, headers = pod_address(configuration, f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(pod)}/exec", options)
    try:
        return ws_client.WSClient(configuration, url, headers, capture_all=False, binary=True)
    except (kubernetes.client.ApiException, OSError, WebSocketException) as error:
        reason = reason_of(error)
        raise ClusterError(
            f"cannot run {argv[0]} in pod {namespace}/{pod} (container {container}): {reason}"
        ) from error


def pod_address(configuration: Any, path: str, options: Sequence[tuple[str, str]]) -> tuple[str, dict[str, str]]:
    """Return the URL and the headers for a stream to a pod.

    Args:
        path: Path of the subresource.
        options: Its query parameters.
    """
    headers = {"sec-websocket-protocol": _PROTOCOL}
    for credential in configuration.auth_settings().values():
        headers[credential["key"]] = credential["value"]
    return f"{str(configuration.host).rstrip('/').replace('http', 'ws', 1)}{path}?{urlencode(options)}", headers


def reason_of(error: Exception) -> str:
    """Return the API server's message, without the status and headers that the library puts in front of it."""
    body = str(getattr(error, "reason", None) or error).rpartition("-+-+-")[2].strip()
    try:
        return str(json.loads(body)["message"])
    except (ValueError, TypeError, KeyError):
        return body


def _decode(errors: bytes) -> str:
    return errors.decode("utf-8", "replace").strip()
