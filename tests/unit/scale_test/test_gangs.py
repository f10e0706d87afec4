"""Gangs: the pod group of each workload is created before it, in spite of every fault, and is no workload."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import Answer, ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.plan import read_plan, write_plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import FixedConcurrency
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionTools,
    Submitter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import gangs
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import AssortedWorkloads
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import pod_templates
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import WorkloadPlan, Workloads

from .fake_api import RESOURCES, FakeApi, fake_api
from .sessions import JOBS, JOBS_BY_KIND, QUICK, SUBMISSION, TEMPLATE
from .test_workloads import TEMPLATES, VARIABLES

# Kubernetes 1.37; 1.36 has v1alpha2
NATIVE, PLUGINS = "scheduling.k8s.io/v1beta1", "scheduling.x-k8s.io/v1alpha1"
GROUPS = f"/apis/{NATIVE}/namespaces/test/podgroups"
POD_GROUP = ResourceKind(NATIVE, "PodGroup", "podgroups")
BY_KIND = {**JOBS_BY_KIND, (POD_GROUP.api_version, POD_GROUP.kind): POD_GROUP}


def gang(kind: str, pod_groups: str = NATIVE, **changes: Any) -> Workloads:
    """Return a shipped kind of four pods, as a gang."""
    source = (TEMPLATES / f"{kind}.yml.j2").read_text()
    variables = {**VARIABLES, **changes}
    plan = WorkloadPlan(source, kind, "test", variables["pods"], variables, {}, folder=TEMPLATES, pod_groups=pod_groups)
    return Workloads(plan, SUBMISSION)


@pytest.mark.parametrize("kind", ["job", "indexedjob", "deployment"])
def test_pods_of_builtin_kinds_name_the_group(kind: str) -> None:
    made = gang(kind)
    (template,) = pod_templates(made.manifest(3))
    assert template["spec"]["schedulingGroup"] == {"podGroupName": made.name(3)}
    assert made.companions(3) == [
        {
            "apiVersion": NATIVE,
            "kind": "PodGroup",
            "metadata": {"name": made.name(3), "namespace": "test", "labels": SUBMISSION.labels(3, made.name(3))},
            "spec": {"schedulingPolicy": {"gang": {"minCount": 4}}},
        }
    ]


def test_group_has_the_priority_of_its_pods() -> None:
    (group,) = gang("job", priority_class="p1-high").companions(0)
    assert group["spec"]["priorityClassName"] == "p1-high"


def test_single_pod_is_a_gang_of_one() -> None:
    made = gang("pod", pods=1)
    assert made.manifest(0)["spec"]["schedulingGroup"] == {"podGroupName": made.name(0)}


def test_pods_of_other_kinds_have_the_labs_label() -> None:
    made = gang("pytorchjob")
    templates = pod_templates(made.manifest(1))
    assert [one["metadata"]["labels"]["lab.psap.perf/pod-group"] for one in templates] == [made.name(1)] * 2
    assert not any("schedulingGroup" in one["spec"] for one in templates)


@pytest.mark.parametrize("kind", ["job", "pytorchjob"])
def test_scheduler_plugins_group_is_joined_by_a_label(kind: str) -> None:
    made = gang(kind, PLUGINS)
    for template in pod_templates(made.manifest(1)):
        assert template["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] == made.name(1)
        assert "schedulingGroup" not in template["spec"]
    (group,) = made.companions(1)
    assert (group["apiVersion"], group["spec"]) == (PLUGINS, {"minMember": 4})


def test_submission_without_gangs_has_no_group() -> None:
    made = gang("job", pod_groups="")
    assert made.companions(0) == []
    assert "schedulingGroup" not in made.body(0).decode()


def test_kind_without_pods_is_refused() -> None:
    plan = WorkloadPlan("{apiVersion: v1, kind: ConfigMap}", "own", "test", 1, {}, {}, pod_groups=NATIVE)
    with pytest.raises(UsageError, match="a ConfigMap has no pod template"):
        Workloads(plan, SUBMISSION)


def test_kinds_that_cannot_join_are_refused() -> None:
    pytorch = [("kubeflow.org/v1", "PyTorchJob")]
    gangs.check_kinds([("batch/v1", "Job"), ("v1", "Pod"), ("apps/v1", "Deployment")], NATIVE, lab=False)
    gangs.check_kinds(pytorch, NATIVE, lab=True)
    gangs.check_kinds(pytorch, PLUGINS, lab=False)
    with pytest.raises(UsageError, match=r"pods of a PyTorchJob .* cannot join"):
        gangs.check_kinds(pytorch, NATIVE, lab=False)
    with pytest.raises(UsageError, match="Run:ai creates pod groups by itself"):
        gangs.check_kinds([("run.ai/v2alpha1", "TrainingWorkload")], PLUGINS, lab=True)


@pytest.mark.parametrize(
    ("served", "expected"),
    [
        (["scheduling.k8s.io/v1alpha2", PLUGINS], "scheduling.k8s.io/v1alpha2"),
        ([NATIVE, "scheduling.k8s.io/v1alpha3", PLUGINS], NATIVE),
        ([PLUGINS], PLUGINS),
        ([], None),
    ],
)
def test_pod_groups_have_the_served_version(
    served: list[str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The server's preferred version of the group has no PodGroup.
    monkeypatch.setitem(RESOURCES, "/apis/scheduling.k8s.io/v1", [("priorityclasses", "PriorityClass")])
    for version in served:
        monkeypatch.setitem(RESOURCES, f"/apis/{version}", [("podgroups", "PodGroup")])

    async def found() -> ResourceKind:
        async with fake_api() as api, ApiClient(ApiEndpoint(api.server)) as client:
            return await gangs.discover_pod_groups(client)

    if expected is not None:
        assert asyncio.run(found()) == ResourceKind(expected, "PodGroup", "podgroups")
        return
    with pytest.raises(ClusterError, match=r"serves no PodGroup, which gangs need: neither of scheduling\.k8s\.io"):
        asyncio.run(found())


@dataclass
class Submitted:
    """Rows and objects of one submission of Jobs that are gangs."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    jobs: set[str] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)

    async def _run(self, api: FakeApi, count: int) -> None:
        plan = WorkloadPlan(TEMPLATE, "test", "test", 1, {}, {}, pod_groups=NATIVE)
        async with ApiClient(ApiEndpoint(api.server), policy=QUICK, request_timeout_s=2.0) as client:
            tools = SubmissionTools(client, RunClock.tied(), self.rows.append)
            submitter = Submitter(tools, AssortedWorkloads.alike(Workloads(plan, SUBMISSION)), BY_KIND)
            await submitter.submit(range(count), concurrency=FixedConcurrency(1), arrivals=arrivals_at(0))
            assert submitter.counts.sent == count
        self.jobs, self.groups = set(api.objects.get(JOBS, {})), set(api.objects.get(GROUPS, {}))

    def run(self, count: int, *faults: int | str, taken: dict[str, Any] | None = None) -> Submitted:
        async def served() -> None:
            async with fake_api() as api:
                api.post_faults.extend(faults)
                if taken is not None:
                    await api.create(GROUPS, taken)
                await self._run(api, count)

        asyncio.run(served())
        return self


