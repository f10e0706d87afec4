"""Claims of devices: their steps, what they held, leaks, and fragmentation, by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from perfanalysis.workloads.kpis import evaluate
from perfanalysis.workloads.scale_test.kpis import KPIS
from perfanalysis.workloads.scale_test.measures import Measures, measure
from perfanalysis.workloads.scale_test.steps import present_steps

from tests.unit.analysis.hand_made import life, submission, tables, transition

NODES = [4.0, 4.0]
KIND = "ResourceClaim"


def claim(name: str, devices: int, node: str, gpus: int | None = None, **times: float) -> list[dict[str, Any]]:
    """Return the transitions of a claim, `workload-claim`; its devices are GPUs by default."""
    held = {"devices": devices, "gpus": devices if gpus is None else gpus, "node": node}
    return [transition(KIND, name, word, at, **(held if word == "allocated" else {})) for word, at in times.items()]


def measured(seen: list[dict[str, Any]], *names: str, ended_s: float = 20.0) -> Measures:
    sent = [submission(name, 0.0) for name in names]
    return measure(tables(sent, seen, gpus=NODES), {"ended_s": ended_s}, {})


def numbers(measures: Measures) -> dict[str, float | None]:
    return {value.name: value.number for value in evaluate(KPIS, measures)}


def test_steps_of_claims_follow_each_other() -> None:
    seen = life("a", created=1.0, pod_created=2.0, scheduled=6.5, completed=20.0)
    seen += claim("a-x", 1, "node-0", created=2.5, allocated=4.0, reserved=4.25)
    seen += claim("a-y", 1, "node-0", created=3.0, allocated=5.0, reserved=6.0)
    measures = measured(seen, "a")
    row = measures.latencies.iloc[0]
    found = {step.name: row[f"{step.name}_s"] for step in present_steps(measures.workloads)}
    expected = {"claim_creation": 1.0, "allocation": 2.0, "reservation": 1.0, "claim_binding": 0.5, "scheduling": 4.5}
    assert {name: found[name] for name in expected} == expected


def test_claims_made_again_for_ended_pods_are_unused() -> None:
    seen = life("a", created=1.0, pod_created=2.0, scheduled=6.5, completed=10.0)
    seen += claim("a-x", 1, "node-0", created=2.5, allocated=4.0, reserved=4.25, released=10.25, deleted=10.5)
    seen += claim("a-again", 0, "node-0", created=11.0, deleted=12.0)
    # it waits for devices
    seen += claim("a-y", 0, "node-0", created=3.0)
    measures = measured(seen, "a")
    row = measures.workloads.iloc[0]
    assert row["claims_created_s"] == 3.0
    assert pd.isna(row["claims_allocated_s"])
    (value,) = (each for each in evaluate(KPIS, measures) if each.name == "claims_unused")
    assert (value.number, value.count) == (1.0, 3)


def test_recording_without_claims_has_reasons() -> None:
    measures = measured(life("a", created=1.0, pod_created=2.0, scheduled=3.0, completed=4.0), "a")
    absent = {value.name: value.reason for value in evaluate(KPIS, measures)}
    for name in ("devices_in_use", "claims_leaked", "allocation_p50"):
        assert absent[name] == "no claims of devices in this recording"


def fragmented(kind: str) -> list[dict[str, Any]]:
    """Return three GPUs of each of two nodes in use, from 2 to 10 and from 4 to 12, by claims or by pods."""
    seen = life("a", created=1.0, completed=20.0) + life("b", created=1.0, completed=20.0)
    for name, node, since, until in (("a", "node-0", 2.0, 10.0), ("b", "node-1", 4.0, 12.0)):
        if kind == "claims":
            seen += claim(f"{name}-x", 3, node, created=1.0, allocated=since, released=until)
        else:
            seen += [
                transition("Pod", f"{name}-0", "created", 1.0),
                transition("Pod", f"{name}-0", "scheduled", since, node=node),
                transition("Pod", f"{name}-0", "succeeded", until, node=node),
            ]
    return seen


@pytest.mark.parametrize("kind", ["claims", "pods"])
def test_free_gpus_of_two_nodes_are_fragmented(kind: str) -> None:
    sent = [submission(name, 0.0, gpus=3.0) for name in ("a", "b")]
    found = numbers(measure(tables(sent, fragmented(kind), gpus=NODES), {}, {}))
    # from 4 to 10 of 20 s each node has one free GPU of the two that could serve one request
    assert found["gpu_fragmentation"] == pytest.approx(0.5 * 6 / 20)
    assert found["gpu_fragmentation_max"] == 0.5
    assert found["devices_in_use"] == (6.0 if kind == "claims" else None)


def test_claims_of_other_devices_occupy_no_gpus() -> None:
    sent = [submission(name, 0.0, gpus=3.0) for name in ("a", "b")]
    others = [
        row for name in ("a", "b") for row in claim(f"{name}-nic", 4, "node-0", gpus=0, created=1.0, allocated=2.0)
    ]
    found = numbers(measure(tables(sent, [*fragmented("claims"), *others], gpus=NODES), {}, {}))
    assert found["gpu_fragmentation"] == pytest.approx(0.5 * 6 / 20)
    assert found["devices_in_use"] == 14.0
    by_pods = numbers(measure(tables(sent, [*fragmented("pods"), *others], gpus=NODES), {}, {}))
    assert by_pods["gpu_fragmentation"] == pytest.approx(0.5 * 6 / 20)


def test_claims_that_remain_after_their_workload_leaked() -> None:
    seen = life("good", created=1.0, completed=10.0) + life("holds", created=1.0, completed=11.0)
    seen += life("late", created=1.0, completed=17.0) + life("gone", created=1.0)
    seen += [transition("Job", "gone", "deleted", 8.0)]
    for name in ("good", "holds", "late", "gone"):
        seen += claim(f"{name}-x", 1, "node-0", created=1.0, allocated=2.0)
    seen += claim("good-x", 1, "node-0", released=10.5)
    # it holds nothing, but exists
    seen += claim("gone-x", 1, "node-0", released=8.5)
    measures = measured(seen, "good", "holds", "late", "gone")
    table = measures.device_claims.set_index("workload")["leaked"]
    assert [table[name] for name in ("good", "holds", "gone")] == [False, True, True]
    assert pd.isna(table["late"])
    (value,) = (each for each in evaluate(KPIS, measures) if each.name == "claims_leaked")
    assert (value.number, value.count) == (2.0, 3)


def test_shared_claim_has_a_row_for_each_allocation() -> None:
    seen = life("a", created=1.0, completed=9.0)
    seen += claim("a-x", 2, "node-0", created=1.0, allocated=2.0, released=3.0)
    seen += claim("a-x", 2, "node-1", allocated=4.0, deleted=5.0)
    table = measured(seen, "a").device_claims
    assert table[["node", "created_s", "allocated_s", "released_s", "deleted_s"]].to_numpy().tolist() == [
        ["node-0", 1.0, 2.0, 3.0, 5.0],
        ["node-1", 1.0, 4.0, 5.0, 5.0],
    ]
