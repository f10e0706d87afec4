"""Claims of devices on a lab whose GPUs are devices, with the real scheduler and controllers."""

from __future__ import annotations

import asyncio
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Priority
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import (
    ClaimRequest,
    DeviceClaim,
    DeviceRequest,
)

from .conftest import PROGRAMS, Lab, Submission, running_lab

pytestmark = [pytest.mark.lab, pytest.mark.deep]

GPU, PART = "gpu.nvidia.com", "mig.nvidia.com"
WORDS = ("created", "allocated", "reserved", "released")


@pytest.fixture(name="devices_lab", scope="module")
def _devices_lab() -> Iterator[Lab]:
    options = ("--nodes", "2", "--dra", "--mig", "--with", "trainer", "--with", "training-operator")
    with running_lab("device-claims", *options) as lab:
        yield lab


@pytest.fixture(name="domains_lab", scope="module")
def _domains_lab() -> Iterator[Lab]:
    with running_lab("device-domains", "--nodes", "4", "--dra", "--topology", "nvlink=2") as lab:
        yield lab


@pytest.fixture(name="submission")
def _submission(devices_lab: Lab, tmp_path: Path) -> Iterator[Submission]:
    made = Submission(tmp_path, devices_lab, gpus=0)
    yield made
    asyncio.run(made.delete_namespaces())


def claim_rows(submission: Submission) -> list[dict[str, Any]]:
    return [row for row in submission.rows("transitions") if row["kind"] == "ResourceClaim"]


def completed(submission: Submission) -> list[dict[str, Any]]:
    """Submit; return the rows of the claims after all workloads have completed."""
    end = submission.submit()
    assert end.accounting.completed == submission.count
    return claim_rows(submission)


def left(submission: Submission, plural: str) -> list[str]:
    async def names() -> list[str]:
        async with submission.lab.client() as client:
            path = f"/apis/resource.k8s.io/v1/namespaces/{submission.namespace}/{plural}"
            return [each["metadata"]["name"] for each in (await client.request("GET", path)).document()["items"]]

    return asyncio.run(names())


def test_gpus_become_claims_and_are_given_back(submission: Submission) -> None:
    # twice as many as the 16 GPUs of the lab
    submission.gpus, submission.count = 4, 8
    rows = completed(submission)
    nodes = [{"name": f"node-000{number}", "gpus": 8, "domains": []} for number in range(2)]
    assert submission.document("nodes")["nodes"] == nodes
    assert {row["gpus"] for row in submission.rows("submissions")} == {4}
    assert Counter(row["transition"] for row in rows if row["transition"] in WORDS) == dict.fromkeys(WORDS, 8)
    allocated = [row for row in rows if row["transition"] == "allocated"]
    assert {row["devices"] for row in allocated} == {4}
    pods = {row["workload"]: row["node"] for row in submission.rows("transitions") if row["transition"] == "scheduled"}
    assert {row["workload"]: row["node"] for row in allocated} == pods
    held: Counter[str] = Counter()
    for row in rows:
        held[row["node"]] += {"allocated": 4}.get(row["transition"], 0)
        if row["transition"] == "released":
            held[pods[row["workload"]]] -= 4
        assert max(held.values()) <= 8
    assert left(submission, "resourceclaimtemplates") == []


def test_pods_of_a_workload_share_a_claim(submission: Submission) -> None:
    submission.count, submission.pods = 3, 4
    submission.claims = [DeviceClaim("one", (ClaimRequest("gpu", GPU),), shared=True)]
    rows = completed(submission)
    assert Counter(row["transition"] for row in rows if row["transition"] in WORDS) == dict.fromkeys(WORDS, 3)
    assert [len(names) for names in nodes_of_workloads(submission)] == [1, 1, 1]
    # the cleanup deletes them; they hold nothing
    assert len(left(submission, "resourceclaims")) == 3
    assert {(row["gpus"], row["pods"]) for row in submission.rows("submissions")} == {(1, 4)}


def test_several_requests_and_attributes_are_met(submission: Submission) -> None:
    half = "device.attributes['gpu.nvidia.com'].numaNode == 1"
    impossible = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('1Ti')) > 0"
    small = "device.attributes['gpu.nvidia.com'].profile == '1g.10gb'"
    choices = (DeviceRequest("huge", GPU, 1, (impossible,)), DeviceRequest("parts", PART, 3, (small,)))
    submission.count = 2
    submission.claims = [
        DeviceClaim("pair", (ClaimRequest("gpu", GPU, 2, (half,)),), match_attributes=(f"{GPU}/numaNode",)),
        DeviceClaim("any", (ClaimRequest("choice", first_available=choices),)),
    ]
    rows = [row for row in completed(submission) if row["transition"] == "allocated"]
    assert sorted(row["devices"] for row in rows) == [2, 2, 3, 3]


