"""Placement of a workload's pods in one domain: by Kueue in a queue, by the group of a gang, else by pod affinity."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.plan import read_plan, write_plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import topology
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import AssortedWorkloads
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import pod_templates
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import WorkloadPlan, Workloads
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.topology import Placement, placement_of

from .sessions import JOBS_BY_KIND, SUBMISSION
from .test_workloads import TEMPLATES, VARIABLES

NATIVE = "scheduling.k8s.io/v1alpha2"
BLOCK, RACK = "lab.psap.perf/block", "lab.psap.perf/rack"


def placed(kind: str, constraint: str, patch: dict[str, Any] | None = None, **changes: Any) -> Workloads:
    """Return a shipped kind of several pods that belong in one rack."""
    source = (TEMPLATES / f"{kind}.yml.j2").read_text()
    variables = {**VARIABLES, **changes}
    plan = WorkloadPlan(source, kind, "test", variables["pods"], variables, {"x": "1"}, patch or {}, TEMPLATES)
    return Workloads(replace(plan, placement=Placement(constraint, RACK)), SUBMISSION)


def placed_gang(constraint: str, pod_groups: str, **changes: Any) -> Workloads:
    """Return a Job of several pods that belong in one rack and start together."""
    plan = replace(placed("job", constraint, **changes).plan, pod_groups=pod_groups)
    return Workloads(plan, SUBMISSION)


def test_pod_group_places_a_gang_in_a_required_rack() -> None:
    made = placed_gang("required", NATIVE)
    (group,) = made.companions(0)
    assert group["spec"]["schedulingConstraints"] == {"topology": [{"key": RACK}]}
    assert "affinity" not in pod_templates(made.manifest(0))[0]["spec"]


@pytest.mark.parametrize(
    ("constraint", "pod_groups", "queue"),
    [("preferred", NATIVE, ""), ("required", "scheduling.x-k8s.io/v1alpha1", ""), ("required", NATIVE, "gold")],
)
def test_other_gangs_are_placed_like_other_workloads(constraint: str, pod_groups: str, queue: str) -> None:
    made = placed_gang(constraint, pod_groups, queue=queue)
    (group,) = made.companions(0)
    assert "schedulingConstraints" not in group["spec"]
    (template,) = pod_templates(made.manifest(0))
    assert ("affinity" in template["spec"]) is not bool(queue)


@pytest.mark.parametrize("constraint", ["preferred", "required"])
def test_queued_job_has_kueues_annotation(constraint: str) -> None:
    (template,) = pod_templates(placed("job", constraint, queue="gold").manifest(3))
    assert template["metadata"]["annotations"] == {"x": "1", f"kueue.x-k8s.io/podset-{constraint}-topology": RACK}
    assert "affinity" not in template["spec"]


def test_master_and_workers_are_placed_as_one_group() -> None:
    templates = pod_templates(placed("pytorchjob", "required", queue="gold").manifest(0))
    annotations = [one["metadata"]["annotations"] for one in templates]
    assert [each["kueue.x-k8s.io/podset-group-name"] for each in annotations] == ["gang", "gang"]
    assert [each["kueue.x-k8s.io/podset-required-topology"] for each in annotations] == [RACK, RACK]


def test_head_and_workers_of_a_ray_cluster_are_placed_as_one_group() -> None:
    templates = pod_templates(placed("raycluster", "required", queue="gold").manifest(0))
    assert [one["metadata"]["annotations"]["kueue.x-k8s.io/podset-group-name"] for one in templates] == ["gang"] * 2


@pytest.mark.parametrize(
    ("kind", "patch", "number"),
    [("rayjob", {}, 3), ("pytorchjob", {"spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 2}}}}, 2)],
)
def test_templates_that_kueue_cannot_place_together_are_refused(kind: str, patch: dict[str, Any], number: int) -> None:
    with pytest.raises(UsageError, match=f"cannot place the {number} pod templates"):
        placed(kind, "required", patch, queue="gold")


def test_required_rack_is_an_affinity_to_the_pods_of_the_workload() -> None:
    made = placed("job", "required")
    (template,) = pod_templates(made.manifest(3))
    term = {"labelSelector": {"matchLabels": {"psap.perf/workload": made.name(3)}}, "topologyKey": RACK}
    assert template["spec"]["affinity"] == {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    assert "kueue" not in made.body(3).decode()


def test_preferred_rack_keeps_the_affinity_of_the_workload() -> None:
    own = {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {}}}
    affinity = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [own]}, "nodeAffinity": {}}
    patch = {"spec": {"template": {"spec": {"affinity": affinity}}}}
    (template,) = pod_templates(placed("job", "preferred", patch).manifest(0))
    first, second = template["spec"]["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert first == own
    assert (second["weight"], second["podAffinityTerm"]["topologyKey"]) == (100, RACK)


def test_submitting_processes_place_the_same_pods(tmp_path: Path) -> None:
    made = placed("job", "required", queue="gold")
    own = OwnSubmission(AssortedWorkloads.alike(made), JOBS_BY_KIND, 2, 1, arrivals_at(0.0))
    write_plan(tmp_path / "plan.json", own, [1], RunClock.tied())
    plan = read_plan(tmp_path / "plan.json")
    assert plan.workloads.at(1).manifest(1) == made.manifest(1)


def test_level_is_by_default_the_smallest() -> None:
    assert placement_of("none", "", []) is None
    assert placement_of("required", "", [BLOCK, RACK]) == Placement("required", RACK)
    assert placement_of("preferred", BLOCK, []) == Placement("preferred", BLOCK)
    with pytest.raises(UsageError, match="set topology_labels"):
        placement_of("required", "", [])
    with pytest.raises(UsageError, match="the level rack is none of the topology's labels"):
        placement_of("required", "rack", [BLOCK, RACK])


def test_topology_of_kueue_ends_with_nodes() -> None:
    place = Placement("required", BLOCK)
    assert topology.complete([BLOCK, RACK], place) == (BLOCK, RACK, topology.HOSTNAME)
    assert topology.complete([], Placement("required", topology.HOSTNAME)) == (topology.HOSTNAME,)
    assert topology.complete([BLOCK], None) == ()


@pytest.mark.parametrize(
    ("labels", "level", "message"),
    [
        (["a b"], "", "not a valid label"),
        ([RACK, RACK], "", "not distinct"),
        ([topology.HOSTNAME, RACK], "", "smallest level"),
        ([BLOCK], RACK, "none of the topology's labels"),
    ],
)
def test_invalid_labels_are_refused(labels: list[str], level: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        topology.check_labels(labels, level)


def test_kind_of_runai_is_refused() -> None:
    with pytest.raises(UsageError, match="Run:ai places the pods"):
        topology.check_kinds([("run.ai/v2alpha1", "TrainingWorkload")])


def test_kind_without_pods_is_refused() -> None:
    plan = WorkloadPlan("{apiVersion: v1, kind: ConfigMap}", "own", "test", 1, {}, {})
    with pytest.raises(UsageError, match="a ConfigMap has no pod template"):
        Workloads(replace(plan, placement=Placement("required", RACK)), SUBMISSION)
