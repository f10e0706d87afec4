"""Compute the free resources of a node, as the scheduler counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.quantities import format_quantity, parse_quantity
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, condition

Amounts = dict[str, Fraction]
_TERMINAL = ("Succeeded", "Failed")


def requests_of(pod: Object) -> Amounts:
    """Return the requests of *pod*: the maximum of the containers' sum and the largest init container, and overhead.

    A restartable init container (a sidecar) keeps running next to all later containers. Requests of the pod, if any,
    replace those of its containers.
    """
    spec = pod["spec"]
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or []:
        wanted = _requests(container)
        if container.get("restartPolicy") == "Always":
            sidecars = _sum(sidecars, wanted)
            peak = _largest(peak, sidecars)
        else:
            peak = _largest(peak, _sum(sidecars, wanted))
    running = sidecars
    for container in spec.get("containers") or []:
        running = _sum(running, _requests(container))
    whole = {**_largest(peak, running), **_requests(spec)}
    return _sum(whole, _amounts(spec.get("overhead")))


def _requests(owner: Mapping[str, Any]) -> Amounts:
    """Return the requests, including limits without a request."""
    resources = owner.get("resources") or {}
    return {**_amounts(resources.get("limits")), **_amounts(resources.get("requests"))}


def _amounts(quantities: Mapping[str, Any] | None) -> Amounts:
    return {name: parse_quantity(text) for name, text in (quantities or {}).items()}


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, Fraction(0)) + other.get(name, Fraction(0)) for name in {**one, **other}}


def _largest(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, Fraction(0)), other.get(name, Fraction(0))) for name in {**one, **other}}


def is_usable(node: Object) -> bool:
    """Return whether pods can run on *node*: it is ready, and not cordoned."""
    ready = condition(node, "Ready")
    return ready is not None and ready.get("status") == "True" and not node.get("spec", {}).get("unschedulable")


def free_of(
    node: Object, pods: Iterable[Object], resources: Sequence[str], margin: Mapping[str, Any]
) -> dict[str, str]:
    """Return the free amounts of *resources* on *node*, without *margin* and those that are exhausted.

    Args:
        pods: All pods that are bound to *node*.
    """
    taken: Amounts = {}
    for pod in pods:
        if pod.get("status", {}).get("phase") not in _TERMINAL:
            taken = _sum(taken, requests_of(pod))
    allocatable, reserved = _amounts(node.get("status", {}).get("allocatable")), _amounts(margin)
    free = {
        name: allocatable.get(name, Fraction(0)) - taken.get(name, Fraction(0)) - reserved.get(name, Fraction(0))
        for name in resources
    }
    return {name: format_quantity(name, amount) for name, amount in free.items() if _is_positive(name, amount)}


def _is_positive(resource: str, amount: Fraction) -> bool:
    return amount > 0 and parse_quantity(format_quantity(resource, amount)) > 0
