"""Different workloads in one test: their shares are exact, evenly spread, and depend on the index only."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import Interrupted, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    AssortedWorkloads,
    Assortment,
    Priority,
    Rotation,
    Tenant,
    Variant,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace, TraceRow

from tests.data.loads import load

from .fake_api import FakeApi, fake_api
from .sessions import JOBS, PODS, eventually

TEMPLATES = Path("collections/ansible_collections/psap/perf/roles/scale_test_submit/templates")
MIXED = Trace(
    "mixed.csv",
    (TraceRow(0, "Job", 2, 5.0), TraceRow(0, "Pod", 4), TraceRow(0), TraceRow(0, "PyTorchJob", duration_s=9.0)),
)


def request(folder: Path, assortment: Assortment, count: int, trace: Trace | None = None) -> requests.SubmitRequest:
    for name in ("src", "artifacts"):
        (folder / name).mkdir()
    return requests.SubmitRequest(
        place=requests.Place("run-1", "001__a", folder / "src", folder / "artifacts"),
        template=TEMPLATES / "job.yml.j2",
        load=load(
            count=count,
            tenants=assortment.tenants,
            priorities=assortment.priorities,
            connections=2,
            timeout=10.0,
        ),
        trace=trace,
    )


def test_rotation_gives_each_member_its_share_evenly() -> None:
    rotation = Rotation([5, 1, 1])
    cycle = [rotation.member(position) for position in range(7)]
    # computed by hand: the largest debt is next
    assert cycle == [0, 0, 1, 0, 2, 0, 0]
    assert [rotation.member(position) for position in range(7, 14)] == cycle


def test_turn_is_counted_for_its_member() -> None:
    rotation = Rotation([2, 1])
    assert [rotation.member(position) for position in range(7)] == [0, 1, 0, 0, 1, 0, 0]
    assert [rotation.turn(position) for position in range(7)] == [0, 0, 1, 2, 1, 3, 4]


@pytest.mark.parametrize("weights", [[], [1, 0], [-1]])
def test_weights_below_one_are_refused(weights: list[int]) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        Rotation(weights)


def test_every_tenant_has_every_priority_by_weight() -> None:
    tenants = [Tenant("a", weight=2), Tenant("b", "queue-b")]
    assortment = Assortment(tenants, [Priority("low", 0, weight=3), Priority("high", 1000)])
    variants = [assortment.variant(index) for index in range(24)]
    assert Counter((variant.namespace, variant.priority) for variant in variants) == {
        ("a", "low"): 12,
        ("a", "high"): 4,
        ("b", "low"): 6,
        ("b", "high"): 2,
    }
    assert {variant.queue for variant in variants if variant.namespace == "b"} == {"queue-b"}
    # from the index alone, in any order and process
    again = Assortment(tenants, [Priority("low", 0, weight=3), Priority("high", 1000)])
    assert [again.variant(index) for index in reversed(range(24))] == variants[::-1]


def test_trace_row_is_that_of_the_index() -> None:
    assortment = Assortment([Tenant("a")], trace=MIXED)
    assert assortment.variant(0) == Variant("a", "", None, "Job", 2, 5.0)
    assert assortment.variant(2) == Variant("a", "")


def test_rotation_depends_on_the_ratio_of_weights_only() -> None:
    small, large = Rotation([5, 1, 1]), Rotation([5 * 10**9, 10**9, 10**9])
    assert [large.turn(position) for position in range(20)] == [small.turn(position) for position in range(20)]
    with pytest.raises(UsageError, match="they repeat after 1000000001 workloads, which must be at most 10000"):
        Rotation([10**9, 1])


def test_distinct_variants_are_found_without_enumerating_all() -> None:
    assortment = Assortment(
        [Tenant("a", weight=2), Tenant("b", "q", weight=3)], [Priority("low", 0, 4), Priority("high", 1, 3)]
    )
    every = {assortment.variant(index) for index in range(1000)}
    assert set(assortment.distinct(10**9)) == every
    assert set(assortment.distinct(1)) == {assortment.variant(0)}


def test_planning_ends_when_the_run_is_stopped(tmp_path: Path) -> None:
    trace = Trace("x.csv", tuple(TraceRow(0, duration_s=float(number)) for number in range(1000)))
    wanted = request(tmp_path, Assortment([Tenant("a")], trace=trace), 1000, trace)
    asked: list[int] = []

    def interrupted() -> bool:
        asked.append(1)
        return len(asked) > 3

    with pytest.raises(Interrupted):
        wanted.workloads(lab=True, openshift=False, interrupted=interrupted)


@pytest.mark.parametrize("count", [0, 10**9])
def test_workload_number_out_of_range_is_refused(tmp_path: Path, count: int) -> None:
    with pytest.raises(UsageError, match=f"^count is {count}; it must be at (least 1|most 1000000)$"):
        request(tmp_path, Assortment([Tenant("a")]), count)


def test_template_is_rendered_once_per_variant(tmp_path: Path) -> None:
    made = request(tmp_path, Assortment([Tenant("a"), Tenant("b")]), 50).workloads(lab=True, openshift=False)
    assert made.at(0) is made.at(48)
    assert made.at(0) is not made.at(1)
    assert (made.manifest(49)["metadata"]["namespace"], made.manifest(49)["metadata"]["name"]) == (
        "b",
        made.submission.name(49),
    )


def test_kind_gpus_and_duration_come_from_the_row(tmp_path: Path) -> None:
    wanted = request(tmp_path, Assortment([Tenant("a")], trace=MIXED), 4, MIXED)
    made: AssortedWorkloads = wanted.workloads(lab=True, openshift=False)
    assert [made.at(index).kind for index in range(4)] == ["Job", "Pod", "Job", "PyTorchJob"]
    assert [made.at(index).size.gpus for index in range(4)] == [2, 4, 1, 1]
    texts = [made.at(index).body(index).decode() for index in range(4)]
    durations = [text.partition('"lab.psap.perf/duration":"')[2].partition('"')[0] for text in texts]
    assert durations == ["5s", "1s", "1s", "9s"]
    assert made.kinds == [("batch/v1", "Job"), ("v1", "Pod"), ("kubeflow.org/v1", "PyTorchJob")]


def test_kind_without_a_template_is_named(tmp_path: Path) -> None:
    trace = Trace("x.csv", (TraceRow(0, "CronJob"),))
    wanted = request(tmp_path, Assortment([Tenant("a")], trace=trace), 1, trace)
    with pytest.raises(UsageError, match=r"cronjob.yml.j2 cannot be read"):
        wanted.workloads(lab=False, openshift=False)


def test_jobs_and_pods_of_one_submission_share_the_accounting(tmp_path: Path) -> None:
    trace = Trace("x.csv", tuple(TraceRow(0, kind) for kind in ("Job", "Pod", "Job", "Pod")))
    wanted = request(tmp_path, Assortment([Tenant("test")], trace=trace), 4, trace)

    async def ends(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 2 and len(api.objects.get(PODS, {})) == 2)
        for job in list(api.objects[JOBS]):
            # A pod of a controller is no workload.
            labels = {"psap.perf/workload": job, "psap.perf/submission": job.partition("-")[0]}
            pod = {"metadata": {"name": f"{job}-x", "namespace": "test", "labels": labels}}
            await api.create(PODS, {**pod, "status": {"phase": "Succeeded"}})
            await api.complete(JOBS, job)
        first, second = sorted(name for name in api.objects[PODS] if not name.endswith("x"))
        await api.update(PODS, first, phase="Succeeded")
        await api.update(PODS, second, phase="Failed", reason="OOMKilled")

    async def scene() -> SessionEnd:
        async with fake_api() as api:
            endpoint = ApiEndpoint(api.server)
            _ended, end = await asyncio.gather(ends(api), requests.submit(endpoint, wanted, lambda: False))
            return end

    accounting = asyncio.run(scene()).accounting
    assert (accounting.submitted, accounting.completed, accounting.failed) == (4, 3, 1)
    assert accounting.failed_by_cause == {"OOMKilled": 1}
    assert accounting.identity_holds
    rows = [json.loads(line) for line in (tmp_path / "artifacts" / "submissions.jsonl").read_text().splitlines()]
    assert Counter(row["kind"] for row in rows) == {"Job": 2, "Pod": 2}


def test_same_namespaces_get_the_same_shares_without_queues() -> None:
    tenants = (Tenant("a", "gold", 2, 32, "all"), Tenant("", "", 1))
    queued, free = (load(tenants=tenants, queue="any", use_queues=used) for used in (True, False))
    assert [one.queue for one in queued.all_tenants()] == ["gold", "any"]
    assert free.all_tenants() == [Tenant("a", weight=2), Tenant(free.namespace)]
    assert (queued.variables["queue"], free.variables["queue"]) == ("any", "")
