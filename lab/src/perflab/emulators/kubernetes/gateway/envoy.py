"""The lab's gateway in Envoy's terms: its clusters and routes, as files that Envoy watches.

A cluster contains its endpoints. In a separate file, each would need one of the few file watches that a system allows a
user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import own_annotations
from perflab.emulators.framework.units import parse_duration
from perflab.emulators.kubernetes.gateway import picking
from perflab.emulators.kubernetes.gateway.endpoints import Endpoint
from perflab.emulators.kubernetes.gateway.routing import (
    EXACT,
    POOL,
    REWRITE,
    Backend,
    Seen,
    backends_of,
    endpoints_of,
    found_of,
    taken,
)

ROUTES = "gateway"
# in the lab's folder
FOLDER, CLUSTERS_FILE, ROUTES_FILE = "envoy", "clusters.json", "routes.json"
_TYPES = "type.googleapis.com/envoy"
_ANY_HOST = "*"
# a rule without a match
_EVERYTHING: tuple[Document, ...] = ({},)
# of an HTTPRoute that Open Data Hub protects; KServe's program in the lab sets it
PROTECTION = "lab.psap.perf/bearer-token"
_NO_TOKEN = {"name": "authorization", "string_match": {"prefix": "Bearer "}, "invert_match": True}
_UNAUTHORIZED = {
    "direct_response": {"status": 401},
    "response_headers_to_add": [{"header": {"key": "www-authenticate", "value": "Bearer"}}],
}
# tests measure servers, not the gateway's limits
_UNLIMITED = 2**32 - 1
# shorter than the servers keep an idle connection, so that none closes while it is reused
_IDLE = "60s"


def clusters(seen: Seen, models_port: int, *, picks: bool = False) -> Document:
    """Return the backends of all routes, with the endpoints that are Ready; those of a pool for a picker if *picks*.

    Simulated servers listen on *models_port*; 0 if there are none.
    """
    found: dict[str, Document] = {}
    for route in taken(seen):
        for rule in route["spec"].get("rules") or ():
            for each in backends_of(route, rule):
                if found_of(seen, route, each).holds:
                    found[each.cluster] = _cluster(each, endpoints_of(seen, each, models_port, picks=picks), picks)
    return {"resources": [found[name] for name in sorted(found)]}


def _cluster(backend: Backend, found: list[Endpoint], picks: bool) -> Document:
    least = {"@type": f"{_TYPES}.extensions.load_balancing_policies.least_request.v3.LeastRequest"}
    policy = {"name": "least_request", "typed_config": least}
    if backend.kind == POOL:
        # as a picker that only considers load; a Service uses the better of two, Envoy's usual choice
        least["selection_method"] = "FULL_SCAN"
    limits = dict.fromkeys(("max_connections", "max_pending_requests", "max_requests"), _UNLIMITED)
    endpoints = [{"endpoint": {"address": socket_address(*each)}} for each in found]
    return {
        "@type": f"{_TYPES}.config.cluster.v3.Cluster",
        "name": backend.cluster,
        "type": "STATIC",
        "connect_timeout": "5s",
        "circuit_breakers": {"thresholds": [limits]},
        "load_balancing_policy": {
            "policies": [
                {"typed_extension_config": picking.chosen_or(policy) if picks and backend.kind == POOL else policy}
            ]
        },
        "typed_extension_protocol_options": protocol("http_protocol_options"),
        "load_assignment": {"cluster_name": backend.cluster, "endpoints": [{"lb_endpoints": endpoints}]},
    }


def protocol(options: str) -> Document:
    """Return the protocol of a cluster, `http_protocol_options` or `http2_protocol_options`."""
    http = {
        "@type": f"{_TYPES}.extensions.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {options: {}},
        "common_http_protocol_options": {"idle_timeout": _IDLE},
    }
    return {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http}


def socket_address(address: str, port: int) -> Document:
    """Return an address and a port."""
    return {"socket_address": {"address": address, "port_value": port}}


def routes(seen: Seen, *, picks: bool = False) -> Document:
    """Return the routes of all Gateways, by host; a host also has the routes of every host.

    If *picks*, the endpoint picker of a pool chooses the endpoint.
    """
    by_host: dict[str, list[tuple[Any, Document]]] = {_ANY_HOST: []}
    for route in taken(seen):
        for host in route["spec"].get("hostnames") or (_ANY_HOST,):
            by_host.setdefault(host, []).extend(_entries(seen, route, picks))
    for host, entries in by_host.items():
        if host != _ANY_HOST:
            entries.extend(by_host[_ANY_HOST])
    # the sort is stable: of equals, the oldest route comes first
    hosts = [
        {"name": host, "domains": [host], "routes": [each for _, each in sorted(entries, key=lambda one: one[0])]}
        for host, entries in by_host.items()
    ]
    configuration = {
        "@type": f"{_TYPES}.config.route.v3.RouteConfiguration",
        "name": ROUTES,
        "virtual_hosts": hosts,
    }
    return {"resources": [configuration]}


def _entries(seen: Seen, route: Document, picks: bool) -> Iterator[tuple[Any, Document]]:
    """Return the entries of a route, each with its precedence by the rules of the Gateway API."""
    for rule in route["spec"].get("rules") or ():
        action = _action(seen, route, rule, picks)
        for match in rule.get("matches") or _EVERYTHING:
            path = {"type": "PathPrefix", "value": "/", **(match.get("path") or {})}
            headers, parameters = match.get("headers") or (), match.get("queryParams") or ()
            kind, length = path["type"], len(path["value"])
            place = (kind != EXACT, -length, "method" not in match, -len(headers), -len(parameters))
            found = {
                **_path(path["type"], path["value"]),
                "headers": [
                    *({"name": ":method", **_exactly(match["method"])} for _ in range("method" in match)),
                    *({"name": each["name"], **_exactly(each["value"])} for each in headers),
                ],
                "query_parameters": [{"name": each["name"], **_exactly(each["value"])} for each in parameters],
            }
            if own_annotations(route).get(PROTECTION) == "true":
                # it comes before the route itself: the sort keeps the order of equals
                yield place, {"match": {**found, "headers": [*found["headers"], _NO_TOKEN]}, **_UNAUTHORIZED}
            yield place, {"match": found, "route": {**action, **_rewritten(rule, path["value"])}}


def _exactly(value: str) -> Document:
    return {"string_match": {"exact": value}}


def _path(kind: str, value: str) -> Document:
    if kind == EXACT:
        return {"path": value}
    stem = value.rstrip("/")
    return {"path_separated_prefix": stem} if stem else {"prefix": "/"}


def _action(seen: Seen, route: Document, rule: Document, picks: bool) -> Document:
    """Missing backends are included: for an unknown cluster, Envoy returns 500."""
    weights = [_weight(seen, each, picks) for each in backends_of(route, rule) if each.weight]
    return {
        "weighted_clusters": {"clusters": weights or [{"name": "nothing", "weight": 1}]},
        "cluster_not_found_response_code": "INTERNAL_SERVER_ERROR",
        "timeout": _seconds((rule.get("timeouts") or {}).get("request", "0s")),
    }


def _weight(seen: Seen, backend: Backend, picks: bool) -> Document:
    weight: Document = {"name": backend.cluster, "weight": backend.weight}
    if picks and backend.kind == POOL and backend.key in seen.pools:
        weight["typed_per_filter_config"] = picking.filter_of_pool(backend.key, seen.pools[backend.key])
    return weight


def _seconds(duration: str) -> str:
    """Convert a duration of the Gateway API, `1h2m3s4ms`, to Envoy's form, `3723.004s`."""
    return f"{parse_duration(duration) or 0:.3f}s"


def _rewritten(rule: Document, prefix: str) -> Document:
    """Return the path and the host that the server sees."""
    rewrite: Document = next((each["urlRewrite"] for each in rule.get("filters") or () if each["type"] == REWRITE), {})
    path, found = rewrite.get("path") or {}, {}
    if rewrite.get("hostname"):
        found["host_rewrite_literal"] = rewrite["hostname"]
    if "replacePrefixMatch" in path:
        stem, new = prefix.rstrip("/"), path["replacePrefixMatch"].rstrip("/")
        if new:
            found["prefix_rewrite"] = new if stem else f"{new}/"
        else:
            # otherwise there would be two slashes: one in the replacement, one after the prefix
            found["regex_rewrite"] = _regex(f"^{re.escape(stem)}/*", "/")
    elif "replaceFullPath" in path:
        found["regex_rewrite"] = _regex("^/.*$", path["replaceFullPath"])
    return found


def _regex(regex: str, substitution: str) -> Document:
    return {"pattern": {"regex": regex}, "substitution": substitution.replace("\\", "\\\\")}
