"""The components to scrape, the interval, and the URLs of their metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, environment_proxy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.selection import (
    APISERVER,
    COMPONENTS,
    OPTIONAL,
)

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_METRICS = "/metrics"


@dataclass(frozen=True, slots=True)
class Target:
    """One component: the server of its page, and the page's path."""

    component: str
    endpoint: ApiEndpoint
    path: str


@dataclass(frozen=True, slots=True)
class MetricsPlan:
    """The interval between two scrapes, and URLs by component, except the API server's."""

    interval_s: float
    endpoints: Mapping[str, str]

    def targets(self, api: ApiEndpoint) -> list[Target]:
        """Return the components that can be scraped; the API server through the connection *api*."""
        found = [Target(APISERVER, api, _METRICS)]
        for component in COMPONENTS:
            if component != APISERVER and component in self.endpoints:
                found.append(_target(component, self.endpoints[component], api))
        return found

    def unknown(self) -> list[str]:
        """Return the required components without a URL."""
        excluded = {APISERVER, *OPTIONAL, *self.endpoints}
        return [component for component in COMPONENTS if component not in excluded]


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """The user's settings: the interval in seconds (0 scrapes nothing), and URLs by component."""

    interval_s: float = 0.0
    endpoints: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise UsageError if the interval is negative, a component is unknown, or its URL is invalid."""
        if self.interval_s < 0:
            raise UsageError(f"metrics_interval is {self.interval_s:g} s; it cannot be negative, 0s scrapes nothing")
        for component, url in self.endpoints.items():
            if component not in COMPONENTS or component == APISERVER:
                allowed = ", ".join(name for name in COMPONENTS if name != APISERVER)
                raise UsageError(
                    f"unknown component {component!r} of a metrics endpoint; the components are: {allowed}"
                )
            if urlsplit(str(url)).scheme not in ("http", "https") or not urlsplit(str(url)).hostname:
                raise UsageError(f"the metrics endpoint {url!r} of {component} is not an http(s) URL")

    def plan(self, lab: Mapping[str, str]) -> MetricsPlan | None:
        """Return the plan, None without scraping; *lab* are the lab's URLs, which the user's override."""
        return MetricsPlan(self.interval_s, {**lab, **self.endpoints}) if self.interval_s > 0 else None


def lab_endpoints(text: str | None) -> dict[str, str]:
    """Return the URLs by component in the JSON *text* of a lab's ConfigMap.

    Only URLs of this machine are used, so that no cluster can direct the credentials to another address.
    """
    try:
        document = json.loads(text or "{}")
    except ValueError:
        return {}
    if not isinstance(document, dict):
        return {}
    urls = {str(component): str(url) for component, url in document.items()}
    return {component: url for component, url in urls.items() if urlsplit(url).hostname in _LOOPBACK}


def _target(component: str, url: str, api: ApiEndpoint) -> Target:
    parts = urlsplit(url)
    server = f"{parts.scheme}://{parts.netloc}"
    # no credentials over plain HTTP; the API server's proxy and server name apply only to it
    base = ApiEndpoint(server) if parts.scheme == "http" else replace(api, server=server, server_name=None)
    endpoint = replace(base, proxy=environment_proxy(server))
    path = parts.path or _METRICS
    return Target(component, endpoint, f"{path}?{parts.query}" if parts.query else path)
