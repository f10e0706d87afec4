"""Who is admitted to a ClusterQueue, and who has to make room: a pure function of what is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from perflab.emulators.framework.store import Key

# resource → amount
Amounts = Mapping[str, Decimal]
# (flavor, resource) → amount
Usage = dict[tuple[str, str], Decimal]

NEVER, LOWER, LOWER_OR_NEWER = "Never", "LowerPriority", "LowerOrNewerEqualPriority"


@dataclass(frozen=True, slots=True)
class Demand:
    """A Workload that is not finished: since when it is there, and, when it has quota, since when and of what flavors.

    *flavors* is resource → flavor; times are the API's, which sort as text.
    """

    key: Key
    requests: Amounts
    priority: int
    since: str
    flavors: Mapping[str, str] = field(default_factory=dict)
    reserved: str = ""
    is_leaving: bool = False
    # whether it says already that it waits
    is_told: bool = False

    @property
    def rank(self) -> tuple[int, str, Key]:
        """What sorts pending Workloads: the highest priority first, then the oldest."""
        return -self.priority, self.since, self.key

    def usage(self) -> Usage:
        """The quota that it holds."""
        return {(self.flavors[name], name): amount for name, amount in self.requests.items()}


@dataclass(frozen=True, slots=True)
class Group:
    """Resources that are given from the same flavors: flavor → resource → nominal quota, in the order of preference."""

    quotas: Mapping[str, Amounts]

    def covers(self, resource: str) -> bool:
        """Whether the resource is one of the group's."""
        return any(resource in amounts for amounts in self.quotas.values())


@dataclass(frozen=True, slots=True)
class Rules:
    """What of a ClusterQueue's spec decides."""

    groups: Sequence[Group]
    is_strict: bool = False
    preemption: str = NEVER


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do: Workload → its flavors, victim → who preempts it, and why others wait."""

    admitted: dict[Key, dict[str, str]] = field(default_factory=dict)
    preempted: dict[Key, Key] = field(default_factory=dict)
    waiting: dict[Key, str] = field(default_factory=dict)


def decide(rules: Rules, pending: Iterable[Demand], holding: Sequence[Demand]) -> Plan:
    """The plan for these Workloads; *holding* have quota, those that leave hold it until they have left."""
    plan = Plan()
    room = _Room(rules, holding, plan)
    # thousands ask for the same: what one did not get, nobody behind it does
    refused: dict[frozenset[tuple[str, Decimal]], str] = {}
    for demand in sorted(pending, key=lambda each: each.rank):
        shape = frozenset(demand.requests.items())
        why = refused.get(shape, "")
        if not why:
            flavors = room.admit(demand)
            if flavors is not None:
                plan.admitted[demand.key] = flavors
                continue
            why = _why(rules, demand)
            if not room.keep_for(demand):
                refused[shape] = why
        if not demand.is_told:
            plan.waiting[demand.key] = why
        if rules.is_strict:
            break
    return plan


class _Room:
    """What is free in a queue now, and what will be when those that leave have left."""

    def __init__(self, rules: Rules, holding: Sequence[Demand], plan: Plan) -> None:
        self._rules = rules
        self._holding = holding
        self._plan = plan
        self._used = _sum(holding)
        self._used_later = _sum(demand for demand in holding if not demand.is_leaving)

    def admit(self, demand: Demand) -> dict[str, str] | None:
        """Take what the demand asks for, when it is free and not kept for another; its flavors."""
        flavors = _fit(self._rules, demand, _larger(self._used, self._used_later))
        if flavors is not None:
            _take(self._used, demand, flavors)
            _take(self._used_later, demand, flavors)
        return flavors

    def keep_for(self, demand: Demand) -> bool:
        """Keep what becomes free, after preempting when that helps; whether there is anything to keep."""
        flavors = _fit(self._rules, demand, self._used_later)
        if flavors is None:
            victims = _victims(self._rules, demand, self._used_later, _unclaimed(self._holding, self._plan))
            for victim in victims:
                self._plan.preempted[victim.key] = demand.key
                _give_back(self._used_later, victim)
            flavors = _fit(self._rules, demand, self._used_later) if victims else None
        if flavors is not None:
            _take(self._used_later, demand, flavors)
        return flavors is not None


def _unclaimed(holding: Sequence[Demand], plan: Plan) -> list[Demand]:
    return [each for each in holding if not each.is_leaving and each.key not in plan.preempted]


def _fit(rules: Rules, demand: Demand, used: Usage) -> dict[str, str] | None:
    """The flavor of each resource when all of them fit, else None."""
    flavors: dict[str, str] = {}
    for group in rules.groups:
        wanted = {name: amount for name, amount in demand.requests.items() if group.covers(name)}
        chosen = next((each for each, quota in group.quotas.items() if _has_room(each, quota, wanted, used)), None)
        if chosen is None:
            return None
        flavors.update(dict.fromkeys(wanted, chosen))
    return flavors if flavors.keys() == demand.requests.keys() else None


def _has_room(flavor: str, quota: Amounts, wanted: Amounts, used: Usage) -> bool:
    return all(
        used.get((flavor, name), Decimal()) + amount <= quota.get(name, Decimal()) for name, amount in wanted.items()
    )


def _victims(rules: Rules, demand: Demand, used: Usage, holding: list[Demand]) -> list[Demand]:
    """The fewest of the least important, and of those the youngest, whose quota is enough; none when it never is."""
    candidates = [each for each in holding if _may_preempt(rules.preemption, demand, each)]
    candidates.sort(key=lambda each: (each.reserved, each.key), reverse=True)
    candidates.sort(key=lambda each: each.priority)
    left, victims = dict(used), []
    for candidate in candidates:
        _give_back(left, candidate)
        victims.append(candidate)
        if _fit(rules, demand, left):
            return _needed(rules, demand, left, victims)
    return []


def _needed(rules: Rules, demand: Demand, left: Usage, victims: list[Demand]) -> list[Demand]:
    """*victims* without those whose quota is not needed after all (they have another flavor, say)."""
    needed = []
    for victim in victims:
        kept = dict(left)
        for slot, amount in victim.usage().items():
            kept[slot] = kept.get(slot, Decimal()) + amount
        if _fit(rules, demand, kept):
            left = kept
        else:
            needed.append(victim)
    return needed


def _may_preempt(rule: str, demand: Demand, victim: Demand) -> bool:
    if rule == NEVER or victim.priority > demand.priority:
        return False
    if victim.priority < demand.priority:
        return True
    return rule == LOWER_OR_NEWER and victim.since > demand.since


def _why(rules: Rules, demand: Demand) -> str:
    for name in demand.requests:
        if not any(group.covers(name) for group in rules.groups):
            return f"resource {name} is unavailable in the ClusterQueue"
    if _fit(rules, demand, {}) is None:
        return "it asks for more than the nominal quota of any flavor"
    return "insufficient unused quota"


def _sum(demands: Iterable[Demand]) -> Usage:
    used: Usage = {}
    for demand in demands:
        _take(used, demand, demand.flavors)
    return used


def _larger(one: Usage, other: Usage) -> Usage:
    return {slot: max(one.get(slot, Decimal()), other.get(slot, Decimal())) for slot in one.keys() | other.keys()}


def _take(used: Usage, demand: Demand, flavors: Mapping[str, str]) -> None:
    for name, amount in demand.requests.items():
        slot = flavors[name], name
        used[slot] = used.get(slot, Decimal()) + amount


def _give_back(used: Usage, demand: Demand) -> None:
    for slot, amount in demand.usage().items():
        used[slot] -= amount
