"""Who is admitted to a queue and who has to make room: cases small enough to check by hand."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

import pytest
from perflab.emulators.framework.store import Key
from perflab.emulators.framework.units import format_quantity, parse_quantity
from perflab.emulators.queues.kueue import specs
from perflab.emulators.queues.kueue.admission import LOWER, LOWER_OR_NEWER, NEVER, Demand, Group, Plan, Rules, decide

GPU = "nvidia.com/gpu"


def key(name: str) -> Key:
    return "n", name


def waits(name: str, gpus: int = 1, priority: int = 0, since: str = "1", **more: int) -> Demand:
    asked = {GPU: gpus, **more}
    return Demand(key(name), {each: Decimal(amount) for each, amount in asked.items()}, priority, since)


def holds(
    name: str, gpus: int = 1, priority: int = 0, since: str = "0", reserved: str = "1", leaving: bool = False
) -> Demand:
    return Demand(key(name), {GPU: Decimal(gpus)}, priority, since, {GPU: "default"}, reserved, leaving)


def queue(gpus: int = 4, preemption: str = NEVER, strict: bool = False) -> Rules:
    return Rules([Group({"default": {GPU: Decimal(gpus)}})], strict, preemption)


def admitted(plan: Plan) -> list[str]:
    return [name for _, name in plan.admitted]


def preempted(plan: Plan) -> dict[str, str]:
    return {victim[1]: winner[1] for victim, winner in plan.preempted.items()}


def test_the_highest_priority_is_first_then_the_oldest() -> None:
    pending = [waits("young", since="3"), waits("old", since="2"), waits("urgent", priority=9, since="4")]
    assert admitted(decide(queue(2), pending, [])) == ["urgent", "old"]


def test_what_holds_quota_leaves_less_for_others() -> None:
    plan = decide(queue(4), [waits("a", 2), waits("b", 1)], [holds("h", 3)])
    assert admitted(plan) == ["b"]
    assert plan.waiting == {key("a"): "insufficient unused quota"}


def test_a_strict_queue_lets_nobody_pass_the_first() -> None:
    plan = decide(queue(4, strict=True), [waits("large", 8, since="1"), waits("small", 1, since="2")], [])
    assert admitted(plan) == []
    assert list(plan.waiting) == [key("large")]


@pytest.mark.parametrize("rule", [NEVER, LOWER, LOWER_OR_NEWER])
def test_equals_and_betters_are_not_preempted(rule: str) -> None:
    holding = [holds("older", 2, priority=5, since="0"), holds("better", 2, priority=9, since="9")]
    assert preempted(decide(queue(4, rule), [waits("new", 2, priority=5, since="5")], holding)) == {}


def test_the_least_important_and_then_the_youngest_make_room_and_no_more_than_needed() -> None:
    holding = [
        holds("middle", 1, priority=5),
        holds("low-old", 1, priority=1, reserved="1"),
        holds("low-young", 1, priority=1, reserved="2"),
        holds("high", 1, priority=9),
    ]
    plan = decide(queue(4, LOWER), [waits("new", 1, priority=8)], holding)
    assert preempted(plan) == {"low-young": "new"}
    plan = decide(queue(4, LOWER), [waits("new", 3, priority=8)], holding)
    assert set(preempted(plan)) == {"low-young", "low-old", "middle"}
    assert admitted(plan) == []


def test_a_small_victim_is_spared_when_a_large_one_is_enough() -> None:
    holding = [holds("small", 1, priority=1), holds("large", 3, priority=2)]
    assert preempted(decide(queue(4, LOWER), [waits("new", 3, priority=8)], holding)) == {"large": "new"}


def test_nobody_is_preempted_in_vain() -> None:
    holding = [holds("low", 2, priority=1), holds("high", 2, priority=9)]
    assert preempted(decide(queue(4, LOWER), [waits("new", 4, priority=8)], holding)) == {}


def test_newer_equals_make_room_where_the_rule_says_so() -> None:
    holding = [holds("newer", 4, priority=5, since="7")]
    pending = [waits("older", 4, priority=5, since="5")]
    assert preempted(decide(queue(4, LOWER_OR_NEWER), pending, holding)) == {"newer": "older"}
    assert preempted(decide(queue(4, LOWER), pending, holding)) == {}


def test_quota_that_becomes_free_is_kept_for_whom_it_was_freed() -> None:
    holding = [holds("leaves", 4, priority=1, leaving=True)]
    pending = [waits("winner", 4, priority=8), waits("other", 1, priority=0)]
    plan = decide(queue(4, LOWER), pending, holding)
    assert (admitted(plan), preempted(plan)) == ([], {})
    # and once it has left, the winner comes first
    assert admitted(decide(queue(4, LOWER), pending, [])) == ["winner"]


def test_two_that_preempt_do_not_share_a_victim() -> None:
    holding = [holds("a", 2, priority=1, reserved="1"), holds("b", 2, priority=1, reserved="2")]
    pending = [waits("first", 2, priority=9), waits("second", 2, priority=8), waits("third", 2, priority=7)]
    assert preempted(decide(queue(4, LOWER), pending, holding)) == {"b": "first", "a": "second"}


def test_what_is_freed_for_one_is_enough_for_a_smaller_one_behind_it() -> None:
    holding = [holds("low", 4, priority=1)]
    pending = [waits("first", 3, priority=9), waits("second", 1, priority=9, since="2")]
    plan = decide(queue(4, LOWER), pending, holding)
    assert (preempted(plan), admitted(plan)) == ({"low": "first"}, [])


def test_each_that_waits_is_told_once() -> None:
    pending = [waits(f"w{number}", 3, since=str(number)) for number in range(3)]
    plan = decide(queue(4), [pending[0], dataclasses.replace(pending[1], is_told=True), pending[2]], [])
    assert (admitted(plan), list(plan.waiting)) == (["w0"], [key("w2")])


def test_flavors_are_taken_in_their_order() -> None:
    rules = Rules([Group({"spot": {GPU: Decimal(2)}, "reserved": {GPU: Decimal(4)}})])
    plan = decide(rules, [waits("a", 2, since="1"), waits("b", 3, since="2"), waits("c", 2, since="3")], [])
    assert {name: flavors[GPU] for (_, name), flavors in plan.admitted.items()} == {"a": "spot", "b": "reserved"}


def test_a_resource_of_no_group_and_too_large_a_demand_say_so() -> None:
    plan = decide(queue(4), [waits("odd", 1, tpu=1), waits("huge", 5)], [])
    assert plan.waiting == {
        key("odd"): "resource tpu is unavailable in the ClusterQueue",
        key("huge"): "it asks for more than the nominal quota of any flavor",
    }


def container(**requests: str) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests}}


def test_requests_are_those_of_all_pods_with_their_init_containers() -> None:
    spec = {
        "containers": [container(cpu="500m", memory="1Gi"), {"name": "d", "resources": {"limits": {"cpu": "1"}}}],
        "initContainers": [container(memory="2Gi")],
    }
    found = specs.requests([{"name": "main", "count": 3, "template": {"spec": spec}}])
    assert found == {"cpu": Decimal("4.5"), "memory": Decimal(6 * 1024**3)}


@pytest.mark.parametrize(("parallelism", "completions", "count"), [(None, None, 1), (4, None, 4), (4, 2, 2), (2, 8, 2)])
def test_the_pods_of_a_job(parallelism: int | None, completions: int | None, count: int) -> None:
    spec: dict[str, Any] = {"template": {"spec": {"containers": []}}}
    spec |= {"parallelism": parallelism} if parallelism else {}
    spec |= {"completions": completions} if completions else {}
    assert specs.pod_sets_of_job({"spec": spec})[0]["count"] == count


def test_rules_are_read_from_the_queue() -> None:
    resources = [{"name": "cpu", "nominalQuota": "1500m"}, {"name": GPU, "nominalQuota": 8}]
    group = {"coveredResources": ["cpu", GPU], "flavors": [{"name": "f", "resources": resources}]}
    spec = {
        "resourceGroups": [group],
        "queueingStrategy": "StrictFIFO",
        "preemption": {"withinClusterQueue": LOWER},
    }
    assert specs.rules({"spec": spec}) == Rules([Group({"f": {"cpu": Decimal("1.5"), GPU: Decimal(8)}})], True, LOWER)


@pytest.mark.parametrize(
    ("text", "amount"),
    [("8", 8), (8, 8), ("500m", Decimal("0.5")), ("1Ki", 1024), ("1.5Gi", 1610612736), ("2k", 2000), ("1e3", 1000)],
)
def test_quantities(text: str | int, amount: Decimal | int) -> None:
    assert parse_quantity(text) == amount


@pytest.mark.parametrize("text", ["", "many", "1Xi", "Gi"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_quantity(text)


def test_quantities_are_shown() -> None:
    assert [format_quantity(Decimal(each)) for each in ("8", "0.5", "2.250")] == ["8", "500m", "2250m"]