def test_each_workload_has_its_group_and_no_extra_rows() -> None:
    done = Submitted().run(3)
    assert done.jobs == done.groups == {SUBMISSION.name(index) for index in range(3)}
    assert [(row["kind"], row["outcome"]) for row in done.rows] == [("Job", "created")] * 3


@pytest.mark.parametrize("fault", [429, 503, "reset", "lost"])
def test_group_creation_is_retried_without_duplicates(fault: int | str) -> None:
    done = Submitted().run(2, fault)
    assert len(done.jobs) == len(done.groups) == 2
    assert [row["outcome"] for row in done.rows] == ["created"] * 2


def test_refused_group_refuses_its_workload() -> None:
    done = Submitted().run(2, 403)
    assert done.jobs == done.groups == {SUBMISSION.name(1)}
    refused = done.rows[0]
    assert (refused["status"], refused["outcome"], refused["uid"]) == (403, "failed", None)
    assert refused["error"] == "its pod group: 403 scripted fault"


def test_foreign_group_of_the_name_is_not_used() -> None:
    taken = {"metadata": {"name": SUBMISSION.name(0), "labels": {"psap.perf/submission": "another"}}}
    done = Submitted().run(1, taken=taken)
    assert done.jobs == set()
    assert "its pod group: 409" in done.rows[0]["error"]


def test_group_without_a_response_leaves_its_workload_uncreated() -> None:
    done = Submitted().run(1, *["reset"] * 200)
    assert done.jobs == set()
    assert (done.rows[0]["status"], done.rows[0]["outcome"]) == (None, "failed")
    assert "podgroups had no answer in" in done.rows[0]["error"]


def test_another_submitter_creates_the_same_groups(tmp_path: Path) -> None:
    made = gang("job", priority_class="p1-high")
    own = OwnSubmission(AssortedWorkloads.alike(made), BY_KIND, 3, 1, arrivals_at(0))
    write_plan(tmp_path / "plan.json", own, [1, 1], RunClock.tied())
    plan = read_plan(tmp_path / "plan.json")
    assert plan.resources[NATIVE, "PodGroup"] == POD_GROUP
    for index in range(3):
        assert plan.workloads.at(index).companions(index) == made.companions(index)
        assert plan.workloads.at(index).manifest(index) == made.manifest(index)


RACKS = {"topology": [{"key": "lab.psap.perf/rack"}]}


@pytest.mark.parametrize(
    ("faults", "kept", "why"),
    [([], True, ""), ([], False, "drops the field"), ([422], True, "scripted fault")],
)
def test_cluster_must_keep_the_topology_of_a_group(
    monkeypatch: pytest.MonkeyPatch, faults: list[int | str], kept: bool, why: str
) -> None:
    group = {**gang("job").companions(0)[0], "spec": {"schedulingConstraints": RACKS}}
    if not kept:
        monkeypatch.setattr(Answer, "document", lambda _self: {**group, "spec": {}})

    async def checked() -> None:
        async with fake_api() as api, ApiClient(ApiEndpoint(api.server)) as client:
            api.post_faults.extend(faults)
            await gangs.check_topology(client, group, POD_GROUP)

    if not why:
        asyncio.run(checked())
        return
    with pytest.raises(ClusterError, match=f"does not place pod groups in a topology: .*{why}"):
        asyncio.run(checked())
