"""Tenants that wait in queues of Kueue with quotas."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant

from tests.polling import PATIENCE_S

from .conftest import Submission

pytestmark = pytest.mark.lab

CLUSTER_QUEUES = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues"


def most_concurrent(submission: Submission, namespace: str) -> int:
    """Return the maximum number of concurrently running pods in a namespace."""
    rows = [row for row in submission.rows("transitions") if row["kind"] == "Pod" and row["namespace"] == namespace]
    running: set[str] = set()
    most = 0
    for row in rows:
        if row["transition"] == "running":
            running.add(row["name"])
        elif row["transition"] in ("succeeded", "failed", "evicted", "deleted"):
            running.discard(row["name"])
        most = max(most, len(running))
    return most


@pytest.mark.parametrize("kind", ["job", pytest.param("pytorchjob", marks=pytest.mark.deep)])
def test_tenants_get_their_shares_within_their_quotas(submission: Submission, kind: str) -> None:
    first, second = submission.namespace, f"{submission.namespace}-b"
    submission.kind, submission.count = kind, 18
    submission.tenants = [Tenant(first, "gold", 2, quota=4), Tenant(second, "silver", 1, quota=2)]
    end = submission.submit()
    assert end.accounting.sentence() == "18 of 18 workloads submitted: 18 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    sent = submission.rows("submissions")
    assert Counter((row["namespace"], row["queue"]) for row in sent) == {(first, "gold"): 12, (second, "silver"): 6}
    assert 1 <= most_concurrent(submission, first) <= 4
    assert 1 <= most_concurrent(submission, second) <= 2
    counts = Counter((row["kind"], row["transition"]) for row in submission.rows("transitions"))
    for word in ("created", "quota_reserved", "admitted", "completed"):
        assert counts["Workload", word] == 18

    async def let_go() -> None:
        # Kueue's finalizer holds a queue briefly, until it has seen that none of its workloads has quota
        async with submission.lab.client() as client, asyncio.timeout(PATIENCE_S):
            while (await client.request("GET", CLUSTER_QUEUES)).document()["items"]:
                await asyncio.sleep(0.1)

    asyncio.run(let_go())


@pytest.mark.deep
def test_tenant_borrows_unused_quota_of_its_cohort(submission: Submission) -> None:
    first, second = submission.namespace, f"{submission.namespace}-b"
    submission.count, submission.duration_s = 20, 2.0
    # the second has three workloads for its eight GPUs
    submission.tenants = [
        Tenant(first, "gold", 17, quota=1, cohort="teams"),
        Tenant(second, "silver", 3, quota=8, cohort="teams"),
    ]
    end = submission.submit()
    assert end.accounting.sentence() == "20 of 20 workloads submitted: 20 completed, 0 failed, 0 lost"
    assert 1 < most_concurrent(submission, first) <= 9


def test_missing_queue_is_refused_before_submission(submission: Submission) -> None:
    submission.queue = "nowhere"
    submission.tenants = [Tenant(submission.namespace, "nowhere")]
    with pytest.raises(ClusterError, match="LocalQueue nowhere in namespace"):
        submission.submit()
    assert not (submission.folder / "artifacts" / "submissions.jsonl").exists()
