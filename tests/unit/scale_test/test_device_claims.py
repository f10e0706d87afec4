"""Claims of devices: their manifests, the references of pods, GPUs that become claims, and refusals."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.gpu_supply import count_gpus, gpus_of_nodes
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_lifecycles import DEVICE_CLAIM
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.plan import read_plan, write_plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.claim_templates import DEVICE_CLAIMS
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import FixedConcurrency
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionTools,
    Submitter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    AssortedWorkloads,
    Assortment,
    Tenant,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import (
    ClaimRequest,
    DeviceClaim,
    DeviceRequest,
    check_device_claims,
    needs_admin_access,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import Size, pod_templates
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import WorkloadPlan, Workloads

from .fake_api import fake_api
from .sessions import JOBS, JOBS_BY_KIND, QUICK, SUBMISSION
from .test_workloads import TEMPLATES, VARIABLES

OWN = SUBMISSION.identity
CLAIMS = "/apis/resource.k8s.io/v1/namespaces/test/resourceclaims"
BIG = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0"
PAIR = DeviceClaim("pair", (ClaimRequest("gpu", "gpu.nvidia.com", 2, (BIG,)),), match_attributes=("a.b/pcieRoot",))


def made(
    *claims: DeviceClaim,
    kind: str = "job",
    gpus_as_devices: bool = False,
    patch: dict[str, Any] | None = None,
    **changes: Any,
) -> Workloads:
    variables = {**VARIABLES, "gpus": 0, **changes}
    plan = WorkloadPlan(
        (TEMPLATES / f"{kind}.yml.j2").read_text(),
        kind,
        "test",
        variables["pods"],
        variables,
        {},
        patch or {},
        folder=TEMPLATES,
        claims=[claim.plan() for claim in claims],
        claims_gpus=gpus_as_devices,
    )
    return Workloads(plan, SUBMISSION)


def test_each_pod_claims_from_a_template() -> None:
    workloads = made(PAIR)
    (pod,) = pod_templates(workloads.manifest(3))
    assert pod["spec"]["resourceClaims"] == [{"name": "pair", "resourceClaimTemplateName": f"{OWN}-pair"}]
    assert pod["spec"]["containers"][0]["resources"]["claims"] == [{"name": "pair"}]
    (template,) = workloads.claim_templates(range(2))
    assert template["metadata"] == {
        "name": f"{OWN}-pair",
        "namespace": "test",
        "labels": {
            "psap.perf/run": "run-1",
            "psap.perf/submission": OWN,
            "app.kubernetes.io/managed-by": "psap.perf",
        },
    }
    exactly = {
        "deviceClassName": "gpu.nvidia.com",
        "allocationMode": "ExactCount",
        "count": 2,
        "selectors": [{"cel": {"expression": BIG}}],
    }
    assert template["spec"]["metadata"]["labels"] == template["metadata"]["labels"]
    assert template["spec"]["spec"]["devices"] == {
        "requests": [{"name": "gpu", "exactly": exactly}],
        "constraints": [{"matchAttribute": "a.b/pcieRoot"}],
    }
    assert (workloads.size, workloads.companions(3)) == (Size(4, 8), [])


def test_pods_of_a_workload_share_a_claim() -> None:
    workloads = made(DeviceClaim("all", (ClaimRequest("gpu", "gpu.nvidia.com", 0),), shared=True), PAIR)
    (claim,) = workloads.companions(3)
    assert claim["metadata"] == {
        "name": f"{workloads.name(3)}-all",
        "namespace": "test",
        "labels": SUBMISSION.labels(3, workloads.name(3)),
    }
    (request,) = claim["spec"]["devices"]["requests"]
    assert request["exactly"] == {"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}
    (pod,) = pod_templates(workloads.manifest(3))
    assert pod["spec"]["resourceClaims"][0] == {"name": "all", "resourceClaimName": f"{workloads.name(3)}-all"}
    assert len(list(workloads.claim_templates(range(2)))) == 1


def submitted(*faults: int) -> tuple[list[dict[str, Any]], set[str], set[str]]:
    """Submit two Jobs with shared claims; return the rows, the names of the Jobs, and those of the claims."""
    rows: list[dict[str, Any]] = []
    by_kind = {**JOBS_BY_KIND, (DEVICE_CLAIMS.api_version, DEVICE_CLAIMS.kind): DEVICE_CLAIMS}
    workloads = AssortedWorkloads.alike(made(DeviceClaim("one", PAIR.requests, shared=True)))

    async def scene() -> tuple[set[str], set[str]]:
        async with fake_api() as api, ApiClient(ApiEndpoint(api.server), policy=QUICK, request_timeout_s=2.0) as client:
            api.post_faults.extend(faults)
            submitter = Submitter(SubmissionTools(client, RunClock.tied(), rows.append), workloads, by_kind)
            await submitter.submit(range(2), concurrency=FixedConcurrency(1), arrivals=arrivals_at(0))
            return set(api.objects.get(JOBS, {})), set(api.objects.get(CLAIMS, {}))

    return (rows, *asyncio.run(scene()))


@pytest.mark.parametrize("faults", [(), (503,)])
def test_shared_claim_is_created_before_its_workload(faults: tuple[int, ...]) -> None:
    rows, jobs, claims = submitted(*faults)
    assert jobs == {SUBMISSION.name(index) for index in range(2)}
    assert claims == {f"{name}-one" for name in jobs}
    assert [row["outcome"] for row in rows] == ["created", "created"]


def test_refused_claim_refuses_its_workload() -> None:
    rows, jobs, claims = submitted(403)
    assert jobs == {SUBMISSION.name(1)}
    assert claims == {f"{SUBMISSION.name(1)}-one"}
    assert rows[0]["error"] == "its claim: 403 scripted fault"


def test_another_submitter_creates_the_same_claims(tmp_path: Path) -> None:
    workloads = made(DeviceClaim("one", PAIR.requests, shared=True), PAIR, gpus=1, gpus_as_devices=True)
    own = OwnSubmission(AssortedWorkloads.alike(workloads), JOBS_BY_KIND, 2, 1, arrivals_at(0))
    write_plan(tmp_path / "plan.json", own, [1, 1], RunClock.tied())
    plan = read_plan(tmp_path / "plan.json").workloads.at(1)
    assert plan.companions(1) == workloads.companions(1)
    assert plan.manifest(1) == workloads.manifest(1)


def test_claim_has_alternatives_and_admin_access() -> None:
    choices = (
        DeviceRequest("big", "gpu.nvidia.com", 1, (BIG,)),
        DeviceRequest("small", "mig.nvidia.com", 2),
    )
    claim = DeviceClaim(
        "any",
        (ClaimRequest("gpu", first_available=choices), ClaimRequest("seen", "gpu.nvidia.com", 0, admin_access=True)),
    )
    check_device_claims([claim])
    assert needs_admin_access([claim])
    assert not needs_admin_access([PAIR])
    first, second = claim.plan()["devices"]["requests"]
    assert [(each["name"], each["count"]) for each in first["firstAvailable"]] == [("big", 1), ("small", 2)]
    assert second["exactly"]["adminAccess"] is True
    # of the first alternative; observed devices are not held
    assert claim.plan()["gpus"] == 1


def test_gpus_become_a_claim_where_nodes_have_devices() -> None:
    workloads = made(kind="indexedjob", gpus=2, gpus_as_devices=True)
    (pod,) = pod_templates(workloads.manifest(0))
    assert "nvidia.com/gpu" not in str(pod)
    assert pod["spec"]["resourceClaims"] == [{"name": "gpus", "resourceClaimTemplateName": f"{OWN}-gpus-2"}]
    (template,) = workloads.claim_templates(range(2))
    assert template["metadata"]["name"] == f"{OWN}-gpus-2"
    (request,) = template["spec"]["spec"]["devices"]["requests"]
    assert (request["exactly"]["deviceClassName"], request["exactly"]["count"]) == ("gpu.nvidia.com", 2)
    assert workloads.size == Size(4, 8)


def test_claims_of_a_patch_are_kept_in_every_workload() -> None:
    named = {"name": "own", "resourceClaimName": "mine"}
    container = {"name": "pytorch", "resources": {"claims": [{"name": "own"}]}}
    patch = {"spec": {"template": {"spec": {"resourceClaims": [named], "containers": [container]}}}}
    workloads = made(PAIR, gpus=2, gpus_as_devices=True, patch=patch)
    for index in range(2):
        (pod,) = pod_templates(workloads.manifest(index))
        assert [claim["name"] for claim in pod["spec"]["resourceClaims"]] == ["own", "gpus", "pair"]
        claims = pod["spec"]["containers"][0]["resources"]["claims"]
        assert [claim["name"] for claim in claims] == ["own", "gpus", "pair"]
    assert patch["spec"]["template"]["spec"]["resourceClaims"] == [named]


def test_pods_without_gpus_have_no_claim() -> None:
    workloads = made(gpus=0, gpus_as_devices=True)
    assert "resourceClaims" not in workloads.body(0).decode()
    assert list(workloads.claim_templates(range(2))) == []


def test_kind_without_pods_is_refused() -> None:
    plan = WorkloadPlan("{apiVersion: v1, kind: ConfigMap}", "own", "test", 1, {}, {}, claims=[PAIR.plan()])
    with pytest.raises(UsageError, match="a ConfigMap has no pod template whose pods could claim devices"):
        Workloads(plan, SUBMISSION)


def request(**fields: Any) -> DeviceClaim:
    return DeviceClaim("c", (ClaimRequest(**{"name": "r", "device_class": "gpu.nvidia.com", **fields}),))


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([DeviceClaim("c")], "the claim c has no requests"),
        ([PAIR, PAIR], "the claim 'pair' occurs twice"),
        ([DeviceClaim("Big", PAIR.requests)], "'Big' is not a valid name"),
        ([DeviceClaim("gpus", PAIR.requests)], "cannot have the name gpus"),
        ([DeviceClaim("c", PAIR.requests * 2)], "the request 'gpu' occurs twice"),
        ([request(name="")], "'' is not a valid name"),
        ([request(count=-1)], "has the count -1"),
        ([request(count=33)], "requests more than 32 devices"),
        ([request(device_class="")], "needs either a device_class or first_available"),
        ([request(first_available=(DeviceRequest("a", "x"),))], "needs either a device_class or first_available"),
        ([request(device_class="", count=2, first_available=(DeviceRequest("a", "x"),))], "of each alternative"),
        (
            [request(device_class="", first_available=(DeviceRequest("a"),))],
            "the alternative a .* needs a device_class",
        ),
        (
            [request(device_class="", first_available=tuple(DeviceRequest(f"a{n}", "x") for n in range(9)))],
            "more than 8 alternatives",
        ),
    ],
)
def test_invalid_claim_is_refused(claims: list[DeviceClaim], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_device_claims(claims)


def published(node: str | None, *types: str | None, pool: str = "", generation: int = 1) -> dict[str, Any]:
    devices = [{"attributes": {"type": {"string": kind}} if kind else {}} for kind in types]
    spec = {"driver": "gpu.nvidia.com", "pool": {"name": pool or node, "generation": generation}, "devices": devices}
    return {"spec": {**spec, **({"nodeName": node} if node else {"allNodes": True})}}


def test_whole_gpus_of_the_newest_pools_are_counted() -> None:
    slices = [
        published("a", "gpu", "gpu", "mig"),
        published("a", "gpu"),
        published("b", "gpu", "gpu", generation=1),
        published("b", None, generation=2),
        published(None, "gpu", pool="fabric"),
        {"spec": {**published("a")["spec"], "sharedCounters": []}},
        {"spec": {**published("a", "gpu")["spec"], "driver": "other.example.com"}},
    ]
    assert count_gpus(slices) == {"a": 3, "b": 1}


def test_node_with_an_extended_resource_counts_without_its_devices() -> None:
    extended = {"metadata": {"name": "a"}, "status": {"allocatable": {"nvidia.com/gpu": "4"}}}
    nodes: list[dict[str, Any]] = [extended, {"metadata": {"name": "b"}, "status": {}}, {"metadata": {"name": "c"}}]
    assert gpus_of_nodes(nodes, {"a": 8, "b": 2}) == {"a": 4, "b": 2, "c": 0}


def test_template_with_gpus_by_index_has_a_claim_template_for_each_number() -> None:
    source = """{apiVersion: v1, kind: Pod, spec: {containers: [
        {name: a, resources: {limits: {nvidia.com/gpu: {{ index % 3 }}}}}]}}"""
    plan = WorkloadPlan(source, "own", "test", 1, {}, {}, claims_gpus=True)
    workloads = AssortedWorkloads(Assortment([Tenant("test")]), 4, lambda _variant: Workloads(plan, SUBMISSION))
    created = {each["metadata"]["name"] for each in workloads.claim_templates}
    pods = [workloads.manifest(index)["spec"] for index in range(4)]
    named = [each["resourceClaimTemplateName"] for pod in pods for each in pod.get("resourceClaims", ())]
    assert named == [f"{OWN}-gpus-1", f"{OWN}-gpus-2"]
    assert created == set(named)


def test_claim_counts_gpus_by_the_class_of_each_request() -> None:
    choices = (DeviceRequest("big", "gpu.nvidia.com"), DeviceRequest("part", "mig.nvidia.com"))
    requests = (ClaimRequest("nic", "net.example.com"), ClaimRequest("any", first_available=choices))
    claim = {"metadata": {"creationTimestamp": None}, "spec": {"devices": DeviceClaim("c", requests).plan()["devices"]}}

    def gpus(*names: str) -> tuple[int | None, int | None]:
        results = [{"request": name} for name in names]
        status = {"allocation": {"devices": {"results": results}}}
        (found,) = [each for each in DEVICE_CLAIM.read({**claim, "status": status}) if each.word == "allocated"]
        return found.devices, found.gpus

    assert gpus("nic", "any/big") == (2, 1)
    assert gpus("nic", "any/part") == (2, 0)
