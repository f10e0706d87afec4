"""Where Prometheus is: as the user says, else as a lab says, else behind a route of OpenShift's monitoring."""

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
# the first also knows what user workload monitoring scraped
ROUTES = ("thanos-querier", "prometheus-k8s")
SERVICE_ACCOUNT = f"{MONITORING}/prometheus-k8s"
_INGRESS_CA = ("openshift-config-managed", "default-ingress-cert", "ca-bundle.crt")
_ROUTE = "route.openshift.io/v1"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# longer than the ranges of a long test take
_TOKEN_S = 3600


class Source(Protocol):
    """What is needed of a cluster."""

    @property
    def proxy(self) -> str | None:
        """The proxy to the API server."""

    def lab(self) -> dict[str, str] | None:
        """What a lab says of itself."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the kind is there."""

    def get(self, query: Query) -> Manifest | None:
        """One object."""

    def service_account_token(self, namespace: str, name: str, lasting_s: int) -> str:
        """A token of a service account."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user says of it.

    :param url: its address; empty to look for it.
    :param token: a bearer token for that address.
    :param authority: file with certificates that sign its own.
    :param service_account: on OpenShift, whose token is used: ``namespace/name``.
    :param proxy: to that address; a route is reached as the API server of its cluster is.
    """

    url: str = ""
    token: str | None = None
    authority: str = ""
    service_account: str = SERVICE_ACCOUNT
    proxy: str | None = None


class NoPrometheusError(ClusterError):
    """There is none that we know how to find."""


def find(cluster: Callable[[], Source], wanted: Wanted) -> Address:
    """Where it is. A token that is made for it is in nothing but the answer.

    :param cluster: reached only when no address is given.
    :raises NoPrometheusError: when there is none.
    """
    if wanted.url:
        return _given(wanted)
    source = cluster()
    lab = source.lab()
    if lab is not None:
        return _of_lab(lab)
    if not source.serves(_ROUTE, "Route"):
        raise NoPrometheusError(
            "where Prometheus is cannot be known: the cluster is neither a lab nor an OpenShift; give its url"
        )
    return _of_openshift(source, wanted)


def _given(wanted: Wanted) -> Address:
    parts = urlsplit(wanted.url)
    if "@" in parts.netloc:
        raise UsageError(
            f"the url of a Prometheus must not hold credentials: artifacts keep it; give {parts.hostname} a token"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{wanted.url!r} is not an http(s) URL of a Prometheus")
    if wanted.token and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise UsageError(f"the token for {wanted.url} would be sent in plain text; give an https URL")
    proxy = None if parts.hostname in _LOOPBACK else wanted.proxy
    return Address(wanted.url, "as given", wanted.token, _authority(wanted.authority), proxy)


def _authority(path: str) -> str | None:
    if not path:
        return None
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the certificates {path} for Prometheus cannot be read: {error}") from error


def _of_lab(lab: dict[str, str]) -> Address:
    url = lab.get("prometheus-url", "")
    # a lab runs on this machine: an address elsewhere is not one that a lab wrote
    if urlsplit(url).hostname not in _LOOPBACK:
        raise NoPrometheusError(
            f"the lab {lab.get('name', '')} has no Prometheus; perflab up --profile openshift brings one"
        )
    data = lab.get("prometheus-data")
    return Address(url, "of the lab", data=Path(data) if data else None)


def _of_openshift(source: Source, wanted: Wanted) -> Address:
    for name in ROUTES:
        route = source.get(Query(_ROUTE, "Route", MONITORING, name))
        if route is not None:
            break
    else:
        raise NoPrometheusError(f"{MONITORING} has none of the routes {', '.join(ROUTES)}; give Prometheus' url")
    namespace, slash, account = wanted.service_account.partition("/")
    if not slash or not account:
        raise UsageError(f"{wanted.service_account!r} is not a service account: write namespace/name")
    token = source.service_account_token(namespace, account, _TOKEN_S)
    return Address(
        f"https://{route['spec']['host']}", f"route {MONITORING}/{name}", token, _ingress_ca(source), source.proxy
    )


def _ingress_ca(source: Source) -> str | None:
    """What signs the routes of this cluster, as it publishes that itself; the system's own may do too."""
    namespace, name, key = _INGRESS_CA
    found = source.get(Query("v1", "ConfigMap", namespace, name))
    return ((found or {}).get("data") or {}).get(key)
