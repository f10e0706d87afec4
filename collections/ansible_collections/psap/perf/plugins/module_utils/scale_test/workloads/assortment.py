"""Workloads that differ: the namespace, queue, priority, kind and size of the workload of each index.

All values follow from the index alone, so that a repeated attempt and another submitting process get the same.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import Workloads
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace

_LONGEST_CYCLE = 10_000


@dataclass(frozen=True, slots=True)
class Tenant:
    """The namespace and queue of a share of the workloads.

    If *namespace* or *queue* is empty, the value for all workloads is used. The queue is created if *quota*, in GPUs,
    is set. Queues of one *cohort* lend each other their unused quota.
    """

    namespace: str = ""
    queue: str = ""
    weight: int = 1
    quota: int | None = None
    cohort: str = ""


@dataclass(frozen=True, slots=True)
class Priority:
    """The PriorityClass that a share of the workloads has, and its value."""

    name: str
    value: int
    weight: int = 1


def tenants_of(given: Sequence[Tenant], namespace: str, queue: str) -> list[Tenant]:
    """Return the tenants, by default one; *namespace* and *queue* are the values of those without."""
    return [
        replace(one, namespace=one.namespace or namespace, queue=one.queue or queue) for one in given or (Tenant(),)
    ]


def without_queues(tenants: Sequence[Tenant]) -> list[Tenant]:
    """Return the tenants with the same namespaces and weights, but without queues."""
    return [Tenant(one.namespace, weight=one.weight) for one in tenants]


@dataclass(frozen=True, slots=True)
class Variant:
    """The differences between workloads besides name and index; None for the common value."""

    namespace: str
    queue: str
    priority: str | None = None
    kind: str | None = None
    gpus: int | None = None
    duration_s: float | None = None


class Rotation:
    """A smooth weighted round robin: each cycle has every member as often as its weight, well spread."""

    def __init__(self, weights: Sequence[int]) -> None:
        """Raise UsageError if a weight is below 1, or the cycle would be too long."""
        if not weights or min(weights) < 1:
            raise UsageError(f"weights are {list(weights)}; each must be a whole number of at least 1")
        divisor = math.gcd(*weights)
        self._weights = tuple(weight // divisor for weight in weights)
        if sum(self._weights) > _LONGEST_CYCLE:
            raise UsageError(
                f"weights are {list(weights)}; they repeat after {sum(self._weights)} workloads, which must be at most "
                f"{_LONGEST_CYCLE}: use smaller numbers of about the same ratios"
            )
        self._cycle = _smooth(self._weights)
        # how often the member at each place of the cycle occurs before in it
        self._earlier: list[int] = []
        turns: Counter[int] = Counter()
        for member in self._cycle:
            self._earlier.append(turns[member])
            turns[member] += 1

    def __len__(self) -> int:
        return len(self._cycle)

    def member(self, position: int) -> int:
        """Return the member at this position."""
        return self._cycle[position % len(self._cycle)]

    def turn(self, position: int) -> int:
        """Return how often that member occurs before this position."""
        cycles, place = divmod(position, len(self._cycle))
        return cycles * self._weights[self._cycle[place]] + self._earlier[place]


def _smooth(weights: Sequence[int]) -> list[int]:
    """Return the cycle, in which the member with the largest debt is next, the first of equal ones."""
    total = sum(weights)
    debts = [0] * len(weights)
    cycle: list[int] = []
    for _turn in range(total):
        debts = [debt + weight for debt, weight in zip(debts, weights, strict=True)]
        chosen = debts.index(max(debts))
        debts[chosen] -= total
        cycle.append(chosen)
    return cycle


class Assortment:
    """The variant of each index."""

    def __init__(
        self, tenants: Sequence[Tenant], priorities: Sequence[Priority] = (), trace: Trace | None = None
    ) -> None:
        """Raise UsageError if there is no tenant, or a weight is below 1."""
        self.tenants = tuple(tenants)
        self.priorities = tuple(priorities)
        self._trace = trace
        self._places = Rotation([tenant.weight for tenant in tenants])
        self._ranks = Rotation([priority.weight for priority in priorities]) if priorities else None

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Each namespace once, in the order of the tenants."""
        return tuple(dict.fromkeys(tenant.namespace for tenant in self.tenants))

    def priority(self, name: str | None) -> Priority | None:
        """Return the priority of this name; None for None."""
        return next((priority for priority in self.priorities if priority.name == name), None)

    def distinct(self, count: int) -> Iterator[Variant]:
        """Yield the variants of the first *count* workloads, some of them several times."""
        period = len(self._places) * (len(self._ranks) if self._ranks else 1)
        yield from map(self.variant, range(count if self._trace else min(count, period)))

    def variant(self, index: int) -> Variant:
        """Return the variant of the workload with this index."""
        tenant = self.tenants[self._places.member(index)]
        priority = None
        if self._ranks is not None:
            # counted within the tenant: otherwise, with equal weights each tenant would have only one priority
            priority = self.priorities[self._ranks.member(self._places.turn(index))].name
        if self._trace is None:
            return Variant(tenant.namespace, tenant.queue, priority)
        row = self._trace.rows[index]
        return Variant(tenant.namespace, tenant.queue, priority, row.kind, row.gpus, row.duration_s)


class AssortedWorkloads:
    """The workloads of a submission, each of its variant; a template is rendered once for each variant."""

    def __init__(self, assortment: Assortment, count: int, make: Callable[[Variant], Workloads]) -> None:
        """Raise UsageError if a variant of the first *count* workloads cannot be created."""
        self._assortment = assortment
        self._count = count
        self._of: dict[Variant, Workloads] = {}
        for variant in assortment.distinct(count):
            if variant not in self._of:
                self._of[variant] = make(variant)
        self.submission = self.at(0).submission

    def at(self, index: int) -> Workloads:
        """Return the workloads of this index's variant."""
        return self._of[self._assortment.variant(index)]

    @classmethod
    def alike(cls, workloads: Workloads) -> AssortedWorkloads:
        """Return workloads that do not differ."""
        return cls(Assortment([Tenant(workloads.namespace)]), 1, lambda _variant: workloads)

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """API version and kind of all workloads, each pair once."""
        return list(dict.fromkeys((made.api_version, made.kind) for made in self._of.values()))

    @cached_property
    def claim_templates(self) -> list[dict[str, Any]]:
        """The templates of the claims of all workloads, each once."""
        indices: dict[Variant, list[int]] = defaultdict(list)
        for index in range(self._count):
            indices[self._assortment.variant(index)].append(index)
        found = (template for variant, own in indices.items() for template in self._of[variant].claim_templates(own))
        return list({(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in found}.values())

    @property
    def every(self) -> list[Workloads]:
        """The workloads of all variants."""
        return list(self._of.values())

    @property
    def of_each_kind(self) -> list[Workloads]:
        """The first workloads of each kind."""
        return list({(made.api_version, made.kind): made for made in reversed(self._of.values())}.values())

    def manifest(self, index: int) -> dict[str, Any]:
        """Return the manifest of the workload with this index, as it is sent."""
        return self.at(index).manifest(index)
