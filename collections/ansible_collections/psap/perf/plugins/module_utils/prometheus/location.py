"""Find Prometheus: at the user's address, else in a lab, else behind a route of OpenShift's monitoring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Address

MONITORING = "openshift-monitoring"
# the first also has the series of user workload monitoring
ROUTES = ("thanos-querier", "prometheus-k8s")
SERVICE_ACCOUNT = f"{MONITORING}/prometheus-k8s"
_INGRESS_CA = ("openshift-config-managed", "default-ingress-cert", "ca-bundle.crt")
_ROUTE = "route.openshift.io/v1"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# longer than the range queries of a long test take
_TOKEN_S = 3600


class Source(Protocol):
    """The required methods of a cluster."""

    @property
    def proxy(self) -> str | None:
        """Return the proxy to the API server."""

    def lab(self) -> dict[str, str] | None:
        """Return the description of a lab; None for other clusters."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Return whether the cluster serves the kind."""

    def get(self, query: Query) -> Manifest | None:
        """Return one object."""

    def service_account_token(self, namespace: str, name: str, lasting_s: int) -> str:
        """Return a token of a service account."""


@dataclass(frozen=True, slots=True)
class PrometheusOptions:
    """The user's options for the connection.

    Attributes:
        url: Its address; empty to find it.
        token: A bearer token for that address.
        authority: File with the certificates of its authority.
        service_account: On OpenShift, the service account whose token is used: ``namespace/name``.
        proxy: Proxy to that address; for a route, the API server's proxy is used.
    """

    url: str = ""
    token: str | None = None
    authority: str = ""
    service_account: str = SERVICE_ACCOUNT
    proxy: str | None = None


class NoPrometheusError(ClusterError):
    """No Prometheus was found."""


def find(cluster: Callable[[], Source], options: PrometheusOptions) -> Address:
    """Return its address. A token that is created for it is only in the result.

    Args:
        cluster: Called only without a URL.

    Raises:
        NoPrometheusError: If none is found.
    """
    if options.url:
        return _given(options)
    source = cluster()
    lab = source.lab()
    if lab is not None:
        return _of_lab(lab)
    if not source.serves(_ROUTE, "Route"):
        raise NoPrometheusError("cannot find Prometheus: the cluster is neither a lab nor OpenShift; pass its url")
    return _of_openshift(source, options)


def _given(options: PrometheusOptions) -> Address:
    parts = urlsplit(options.url)
    if "@" in parts.netloc:
        raise UsageError(
            "the url of a Prometheus must not contain credentials, since artifacts keep it; "
            f"pass a token for {parts.hostname}"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{options.url!r} is not an http(s) URL of a Prometheus")
    if options.token and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise UsageError(f"the token for {options.url} would be sent in plain text; pass an https URL")
    proxy = None if parts.hostname in _LOOPBACK else options.proxy
    return Address(options.url, "as given", options.token, _authority(options.authority), proxy)


def _authority(path: str) -> str | None:
    if not path:
        return None
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the certificates {path} for Prometheus: {error}") from error


def _of_lab(lab: dict[str, str]) -> Address:
    url = lab.get("prometheus-url", "")
    # a lab runs on this machine: it writes no other address
    if urlsplit(url).hostname not in _LOOPBACK:
        raise NoPrometheusError(
            f"the lab {lab.get('name', '')} has no Prometheus; perflab up --profile openshift starts one"
        )
    data = lab.get("prometheus-data")
    return Address(url, "of the lab", data=Path(data) if data else None)


def _of_openshift(source: Source, options: PrometheusOptions) -> Address:
    for name in ROUTES:
        route = source.get(Query(_ROUTE, "Route", MONITORING, name))
        if route is not None:
            break
    else:
        raise NoPrometheusError(f"{MONITORING} has none of the routes {', '.join(ROUTES)}; pass Prometheus' url")
    namespace, slash, account = options.service_account.partition("/")
    if not slash or not account:
        raise UsageError(f"{options.service_account!r} is not a service account; write namespace/name")
    token = source.service_account_token(namespace, account, _TOKEN_S)
    return Address(
        f"https://{route['spec']['host']}", f"route {MONITORING}/{name}", token, _ingress_ca(source), source.proxy
    )


def _ingress_ca(source: Source) -> str | None:
    """Return the authority of the cluster's routes, if it publishes one; otherwise the system's may suffice."""
    namespace, name, key = _INGRESS_CA
    found = source.get(Query("v1", "ConfigMap", namespace, name))
    return ((found or {}).get("data") or {}).get(key)
