"""Queues of Kueue: a missing one is refused, one with a quota is created, and deleted in every case."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.queues import (
    check_queues,
    check_quotas,
    queues,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant

from .fake_api import KUEUE, fake_api
from .sessions import SUBMISSION

V1 = f"{KUEUE}/v1beta1"
OWN = SUBMISSION.identity
JOBS_OF = [ResourceKind("batch/v1", "Job", "jobs")]
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
Objects = dict[str, dict[str, Any]]


def webhooks(name: str, plural: str) -> dict[str, Any]:
    """Return a configuration of one webhook, of a kind of the group batch."""
    rules = [{"apiGroups": ["batch"], "apiVersions": ["v1"], "resources": [plural]}]
    return {"metadata": {"name": name}, "webhooks": [{"name": "one", "rules": rules}]}


# a webhook for Jobs that is not Kueue's
OTHERS = webhooks("others", "jobs")


def objects_within(
    tenants: list[Tenant],
    there: Objects | None = None,
    error: Exception | None = None,
    versions: tuple[str, ...] = ("v1beta1",),
    levels: tuple[str, ...] = (),
    managed: str | None = None,
) -> tuple[Objects, Objects]:
    """Return the objects of Kueue inside the block, and after it; `managed` is the plural of its only webhook."""

    async def scene() -> tuple[Objects, Objects]:
        async with fake_api() as api:
            api.kueue, api.kueue_versions = there, list(versions)
            if managed is not None:
                api.pages_of_metrics[WEBHOOKS] = json.dumps({"items": [webhooks("kueue-mutating", managed), OTHERS]})
            async with ApiClient(ApiEndpoint(api.server)) as client:
                try:
                    async with queues(client, SUBMISSION, tenants, JOBS_OF, levels):
                        during = dict(api.kueue or {})
                        if error is not None:
                            raise error
                finally:
                    after.update(api.kueue or {})
            return during, after

    after: Objects = {}
    return asyncio.run(scene())


def test_queue_with_a_quota_exists_only_during_the_block() -> None:
    tenants = [Tenant("a", "gold", 2, 32), Tenant("b", "silver", 1, 16), Tenant("a", "gold", 1, 32)]
    during, after = objects_within(tenants, {})
    assert after == {}
    assert list(during) == [
        f"{V1}/resourceflavors/{OWN}",
        f"{V1}/clusterqueues/{OWN}-0",
        f"{V1}/namespaces/a/localqueues/gold",
        f"{V1}/clusterqueues/{OWN}-1",
        f"{V1}/namespaces/b/localqueues/silver",
    ]
    local = during[f"{V1}/namespaces/b/localqueues/silver"]
    assert local["spec"] == {"clusterQueue": f"{OWN}-1"}
    assert local["metadata"]["labels"]["psap.perf/namespace"] == "a"
    (group,) = during[f"{V1}/clusterqueues/{OWN}-1"]["spec"]["resourceGroups"]
    assert group["coveredResources"] == ["cpu", "memory", "nvidia.com/gpu"]
    assert group["flavors"][0]["resources"][2] == {"name": "nvidia.com/gpu", "nominalQuota": 16}


def test_flavor_of_a_placement_has_the_topology() -> None:
    during, after = objects_within([Tenant("a", "gold", 1, 8)], {}, levels=("rack", "kubernetes.io/hostname"))
    assert after == {}
    levels = [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
    assert during[f"{V1}/topologies/{OWN}"]["spec"] == {"levels": levels}
    flavor = during[f"{V1}/resourceflavors/{OWN}"]["spec"]
    assert flavor == {"nodeLabels": {"kubernetes.io/os": "linux"}, "topologyName": OWN}


def test_cohort_is_specific_to_the_submission() -> None:
    during, _after = objects_within([Tenant("a", "gold", 1, 32, "teams"), Tenant("b", "silver", 1, 16)], {})
    spec = during[f"{V1}/clusterqueues/{OWN}-0"]["spec"]
    assert (spec["cohort"], spec["preemption"]) == (f"{OWN}-teams", {"reclaimWithinCohort": "Any"})
    assert "cohort" not in during[f"{V1}/clusterqueues/{OWN}-1"]["spec"]


@pytest.mark.parametrize(
    ("versions", "field"),
    [(("v1beta2", "v1beta1"), "cohortName"), (("v1", "v1beta2"), "cohortName"), (("v1beta1", "v1beta2"), "cohort")],
)
def test_queues_have_the_servers_preferred_version(versions: tuple[str, ...], field: str) -> None:
    during, _after = objects_within([Tenant("a", "gold", 1, 32, "teams")], {}, versions=versions)
    queue = during[f"{KUEUE}/{versions[0]}/clusterqueues/{OWN}-0"]
    assert queue["apiVersion"] == f"kueue.x-k8s.io/{versions[0]}"
    assert queue["spec"][field] == f"{OWN}-teams"


def test_queues_are_deleted_after_an_error() -> None:
    there: Objects = {}
    with pytest.raises(RuntimeError, match="of the session"):
        objects_within([Tenant("a", "gold", 1, 4)], there, RuntimeError("of the session"))
    assert there == {}


def test_existing_queue_is_used_and_kept() -> None:
    there: Objects = {f"{V1}/namespaces/a/localqueues/gold": {"metadata": {"name": "gold"}}}
    during, after = objects_within([Tenant("a", "gold")], there)
    assert during.keys() == after.keys() == there.keys()


def test_kind_with_a_webhook_of_kueue_is_queued() -> None:
    during, _after = objects_within([Tenant("a", "gold", 1, 4)], {}, managed="jobs")
    assert f"{V1}/namespaces/a/localqueues/gold" in during


def test_kind_without_a_webhook_of_kueue_is_refused_before_queues_are_created() -> None:
    there: Objects = {}
    with pytest.raises(ClusterError, match=r"does not queue workloads of kind Job \(batch/v1\)"):
        objects_within([Tenant("a", "gold", 1, 4)], there, managed="cronjobs")
    assert there == {}


def test_missing_queue_is_refused() -> None:
    with pytest.raises(ClusterError, match="LocalQueue gold in namespace a does not exist, so workloads would wait"):
        objects_within([Tenant("a", "gold")], {})


def test_foreign_queue_is_refused_and_created_objects_are_deleted() -> None:
    theirs = f"{V1}/namespaces/a/localqueues/gold"
    there: Objects = {theirs: {"metadata": {"name": "gold", "labels": {"psap.perf/submission": "another"}}}}
    with pytest.raises(ClusterError, match="cannot create the LocalQueue gold: 409"):
        objects_within([Tenant("a", "gold", 1, 4)], there)
    assert list(there) == [theirs]


def test_cluster_without_kueue_is_reported() -> None:
    with pytest.raises(ClusterError, match=r"has no Kueue, .*install Kueue \(on a lab: perflab up --with kueue"):
        objects_within([Tenant("a", "gold")])


def test_submission_without_queues_requests_nothing() -> None:
    assert objects_within([Tenant("a")]) == ({}, {})


@pytest.mark.parametrize(
    ("tenants", "message"),
    [
        ([Tenant("a", "", 1, 4)], "the quota 4 of a tenant needs a queue"),
        ([Tenant("a", "gold", 1, -1)], "cannot be negative"),
        ([Tenant("a", "gold", 1, 4), Tenant("a", "gold", 1, 5)], "has several quotas"),
        ([Tenant("a", "gold", 1, 4, "one"), Tenant("a", "gold", 1, 4, "two")], "has several quotas or cohorts"),
        ([Tenant("a", "gold", cohort="one")], "the cohort one of a tenant needs a quota"),
    ],
)
def test_invalid_queue_is_refused(tenants: list[Tenant], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_queues(tenants)


def test_quota_of_gpus_that_are_devices_is_refused() -> None:
    check_quotas([Tenant("a", "gold"), Tenant("b")])
    with pytest.raises(UsageError, match=r"the quota of the queue gold limits nvidia\.com/gpu, which no node"):
        check_quotas([Tenant("b"), Tenant("a", "gold", quota=4)])


@pytest.mark.parametrize(
    ("tenant", "is_refused"),
    [
        (Tenant("c"), False),
        (Tenant("b", "gold"), False),
        (Tenant("b", "gold", 1, 7), False),
        (Tenant("a", "silver", 1, 5), False),
        (Tenant("a", "gold", 2, 0), False),
        (Tenant("a", "gold", 2, 1), True),
    ],
)
def test_queues_can_have_different_quotas(tenant: Tenant, *, is_refused: bool) -> None:
    assert are_refused([Tenant("a", "gold", 1, 0), tenant]) == is_refused


def are_refused(tenants: list[Tenant]) -> bool:
    try:
        check_queues(tenants)
    except UsageError:
        return True
    return False
