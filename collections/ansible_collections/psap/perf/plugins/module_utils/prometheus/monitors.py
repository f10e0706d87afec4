"""The targets of a ServiceMonitor or a PodMonitor: the ports of pods, and the requests to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

POD_MONITOR = "PodMonitor"
_OPERATORS = {"In": "in", "NotIn": "notin"}


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a Secret or a ConfigMap."""

    kind: str
    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Request:
    """The request to an endpoint.

    Attributes:
        scheme: ``http`` or ``https``.
        path: Path and query.
        token: The value after *kind* in the header Authorization; the password of basic authentication.
        user: The user of basic authentication.
        own_token: Whether Prometheus sends the token of its service account.
        authority: Certificates of the endpoint's authority; without them it is not verified.
        server: The name in the endpoint's certificate.
    """

    scheme: str = "http"
    path: str = "/metrics"
    kind: str = "Bearer"
    token: Key | None = None
    user: Key | None = None
    own_token: bool = False
    authority: Key | None = None
    server: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An entry of a monitor's endpoints: a port, by its name in the Service or container, or a number."""

    port: str
    container_port: str
    request: Request


@dataclass(frozen=True, slots=True)
class Target:
    """A port of a pod."""

    namespace: str
    pod: str
    port: int
    request: Request

    def __str__(self) -> str:
        return f"{self.request.scheme}://{self.namespace}/{self.pod}:{self.port}{self.request.path}"


def endpoints_of(monitor: Manifest) -> list[Endpoint]:
    """Return the endpoints of *monitor*, in its order."""
    spec = monitor["spec"]
    entries = spec.get("podMetricsEndpoints" if monitor["kind"] == POD_MONITOR else "endpoints") or []
    return [
        Endpoint(
            str(entry.get("port") or ""), str(entry.get("portNumber") or entry.get("targetPort") or ""), _request(entry)
        )
        for entry in entries
    ]


def _request(entry: Mapping[str, Any]) -> Request:
    authorization, basic, tls = (entry.get(name) or {} for name in ("authorization", "basicAuth", "tlsConfig"))
    token = authorization.get("credentials") or entry.get("bearerTokenSecret") or basic.get("password")
    path = str(entry.get("path") or "/metrics")
    asked = urlencode(entry.get("params") or {}, doseq=True)
    authority = {} if tls.get("insecureSkipVerify") else tls.get("ca") or {}
    kinds = (("Secret", authority.get("secret")), ("ConfigMap", authority.get("configMap")))
    return Request(
        scheme=str(entry.get("scheme") or "http").lower(),
        path=f"{path}?{asked}" if asked else path,
        kind="Basic" if basic else str(authorization.get("type") or "Bearer"),
        token=_key("Secret", token),
        user=_key("Secret", basic.get("username")),
        own_token=bool(entry.get("bearerTokenFile")),
        authority=next((key for kind, each in kinds if (key := _key(kind, each))), None),
        server=str(tls.get("serverName") or ""),
    )


def _key(kind: str, reference: Mapping[str, Any] | None) -> Key | None:
    if not reference or not reference.get("name") or not reference.get("key"):
        return None
    return Key(kind, str(reference["name"]), str(reference["key"]))


def selector_of(monitor: Manifest) -> str:
    """Return its selector in the format of kubectl's ``-l``; empty for all."""
    selector = monitor["spec"].get("selector") or {}
    parts = [f"{name}={value}" for name, value in sorted((selector.get("matchLabels") or {}).items())]
    for each in selector.get("matchExpressions") or []:
        name, operator = each["key"], each["operator"]
        if operator in _OPERATORS:
            parts.append(f"{name} {_OPERATORS[operator]} ({','.join(each['values'])})")
        else:
            parts.append(name if operator == "Exists" else f"!{name}")
    return ",".join(parts)


def namespaces_of(monitor: Manifest) -> list[str | None]:
    """Return the namespaces that it selects; ``[None]`` for all."""
    chosen = monitor["spec"].get("namespaceSelector") or {}
    if chosen.get("any"):
        return [None]
    return list(chosen.get("matchNames") or [monitor["metadata"]["namespace"]])


def targets_of_slice(endpoints: Iterable[Endpoint], found: Manifest) -> Iterator[Target]:
    """Yield the targets that an EndpointSlice of a Service of the monitor has.

    An endpoint without a pod, such as of a Service without a selector, is not a target.
    """
    pods = [
        (str(each["targetRef"].get("namespace") or found["metadata"]["namespace"]), str(each["targetRef"]["name"]))
        for each in found.get("endpoints") or []
        if (each.get("targetRef") or {}).get("kind") == "Pod"
    ]
    ports = [(str(each.get("name") or ""), int(each["port"])) for each in found.get("ports") or [] if each.get("port")]
    for endpoint in endpoints:
        for name, number in ports:
            if endpoint.container_port == str(number) or (endpoint.port and endpoint.port == name):
                yield from (Target(namespace, pod, number, endpoint.request) for namespace, pod in pods)


def targets_of_pod(endpoints: Iterable[Endpoint], pod: Manifest) -> Iterator[Target]:
    """Yield the targets of a pod of the monitor; none if it has ended."""
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return
    metadata = pod["metadata"]
    ports = [
        (str(each.get("name") or ""), int(each["containerPort"]))
        for container in pod["spec"]["containers"]
        for each in container.get("ports") or []
    ]
    for endpoint in endpoints:
        names = {endpoint.port, endpoint.container_port} - {""}
        for name, number in ports:
            if names & {name, str(number)}:
                yield Target(str(metadata["namespace"]), str(metadata["name"]), number, endpoint.request)


def samples_in(page: str) -> int:
    """Return how many samples a page of metrics has."""
    return sum(1 for line in page.splitlines() if line.strip() and not line.startswith("#"))
