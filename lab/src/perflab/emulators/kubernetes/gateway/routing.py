"""The joint meaning of the Gateways, HTTPRoutes, Services and InferencePools of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import own_labels
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.kubernetes.gateway.endpoints import Endpoint, endpoints_in

CONTROLLER = "lab.psap.perf/gateway"
GATEWAY_GROUP, POOL_GROUP = "gateway.networking.k8s.io", "inference.networking.k8s.io"
SERVICE, POOL = ("", "Service"), (POOL_GROUP, "InferencePool")
EXACT, PREFIX, HTTP = "Exact", "PathPrefix", "HTTP"
REWRITE = "URLRewrite"
# llm-d's label of a pod's role; pods that only prefill get their requests from pods that decode, not from a gateway
_ROLE, _PREFILL = "llm-d.ai/role", "prefill"

Objects = Mapping[Key, Document]


@dataclass(frozen=True, slots=True)
class Seen:
    """The objects of a cluster, from which everything follows."""

    classes: Objects
    gateways: Objects
    routes: Objects
    pools: Objects
    services: Objects
    namespaces: Objects
    pods: Iterable[Document]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something holds, and why (not), in the words of the Gateway API."""

    holds: bool
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Backend:
    """A backend of a rule: an object of a kind, by its name, a port if it is a Service, and a share of the requests."""

    kind: tuple[str, str]
    key: Key
    port: int | None
    weight: int

    @property
    def cluster(self) -> str:
        """Return its name in Envoy."""
        return "/".join((self.kind[1].lower(), *self.key, *([str(self.port)] if self.port else [])))


def is_ours(seen: Seen, gateway: Document) -> bool:
    """Return whether the class of a Gateway is one of this controller."""
    named = seen.classes.get(("", gateway["spec"]["gatewayClassName"]))
    return named is not None and named["spec"]["controllerName"] == CONTROLLER


def gateway_of(seen: Seen, route: Document, parent: Document) -> Document | None:
    """Return the Gateway of this controller that a route names as its parent."""
    if (parent.get("group", GATEWAY_GROUP), parent.get("kind", "Gateway")) != (GATEWAY_GROUP, "Gateway"):
        return None
    found = seen.gateways.get((parent.get("namespace", route["metadata"]["namespace"]), parent["name"]))
    return found if found is not None and is_ours(seen, found) else None


def listeners_of(seen: Seen, gateway: Document, route: Document, parent: Document) -> list[str]:
    """Return the names of the listeners that a route has by this parent."""
    named = _named(gateway, parent)
    return [each["name"] for each in named if _admits(seen, gateway, each, route)] if not unsupported(route) else []


def _named(gateway: Document, parent: Document) -> list[Document]:
    return [
        each
        for each in gateway["spec"]["listeners"]
        if parent.get("sectionName") in (None, each["name"]) and parent.get("port") in (None, each["port"])
    ]


def _admits(seen: Seen, gateway: Document, listener: Document, route: Document) -> bool:
    if listener["protocol"] != HTTP:
        return False
    rule = (listener.get("allowedRoutes") or {}).get("namespaces") or {}
    namespace = route["metadata"]["namespace"]
    if rule.get("from", "Same") == "Selector":
        found = seen.namespaces.get(("", namespace))
        return found is not None and _selects((rule.get("selector") or {}).get("matchLabels") or {}, found)
    return rule.get("from", "Same") == "All" or bool(namespace == gateway["metadata"]["namespace"])


def _selects(labels: Mapping[str, str], document: Document) -> bool:
    return bool(labels) and labels.items() <= own_labels(document).items()


def accepted(seen: Seen, gateway: Document, route: Document, parent: Document) -> Verdict:
    """Return whether a parent accepts a route."""
    asked = unsupported(route)
    if asked:
        return Verdict(False, "UnsupportedValue", f"the lab's gateway has no {asked}")
    if not _named(gateway, parent):
        return Verdict(False, "NoMatchingParent", "the Gateway has no such listener")
    if not listeners_of(seen, gateway, route, parent):
        return Verdict(False, "NotAllowedByListeners", "no listener accepts HTTP routes of this namespace")
    return Verdict(True, "Accepted")


