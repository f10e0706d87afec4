"""The statuses of GatewayClasses, Gateways, HTTPRoutes and InferencePools, as a gateway controller writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import Condition, conditions_of, with_condition
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.kubernetes.gateway.routing import (
    CONTROLLER,
    GATEWAY_GROUP,
    HTTP,
    POOL,
    Seen,
    Verdict,
    accepted,
    backends_of,
    listeners_of,
    parents_of,
    resolved,
    taken,
)
from perflab.processes.ports import LOOPBACK


def of_class(document: Document) -> Document:
    """Return that a GatewayClass of this controller is accepted."""
    return {"conditions": _conditions(document, conditions_of(document), {"Accepted": Verdict(True, "Accepted")})}


def of_gateway(seen: Seen, gateway: Document) -> Document:
    """Return a Gateway's address, its conditions, and the number of routes of each listener."""
    before = {each["name"]: each for each in (gateway.get("status") or {}).get("listeners") or ()}
    listeners = [_of_listener(seen, gateway, each, before) for each in gateway["spec"]["listeners"]]
    verdicts = {"Accepted": Verdict(True, "Accepted"), "Programmed": Verdict(True, "Programmed")}
    if not any(each["supportedKinds"] for each in listeners):
        verdicts = {name: Verdict(False, "ListenersNotValid", "no listener has the protocol HTTP") for name in verdicts}
    return {
        "addresses": [{"type": "IPAddress", "value": LOOPBACK}],
        "conditions": _conditions(gateway, conditions_of(gateway), verdicts),
        "listeners": listeners,
    }


def _of_listener(seen: Seen, gateway: Document, listener: Document, before: Mapping[str, Document]) -> Document:
    name = listener["name"]
    is_http = listener["protocol"] == HTTP
    why = Verdict(False, "UnsupportedProtocol", "the lab's gateway only supports HTTP")
    verdicts = {
        "Accepted": Verdict(True, "Accepted") if is_http else why,
        "Programmed": Verdict(True, "Programmed") if is_http else Verdict(False, "Invalid", why.message),
        "ResolvedRefs": Verdict(True, "ResolvedRefs"),
        "Conflicted": Verdict(False, "NoConflicts"),
    }
    routes = sum(
        any(
            other is gateway and name in listeners_of(seen, gateway, route, parent)
            for parent, other in parents_of(seen, route)
        )
        for route in seen.routes.values()
    )
    return {
        "name": name,
        "supportedKinds": [{"group": GATEWAY_GROUP, "kind": "HTTPRoute"}] if is_http else [],
        "attachedRoutes": routes,
        "conditions": _conditions(gateway, before.get(name, {}).get("conditions") or [], verdicts),
    }


def of_route(seen: Seen, route: Document) -> Document:
    """Return a route's status of each parent of this controller; those of other controllers stay unchanged."""
    present = (route.get("status") or {}).get("parents") or []
    ours = []
    for parent, gateway in parents_of(seen, route):
        verdicts = {"Accepted": accepted(seen, gateway, route, parent), "ResolvedRefs": resolved(seen, route)}
        ours.append(_of_parent(route, present, parent, verdicts))
    return {"parents": [*_of_others(present), *ours]}


def of_pool(seen: Seen, pool: Document) -> Document:
    """Return an InferencePool's status of each Gateway of this controller that leads to it."""
    present = (pool.get("status") or {}).get("parents") or []
    leading = [route for route in taken(seen) if _leads_to(route, key_of(pool))]
    gateways = dict.fromkeys(
        key_of(gateway) for route in leading for _, gateway in parents_of(seen, route, taking=True)
    )
    picker = (pool["metadata"]["namespace"], pool["spec"].get("endpointPickerRef", {}).get("name", ""))
    is_there = picker in seen.services or not picker[1]
    found = Verdict(is_there, "ResolvedRefs" if is_there else "InvalidExtensionRef")
    verdicts = {"Accepted": Verdict(True, "Accepted"), "ResolvedRefs": found}
    base = {"group": GATEWAY_GROUP, "kind": "Gateway"}
    parents = [{**base, "namespace": namespace, "name": name} for namespace, name in gateways]
    ours = [_of_parent(pool, present, parent, verdicts) for parent in parents]
    return {"parents": [*_of_others(present), *ours]}


def _leads_to(route: Document, pool: Key) -> bool:
    rules = route["spec"].get("rules") or ()
    return any((each.kind, each.key) == (POOL, pool) for rule in rules for each in backends_of(route, rule))


def _of_parent(
    document: Document, present: Iterable[Document], parent: Document, verdicts: Mapping[str, Verdict]
) -> Document:
    ours = (each for each in present if each.get("controllerName") == CONTROLLER and each["parentRef"] == parent)
    before = next((each.get("conditions") or [] for each in ours), [])
    conditions = _conditions(document, before, verdicts)
    return {"parentRef": parent, "controllerName": CONTROLLER, "conditions": conditions}


def _of_others(parents: Iterable[Document]) -> list[Document]:
    return [each for each in parents if each.get("controllerName") != CONTROLLER]


def _conditions(document: Document, before: list[Condition], verdicts: Mapping[str, Verdict]) -> list[Condition]:
    """Return those conditions, with the document's generation; a time of transition stays if a status does."""
    generation = {"observedGeneration": document["metadata"]["generation"]}
    return [
        {**with_condition(before, kind, each.holds, each.reason, each.message)[-1], **generation}
        for kind, each in verdicts.items()
    ]
