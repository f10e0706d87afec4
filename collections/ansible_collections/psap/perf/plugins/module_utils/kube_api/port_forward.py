"""Connect to a port of a pod through the API server and the kubelet, like ``kubectl port-forward``."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

import kubernetes.client
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import pod_address, reason_of
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, configured
from kubernetes.stream import ws_client
from websocket import WebSocketException


@dataclass(frozen=True, slots=True)
class Forwarded:
    """The connection, and a function that returns the other side's error; empty without one."""

    socket: socket.socket
    error: Callable[[], str]


@contextlib.contextmanager
def forwarded(access: Access, namespace: str, pod: str, port: int) -> Iterator[Forwarded]:
    """Connect to *port* of a pod until the block ends.

    Raises:
        ClusterError: If the cluster refuses the request, or the pod does not exist.
    """
    path = f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(pod)}/portforward"
    with configured(access) as configuration:
        url, headers = pod_address(configuration, path, [("ports", str(port))])
        try:
            websocket = ws_client.create_websocket(configuration, url, headers)
        except (kubernetes.client.ApiException, OSError, WebSocketException) as error:
            reason = reason_of(error)
            raise ClusterError(f"cannot reach port {port} of pod {namespace}/{pod}: {reason}") from error
    tunnel = ws_client.PortForward(websocket, [port])
    try:
        yield Forwarded(tunnel.socket(port), lambda: str(tunnel.error(port) or "").strip())
    finally:
        tunnel.close()