def unsupported(route: Document) -> str:
    """Return the unsupported features of a route; empty if there are none."""
    for rule in route["spec"].get("rules") or ():
        for each in rule.get("filters") or ():
            if each["type"] != REWRITE:
                return f"filter {each['type']}"
        if any(each.get("filters") for each in rule.get("backendRefs") or ()):
            return "filters of a backend"
        for match in rule.get("matches") or ():
            path = (match.get("path") or {}).get("type", PREFIX)
            others = [each.get("type", EXACT) for name in ("headers", "queryParams") for each in match.get(name) or ()]
            if path not in (EXACT, PREFIX) or set(others) - {EXACT}:
                return "match by regular expressions"
    return ""


def backends_of(route: Document, rule: Document) -> list[Backend]:
    """Return the backends of a rule of a route."""
    return [
        Backend(
            kind := (each.get("group", ""), each.get("kind", "Service")),
            (each.get("namespace", route["metadata"]["namespace"]), each["name"]),
            each.get("port") if kind == SERVICE else None,
            each.get("weight", 1),
        )
        for each in rule.get("backendRefs") or ()
    ]


def resolved(seen: Seen, route: Document) -> Verdict:
    """Return whether all backends of a route exist."""
    for rule in route["spec"].get("rules") or ():
        for each in backends_of(route, rule):
            found = found_of(seen, route, each)
            if not found.holds:
                return found
    return Verdict(True, "ResolvedRefs")


def found_of(seen: Seen, route: Document, backend: Backend) -> Verdict:
    """Return whether a backend of a route exists."""
    group, kind = backend.kind
    if backend.kind not in (SERVICE, POOL):
        # KServe tries the InferencePool of an older group first
        return Verdict(False, "InvalidKind", f"a {kind} of the group {group!r} cannot be a backend")
    if backend.key[0] != route["metadata"]["namespace"]:
        return Verdict(False, "RefNotPermitted", f"{kind} {'/'.join(backend.key)} is in another namespace")
    if backend.key not in (seen.services if backend.kind == SERVICE else seen.pools):
        return Verdict(False, "BackendNotFound", f"{kind} {'/'.join(backend.key)} does not exist")
    return Verdict(True, "ResolvedRefs")


def taken(seen: Seen) -> Iterator[Document]:
    """Return the routes that a Gateway of this controller accepts, the oldest first, which takes precedence."""
    for route in sorted(seen.routes.values(), key=lambda one: (one["metadata"]["creationTimestamp"], key_of(one))):
        if any(parents_of(seen, route, taking=True)):
            yield route


def parents_of(seen: Seen, route: Document, *, taking: bool = False) -> Iterator[tuple[Document, Document]]:
    """Yield references of a route to our Gateways, with the Gateway; only accepting ones if *taking*."""
    for parent in route["spec"].get("parentRefs") or ():
        gateway = gateway_of(seen, route, parent)
        if gateway is not None and (not taking or accepted(seen, gateway, route, parent).holds):
            yield parent, gateway


def endpoints_of(seen: Seen, backend: Backend, models_port: int, *, picks: bool) -> list[Endpoint]:
    """Return the servers of the pods that a backend selects, in order; simulated ones listen at *models_port*.

    A pool's pods that only prefill are included if an endpoint picker excludes them itself (*picks*).
    """
    targets: list[int | str]
    if backend.kind == SERVICE:
        spec = seen.services[backend.key]["spec"]
        labels = spec.get("selector") or {}
        targets = [
            each.get("targetPort", each["port"]) for each in spec.get("ports") or () if each["port"] == backend.port
        ]
    else:
        spec = seen.pools[backend.key]["spec"]
        labels = spec["selector"].get("matchLabels") or {}
        targets = [each["number"] for each in spec["targetPorts"]]
    pods = (pod for pod in seen.pods if pod["metadata"]["namespace"] == backend.key[0] and _selects(labels, pod))
    if backend.kind == POOL and not picks:
        pods = (pod for pod in pods if own_labels(pod).get(_ROLE) != _PREFILL)
    return sorted(endpoint for pod in pods for endpoint in endpoints_in(pod, targets, models_port))