def test_admin_access_holds_no_devices(submission: Submission) -> None:
    # more pods than nodes: each sees all GPUs of its node
    submission.count = 4
    submission.claims = [DeviceClaim("seen", (ClaimRequest("all", GPU, 0, admin_access=True),))]
    rows = [row for row in completed(submission) if row["transition"] == "allocated"]
    assert [row["devices"] for row in rows] == [0, 0, 0, 0]


def test_expression_that_is_invalid_is_refused_before_workloads(submission: Submission) -> None:
    for shared in (False, True):
        submission.claims = [DeviceClaim("bad", (ClaimRequest("gpu", GPU, 1, ("device.nonsense ==",)),), shared=shared)]
        with pytest.raises(ClusterError, match=r"cannot create the ResourceClaim\S* p\S*-bad: .*compilation failed"):
            submission.submit()
        assert not (submission.folder / "artifacts" / "submissions.jsonl").exists()


@pytest.mark.parametrize("kind", ["pod", "trainjob"])
def test_claims_are_checked_with_the_objects_that_a_workload_names(submission: Submission, kind: str) -> None:
    submission.kind, submission.gpus, submission.count = kind, 1, 2
    submission.priorities = [Priority("high", 1000)]
    completed(submission)


def test_kind_that_drops_claims_is_refused(submission: Submission) -> None:
    submission.kind, submission.gpus = "pytorchjob", 1
    with pytest.raises(UsageError, match=r"pods of a PyTorchJob .* cannot claim devices"):
        submission.submit()
    assert left(submission, "resourceclaimtemplates") == []


def nodes_of_workloads(submission: Submission) -> list[set[str]]:
    nodes = defaultdict(set)
    for row in submission.rows("transitions"):
        if row["kind"] == "Pod" and row["transition"] == "scheduled":
            nodes[row["workload"]].add(row["node"])
    return list(nodes.values())


# nodes are assigned to the two domains in turn
DOMAINS = [{"node-0000", "node-0002"}, {"node-0001", "node-0003"}]


def test_expression_selects_the_gpus_of_one_nvlink_domain(domains_lab: Lab, tmp_path: Path) -> None:
    second = f"device.attributes['{GPU}'].nvlinkDomain == 'nvlink-1'"
    submission = Submission(tmp_path, domains_lab, gpus=0, count=4)
    submission.claims = [DeviceClaim("own", (ClaimRequest("gpu", GPU, 8, (second,)),))]
    completed(submission)
    assert set().union(*nodes_of_workloads(submission)) == DOMAINS[1]


def test_pods_that_share_a_channel_run_in_one_nvlink_domain(domains_lab: Lab, tmp_path: Path) -> None:
    # each of two workloads needs both nodes of a domain
    submission = Submission(tmp_path, domains_lab, gpus=8, pods=2, count=2, duration_s=5.0)
    channel = ClaimRequest("one", "compute-domain-default-channel.nvidia.com")
    submission.claims = [DeviceClaim("channel", (channel,), shared=True)]
    rows = [row for row in completed(submission) if row["transition"] == "allocated"]
    assert all(nodes in DOMAINS for nodes in nodes_of_workloads(submission))
    assert Counter((row["node"] is None, row["devices"], row["gpus"]) for row in rows) == {
        (True, 1, 0): 2,
        (False, 8, 8): 4,
    }


def test_scaling_publishes_slices_that_are_missing(domains_lab: Lab, tmp_path: Path) -> None:
    submission = Submission(tmp_path, domains_lab)
    path = "/apis/resource.k8s.io/v1/resourceslices"

    async def names() -> set[str]:
        async with submission.lab.client() as client:
            return {each["metadata"]["name"] for each in (await client.request("GET", path)).document()["items"]}

    async def delete(name: str) -> None:
        async with submission.lab.client() as client:
            assert (await client.request("DELETE", f"{path}/{name}")).succeeded

    before = asyncio.run(names())
    asyncio.run(delete("node-0001-gpu.nvidia.com-0"))
    subprocess.run([str(PROGRAMS / "perflab"), "scale", "--nodes", "4", "--name", domains_lab.folder.name], check=True)
    assert asyncio.run(names()) == before
