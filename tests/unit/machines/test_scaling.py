"""Changes that lead to the requested number of machines of an instance type."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.cloning import Shape
from ansible_collections.psap.perf.plugins.module_utils.machines.scaling import Plan, Request, plan
from ansible_collections.psap.perf.plugins.module_utils.machines.taints import parse_taints

from .sets import SET_LABEL, aws, ibm, value

GPU = "g5.2xlarge"


def machine_request(scale: int, **given: Any) -> Request:
    shape = {name: given.pop(name) for name in ("taints", "spot", "disk_gb") if name in given}
    return Request(Shape(given.pop("type", GPU), **shape), scale, **given)


def replicas_of(planned: Plan) -> dict[str, int]:
    return {change.name: change.change["spec"]["replicas"] for change in planned.changes}


def test_existing_set_of_the_type_is_used() -> None:
    planned = plan([aws("workers"), aws("gpus", GPU, replicas=1)], machine_request(3))
    assert replicas_of(planned) == {"gpus": 3}
    assert planned.awaited == ("gpus",)
    assert planned.clone is None


def test_requested_count_in_any_distribution_is_no_change() -> None:
    planned = plan([aws("a", GPU, replicas=1), aws("b", GPU, replicas=2)], machine_request(3))
    assert planned == Plan(awaited=("a", "b"))


def test_none_of_a_missing_type_is_nothing_to_do() -> None:
    assert plan([aws("workers")], machine_request(0)) == Plan()


def test_first_set_takes_the_difference_and_others_keep_theirs() -> None:
    sets = [aws("b", GPU, replicas=2), aws("a", GPU, replicas=1)]
    assert replicas_of(plan(sets, machine_request(5))) == {"a": 3}
    assert replicas_of(plan(sets, machine_request(2))) == {"a": 0}


def test_other_sets_are_emptied_only_by_force() -> None:
    sets = [aws("a", GPU, replicas=1), aws("b", GPU, replicas=2)]
    with pytest.raises(UsageError, match=r"b hold 2 machines of type .*, more than the 1 requested"):
        plan(sets, machine_request(1))
    assert replicas_of(plan(sets, machine_request(1, force=True))) == {"b": 0}
    with pytest.raises(UsageError, match="a, b all hold machines"):
        plan(sets, machine_request(0))
    assert replicas_of(plan(sets, machine_request(0, force=True))) == {"a": 0, "b": 0}


def test_named_set_counts_alone() -> None:
    sets = [aws("a", GPU, replicas=1), aws("b", GPU, replicas=2)]
    planned = plan(sets, machine_request(1, name="b"))
    assert replicas_of(planned) == {"b": 1}
    assert planned.awaited == ("b",)


def test_named_set_of_another_type_is_refused_and_not_replaced() -> None:
    with pytest.raises(UsageError, match=r"the MachineSet a is of type m6i\.2xlarge, not g5\.2xlarge"):
        plan([aws("a")], machine_request(1, name="a"))


def test_clone_is_a_separate_set() -> None:
    made = plan([aws("workers")], machine_request(2, taints=parse_taints(["gpu=yes:NoSchedule"]))).clone
    assert made is not None
    assert made["metadata"] == {
        "name": "workers--g5-2xlarge",
        "namespace": "openshift-machine-api",
        "labels": {"machine.openshift.io/cluster-api-cluster": "lab"},
    }
    spec = made["spec"]
    template = spec["template"]
    assert spec["replicas"] == 2
    assert spec["selector"]["matchLabels"][SET_LABEL] == "workers--g5-2xlarge"
    assert spec["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert template["spec"]["taints"] == [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    assert template["spec"]["metadata"]["labels"] == {"gpu": "yes"}
    assert template["metadata"]["labels"]["gpu"] == "yes"
    assert value(made)["instanceType"] == GPU
    assert value(made)["subnet"] == {"id": "subnet-1"}
    assert "status" not in made


def test_clone_leaves_its_base_unchanged() -> None:
    base = aws("workers")
    plan([base], machine_request(2, spot=True, disk_gb=500, taints=parse_taints(["a=b:NoExecute"])))
    assert base == aws("workers")


def test_long_name_is_cut_to_the_limit_of_a_label() -> None:
    made = plan([aws("w" * 70)], machine_request(1)).clone
    assert made is not None
    assert made["metadata"]["name"] == "w" * 51 + "--g5-2xlarge"


def test_spot_and_disk_are_set_for_aws() -> None:
    made = plan([aws("workers")], machine_request(1, spot=True, disk_gb=500)).clone
    assert made is not None
    assert value(made)["spotMarketOptions"] == {}
    assert value(made)["blockDevices"] == [{"ebs": {"volumeSize": 500, "volumeType": "gp3"}}]


def test_clone_of_spot_instances_is_on_demand_unless_requested() -> None:
    base = aws("workers")
    value(base)["spotMarketOptions"] = {"maxPrice": "1"}
    made = plan([base], machine_request(1)).clone
    assert made is not None
    assert "spotMarketOptions" not in value(made)


def test_ibm_has_its_field_and_neither_spot_nor_disks() -> None:
    sets = [ibm("workers")]
    made = plan(sets, machine_request(1, type="gx3-16x80x1l4", ibm=True)).clone
    assert made is not None
    assert made["metadata"]["name"] == "workers--gx3-16x80x1l4"
    assert value(made)["profile"] == "gx3-16x80x1l4"
    with pytest.raises(UsageError, match="IBM Cloud have no spot instances"):
        plan(sets, machine_request(1, spot=True))
    with pytest.raises(UsageError, match="disk_size: the MachineSets of IBM Cloud"):
        plan(sets, machine_request(1, disk_gb=500))


@pytest.mark.parametrize(("sets", "ibm"), [([aws("a")], True), ([ibm("a")], False)])
def test_ibm_argument_contradicting_the_sets_is_refused(sets: list[Any], ibm: bool) -> None:
    with pytest.raises(UsageError, match=r"^ibm: "):
        plan(sets, machine_request(1, ibm=ibm))


def test_base_of_the_clone_is_chosen_or_a_worker_set() -> None:
    sets = [aws("control", role="master"), aws("workers"), aws("infra", role="infra")]
    assert plan(sets, machine_request(1)).awaited == ("workers--g5-2xlarge",)
    assert plan(sets, machine_request(1, base="infra")).awaited == ("infra--g5-2xlarge",)
    with pytest.raises(UsageError, match="unknown MachineSet nope; known: control, infra, workers"):
        plan(sets, machine_request(1, base="nope"))


def test_cluster_without_worker_sets_has_nothing_to_clone() -> None:
    with pytest.raises(ClusterError, match="no MachineSet of workers to clone"):
        plan([], machine_request(1))


def test_set_of_an_unknown_provider_is_ignored() -> None:
    strange = aws("strange", replicas=3)
    strange["spec"]["template"]["spec"]["providerSpec"]["value"] = {"numCPUs": 4}
    assert replicas_of(plan([strange, aws("gpus", GPU)], machine_request(1))) == {"gpus": 1}
    with pytest.raises(ClusterError, match="MachineSet strange: no instance type"):
        plan([strange], machine_request(1))


def test_existing_set_must_match_the_request() -> None:
    taints = parse_taints(["gpu=yes:NoSchedule"])
    with pytest.raises(UsageError, match="gpus of 1 machines is not of spot instances and has disks of 120 GB"):
        plan([aws("gpus", GPU, replicas=1)], machine_request(2, spot=True, disk_gb=500))
    with pytest.raises(UsageError, match="does not taint its nodes with gpu=yes:NoSchedule"):
        plan([aws("gpus", GPU, replicas=1)], machine_request(1, taints=taints))


def test_set_without_machines_is_updated_once() -> None:
    request = machine_request(1, spot=True, disk_gb=500, taints=parse_taints(["gpu=yes:NoSchedule"]))
    empty = aws("gpus", GPU)
    change = plan([empty], request).changes[0].change
    assert change["spec"]["replicas"] == 1
    there = {**empty, "spec": {**empty["spec"], **change["spec"]}}
    assert plan([there], request) == Plan(awaited=("gpus",))


def test_created_sets_are_deleted_with_their_machines() -> None:
    ours = aws("ours", GPU, replicas=2, labels={"app.kubernetes.io/managed-by": "psap.perf"})
    planned = plan([ours], machine_request(0))
    assert planned == Plan(removed=("ours",))
    assert replicas_of(plan([ours], machine_request(1))) == {"ours": 1}


def test_set_being_deleted_does_not_count_and_keeps_its_name() -> None:
    going = aws("workers--g5-2xlarge", GPU, replicas=2)
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    with pytest.raises(UsageError, match="or is being deleted"):
        plan([aws("workers"), going], machine_request(1))


@pytest.mark.parametrize("text", ["gpu", "gpu=yes", "gpu=yes:Sometimes", "=yes:NoSchedule", "a=b:NoSchedule,"])
def test_taint_is_key_value_and_effect(text: str) -> None:
    with pytest.raises(UsageError, match="is not key=value:effect"):
        parse_taints([text])


def test_taint_may_have_no_value() -> None:
    assert [str(taint) for taint in parse_taints(["gpu=:NoExecute", ""])] == ["gpu=:NoExecute"]
