"""Gangs in racks of a lab with a topology: placed by Kueue in a queue, by pod groups or affinity without one."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant

from .conftest import Lab, Submission, running_lab

pytestmark = [pytest.mark.lab, pytest.mark.deep]

RACK = "lab.psap.perf/rack"


@pytest.fixture(name="racks", scope="module")
def _racks() -> Iterator[Lab]:
    """Start a lab with 4 racks of 5 nodes each."""
    options = ("--with", "kueue", "--with", "training-operator", "--topology", "block=2,rack=2")
    with running_lab(f"topology-{os.getpid()}", *options) as lab:
        yield lab


def racks_of(submission: Submission) -> dict[str, set[str]]:
    """Return the racks of each workload's pods."""
    nodes = submission.document("nodes")
    assert nodes["levels"] == ["lab.psap.perf/block", RACK]
    rack_of = {node["name"]: node["domains"][1] for node in nodes["nodes"]}
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in submission.rows("transitions"):
        if row["kind"] == "Pod" and row["transition"] == "scheduled":
            found[row["workload"]].add(rack_of[row["node"]])
    return dict(found)


@pytest.mark.parametrize("kind", ["job", "pytorchjob"])
@pytest.mark.parametrize("queue", ["gangs", ""])
def test_required_rack_holds_all_pods_of_a_gang(racks: Lab, tmp_path: Path, kind: str, queue: str) -> None:
    submission = Submission(tmp_path, racks, count=8, kind=kind, pods=5, gpus=4, topology="required")
    if queue:
        submission.tenants = [Tenant(submission.namespace, queue, 1, quota=160)]
    end = submission.submit()
    assert end.accounting.sentence() == "8 of 8 workloads submitted: 8 completed, 0 failed, 0 lost"
    spans = racks_of(submission)
    assert len(spans) == 8
    assert {len(found) for found in spans.values()} == {1}


@pytest.mark.parametrize("kind", ["job", "pytorchjob"])
def test_pod_group_places_a_gang_in_one_rack(racks: Lab, tmp_path: Path, kind: str) -> None:
    submission = Submission(tmp_path, racks, count=8, kind=kind, pods=5, gpus=4, topology="required", gang=True)
    end = submission.submit()
    assert end.accounting.sentence() == "8 of 8 workloads submitted: 8 completed, 0 failed, 0 lost"
    spans = racks_of(submission)
    assert len(spans) == 8
    assert {len(found) for found in spans.values()} == {1}


def test_gang_larger_than_every_rack_starts_no_pod(racks: Lab, tmp_path: Path) -> None:
    submission = Submission(tmp_path, racks, count=1, pods=8, gpus=8, topology="required", gang=True, timeout_s=5.0)
    end = submission.submit()
    assert end.accounting.completed == 0
    # a rack has 40 GPUs, the lab 160
    assert racks_of(submission) == {}
    asyncio.run(submission.delete_namespaces())


def test_kueue_spreads_a_preferred_gang_that_is_larger_than_a_rack(racks: Lab, tmp_path: Path) -> None:
    submission = Submission(tmp_path, racks, count=1, pods=8, gpus=8, topology="preferred")
    submission.tenants = [Tenant(submission.namespace, "gangs", 1, quota=160)]
    end = submission.submit()
    assert end.accounting.completed == 1
    # a rack has 40 GPUs, a block 80
    assert [len(found) for found in racks_of(submission).values()] == [2]
