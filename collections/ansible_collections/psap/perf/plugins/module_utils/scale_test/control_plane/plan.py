"""What is scraped, how often, and where the components show their metrics."""

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
    """One component: the server that shows its page, and the page's path."""

    component: str
    endpoint: ApiEndpoint
    path: str


@dataclass(frozen=True, slots=True)
class MetricsPlan:
    """*interval_s* between two scrapes; *endpoints* are URLs by component, beside the API connection."""

    interval_s: float
    endpoints: Mapping[str, str]

    def targets(self, api: ApiEndpoint) -> list[Target]:
        """The components that can be asked; what serves the API is asked through our connection to it."""
        found = [Target(APISERVER, api, _METRICS)]
        for component in COMPONENTS:
            if component != APISERVER and component in self.endpoints:
                found.append(_target(component, self.endpoints[component], api))
        return found

    def unknown(self) -> list[str]:
        """The components for which there is no URL."""
        known = {APISERVER, *OPTIONAL, *self.endpoints}
        return [component for component in COMPONENTS if component not in known]


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """What the user asked for: the interval in seconds (0: nothing is scraped), URLs by component."""

    interval_s: float = 0.0
    endpoints: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """:raises UsageError: when a URL is given of something else, or is none."""
        if self.interval_s < 0:
            raise UsageError(f"metrics_interval is {self.interval_s:g} s; it cannot be negative, 0s scrapes nothing")
        for component, url in self.endpoints.items():
            if component not in COMPONENTS or component == APISERVER:
                known = ", ".join(name for name in COMPONENTS if name != APISERVER)
                raise UsageError(f"the metrics endpoint of {component!r} cannot be used; there are: {known}")
            if urlsplit(str(url)).scheme not in ("http", "https") or not urlsplit(str(url)).hostname:
                raise UsageError(f"the metrics endpoint {url!r} of {component} is not an http(s) URL")

    def plan(self, lab: Mapping[str, str]) -> MetricsPlan | None:
        """What to scrape, None for nothing: the URLs given, else those that the *lab* tells."""
        return MetricsPlan(self.interval_s, {**lab, **self.endpoints}) if self.interval_s > 0 else None


def lab_endpoints(text: str | None) -> dict[str, str]:
    """The URLs that a lab tells in its ConfigMap, as JSON.

    Only those of this machine: our credentials go to no address that a cluster makes up.
    """
    try:
        given = json.loads(text or "{}")
    except ValueError:
        return {}
    if not isinstance(given, dict):
        return {}
    urls = {str(component): str(url) for component, url in given.items()}
    return {component: url for component, url in urls.items() if urlsplit(url).hostname in _LOOPBACK}


def _target(component: str, url: str, api: ApiEndpoint) -> Target:
    parts = urlsplit(url)
    server = f"{parts.scheme}://{parts.netloc}"
    # no credentials over plain HTTP; the proxy and the server's name are those of the API server alone
    base = ApiEndpoint(server) if parts.scheme == "http" else replace(api, server=server, server_name=None)
    endpoint = replace(base, proxy=environment_proxy(server))
    path = parts.path or _METRICS
    return Target(component, endpoint, f"{path}?{parts.query}" if parts.query else path)
