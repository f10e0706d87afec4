"""Shapes of a submission on a real control plane: kinds, traces, tenants and priorities."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.assortment import Priority, Tenant
from ansible_collections.psap.perf.plugins.module_utils.scale_test.trace import Trace, TraceRow

from .conftest import Lab, Submission

pytestmark = pytest.mark.lab

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


@pytest.mark.parametrize(("kind", "pods"), [("pod", 1), ("indexedjob", 3), ("deployment", 2)])
def test_each_kind_completes(submission: Submission, kind: str, pods: int) -> None:
    submission.kind, submission.pods, submission.count = kind, pods, 4
    end = submission.submit()
    assert (end.accounting.completed, end.accounting.identity_holds) == (4, True)
    seen = {row["name"] for row in submission.rows("transitions") if row["kind"] == "Pod"}
    assert len(seen) == 4 * pods


def test_a_trace_mixes_kinds_in_one_recording(submission: Submission) -> None:
    kinds = ("Job", "Pod", "PyTorchJob", "Deployment")
    rows = tuple(TraceRow(0.1 * place, kind, place + 1, 1.0) for place, kind in enumerate(kinds))
    submission.trace, submission.count = Trace("trace.csv", rows), 4
    assert submission.submit().accounting.completed == 4
    sent = sorted(submission.rows("submissions"), key=lambda row: row["index"])
    assert [(row["kind"], row["gpus"]) for row in sent] == [(kind, place + 1) for place, kind in enumerate(kinds)]
    gaps = [later["sent_s"] - earlier["sent_s"] for earlier, later in itertools.pairwise(sent)]
    assert min(gaps) > 0


def test_tenants_and_priorities_have_their_shares(submission: Submission, lab: Lab) -> None:
    other = f"{submission.namespace}-b"
    submission.tenants = [Tenant(submission.namespace, weight=2), Tenant(other)]
    submission.priorities = [Priority("low", 0), Priority("high", 1000)]
    submission.count = 12
    end = submission.submit()
    assert (end.accounting.completed, end.accounting.identity_holds) == (12, True)
    assert Counter(row["namespace"] for row in submission.rows("submissions")) == {submission.namespace: 8, other: 4}
    pods = [row for row in submission.rows("transitions") if (row["kind"], row["transition"]) == ("Pod", "succeeded")]
    assert Counter(row["namespace"] for row in pods) == {submission.namespace: 8, other: 4}

    async def left() -> list[str]:
        async with lab.client() as client:
            items = (await client.request("GET", CLASSES)).document()["items"]
            return [item["metadata"]["name"] for item in items]

    assert all(name.startswith("system-") for name in asyncio.run(left()))
