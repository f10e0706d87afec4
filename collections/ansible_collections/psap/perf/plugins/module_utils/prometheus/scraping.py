"""Scrape a monitor's targets through the API server: this needs no pod of ours in the cluster."""

from __future__ import annotations

import base64
import http.client
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import Forwarded
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.monitors import (
    POD_MONITOR,
    Key,
    Request,
    Target,
    endpoints_of,
    namespaces_of,
    selector_of,
    targets_of_pod,
    targets_of_slice,
)

_SERVICE_NAME = "kubernetes.io/service-name"
_ACCEPT = "text/plain;version=0.0.4"
_OK = 200


class Source(Protocol):
    """The required methods of a cluster."""

    def get(self, query: Query) -> Manifest | None:
        """Return one object."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        """Return objects and their resourceVersion."""


class TargetError(Exception):
    """A target does not respond, or cannot be scraped; the message has the reason."""


def targets_of(source: Source, monitor: Manifest) -> list[Target]:
    """Return the targets of *monitor*, each once.

    Raises:
        ClusterError: If the cluster does not respond.
    """
    endpoints, chosen = endpoints_of(monitor), selector_of(monitor) or None
    found: list[Target] = []
    for namespace in namespaces_of(monitor):
        if monitor["kind"] == POD_MONITOR:
            pods, _version = source.list(Query("v1", "Pod", namespace, label_selector=chosen))
            found += [target for pod in pods for target in targets_of_pod(endpoints, pod)]
            continue
        services, _version = source.list(Query("v1", "Service", namespace, label_selector=chosen))
        for service in services:
            slices = Query(
                "discovery.k8s.io/v1",
                "EndpointSlice",
                service["metadata"]["namespace"],
                label_selector=f"{_SERVICE_NAME}={service['metadata']['name']}",
            )
            found += [target for each in source.list(slices)[0] for target in targets_of_slice(endpoints, each)]
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Scraper:
    """Scrapes targets.

    Attributes:
        source: The cluster.
        namespace: Namespace of the monitor and of its Secrets and ConfigMaps.
        own_token: Creates a token like Prometheus' own.
        hide: Called with every secret before it is used.
        connect: Opens a connection to a port of a pod, until its block ends.
        timeout_s: How long to wait for a target's response.
    """

    source: Source
    namespace: str
    own_token: Callable[[], str]
    hide: Callable[[str], None]
    connect: Callable[[str, str, int], AbstractContextManager[Forwarded]]
    timeout_s: float

    def page(self, target: Target) -> str:
        """Return the page of *target*.

        Raises:
            TargetError: If it does not respond.
        """
        headers = {"Accept": _ACCEPT, **dict(self._authorization(target.request))}
        verifying = self._verifying(target.request)
        try:
            with self.connect(target.namespace, target.pod, target.port) as connection:
                return _asked(connection, target, headers, verifying, self.timeout_s)
        except ClusterError as error:
            raise TargetError(str(error)) from error

    def _authorization(self, request: Request) -> Iterator[tuple[str, str]]:
        if request.token is not None:
            credentials = self._value(request.token).strip()
        elif request.own_token:
            credentials = self.own_token()
        else:
            return
        self.hide(credentials)
        if request.user is not None:
            joined = f"{self._value(request.user)}:{credentials}"
            credentials = base64.b64encode(joined.encode()).decode()
            self.hide(credentials)
        yield "Authorization", f"{request.kind} {credentials}"

    def _verifying(self, request: Request) -> ssl.SSLContext | None:
        if request.scheme != "https":
            return None
        context = ssl.create_default_context()
        if request.authority is None:
            # the API server connects to the pod, by its node
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return context
        context.check_hostname = bool(request.server)
        try:
            context.load_verify_locations(cadata=self._value(request.authority))
        except (ssl.SSLError, ValueError) as error:
            raise TargetError(f"cannot use the certificates in {request.authority.name}: {error}") from error
        return context

    def _value(self, key: Key) -> str:
        found = self.source.get(Query("v1", key.kind, self.namespace, key.name))
        value = ((found or {}).get("data") or {}).get(key.key)
        if value is None:
            raise TargetError(f"{key.kind} {self.namespace}/{key.name} with {key.key} of the monitor is missing")
        return base64.b64decode(value).decode() if key.kind == "Secret" else str(value)


def _asked(
    connection: Forwarded, target: Target, headers: dict[str, str], verifying: ssl.SSLContext | None, timeout_s: float
) -> str:
    client = http.client.HTTPConnection(target.pod, target.port, timeout=timeout_s)
    try:
        connection.socket.settimeout(timeout_s)
        client.sock = connection.socket
        if verifying is not None:
            client.sock = verifying.wrap_socket(connection.socket, server_hostname=target.request.server or None)
        client.request("GET", target.request.path, headers=headers)
        answer = client.getresponse()
        body = answer.read()
    except TimeoutError as error:
        raise TargetError(f"no response within {timeout_s:g} s") from error
    except (OSError, http.client.HTTPException) as error:
        raise TargetError(connection.error() or str(error) or type(error).__name__) from error
    finally:
        client.close()
    if answer.status != _OK:
        raise TargetError(f"responds with {answer.status} {answer.reason}")
    return body.decode("utf-8", "replace")


def target_document(target: Target) -> dict[str, Any]:
    """Return *target* for a document."""
    return {
        "namespace": target.namespace,
        "pod": target.pod,
        "port": target.port,
        "scheme": target.request.scheme,
        "path": target.request.path,
    }
