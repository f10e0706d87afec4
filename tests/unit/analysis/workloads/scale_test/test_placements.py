"""Gangs in racks: domains spanned, the fewest possible ones, admission and completeness, by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from perfanalysis.workloads.kpis import evaluate
from perfanalysis.workloads.scale_test.kpis import KPIS
from perfanalysis.workloads.scale_test.measures import Measures, measure
from perfanalysis.workloads.scale_test.placements import NODE_LEVEL, PLACEMENTS
from perfanalysis.workloads.scale_test.plots_cluster import placement_figure

from tests.unit.analysis.hand_made import submission, tables, transition

RACKS = ["r0", "r0", "r1", "r1"]
KPI_NAMES = ("placement_domains", "placement_excess", "placement_best_ratio", "gangs_complete_ratio")


def bound(name: str, pod: int, node: int, at: float, end: float | None = None) -> list[dict[str, Any]]:
    own = {"workload": name, "node": f"node-{node}"}
    rows = [transition("Pod", f"{name}-{pod}", "scheduled", at, **own)]
    return rows if end is None else [*rows, transition("Pod", f"{name}-{pod}", "succeeded", end, **own)]


def gang(name: str, sent: float, pods: int = 2) -> dict[str, Any]:
    return submission(name, sent, pods=float(pods), gpus=8.0 * pods)


def admitted(name: str, at: float) -> dict[str, Any]:
    return transition("Workload", name, "admitted", at, workload=name)


def measured(seen: list[dict[str, Any]], *sent: dict[str, Any]) -> Measures:
    """Return the measures of gangs on four nodes of eight GPUs in two racks."""
    return measure(tables(list(sent), seen, gpus=[8.0] * 4, racks=RACKS), {}, {})


def rows_of(measures: Measures, *names: str) -> dict[tuple[str, str], tuple[Any, ...]]:
    table = measures.placements.astype("object")
    table = table.where(table.notna(), None)
    return {(row["workload"], row["level"]): tuple(row[name] for name in names) for row in table.to_dict("records")}


def test_gang_across_racks_has_an_excess_if_a_rack_was_free() -> None:
    seen = [*bound("a", 0, 0, 2.0, 20.0), *bound("a", 1, 2, 3.0, 20.0)]
    found = rows_of(measured(seen, gang("a", 1.0)), "domains", "fewest", "excess", "admission_s", "assembly_s")
    assert found == {("a", "rack"): (2, 1, 1, 1.0, 1.0), ("a", NODE_LEVEL): (2, 2, 0, 1.0, 1.0)}


def test_gang_across_racks_is_best_if_no_rack_was_free() -> None:
    busy = [*bound("x", 0, 0, 1.5, 9.0), *bound("y", 0, 2, 1.5, 9.0)]
    seen = [*busy, *bound("a", 0, 1, 2.0, 20.0), *bound("a", 1, 3, 3.0, 20.0)]
    measures = measured(seen, gang("x", 1.0, 1), gang("y", 1.0, 1), gang("a", 1.0))
    assert rows_of(measures, "domains", "excess")["a", "rack"] == (2, 0)
    # workloads of one pod are no gangs
    assert set(measures.placements["workload"]) == {"a"}


def test_gang_holds_its_nodes_from_its_admission_by_kueue() -> None:
    # the first is admitted to the first rack at 2, and bound only after the second
    seen = [admitted("a", 2.0), admitted("b", 3.0)]
    seen += [*bound("b", 0, 2, 3.5, 20.0), *bound("b", 1, 3, 3.5, 20.0)]
    seen += [*bound("a", 0, 0, 4.0, 20.0), *bound("a", 1, 1, 4.0, 20.0)]
    seen += [admitted("c", 5.0), *bound("c", 0, 0, 21.0), *bound("c", 1, 1, 21.0)]
    found = rows_of(measured(seen, gang("a", 1.0), gang("b", 1.0), gang("c", 1.0)), "domains", "fewest", "admission_s")
    assert found["a", "rack"] == (1, 1, 1.0)
    assert found["b", "rack"] == (1, 1, 2.0)
    # when the third was admitted, no node was free
    assert found["c", "rack"] == (1, None, 4.0)


def test_evicted_gang_is_measured_at_its_last_placement() -> None:
    seen = [admitted("a", 2.0), *bound("a", 0, 0, 2.5, 4.0), *bound("a", 1, 2, 2.5, 4.0)]
    seen += [*bound("a", 2, 0, 8.0, 20.0), *bound("a", 3, 1, 8.5, 20.0)]
    found = rows_of(measured(seen, gang("a", 1.0)), "domains", "admission_s", "complete")
    assert found["a", "rack"] == (1, 7.0, True)


def test_gang_with_a_pending_pod_is_incomplete() -> None:
    measures = measured(bound("a", 0, 0, 2.0, 20.0), gang("a", 1.0))
    assert rows_of(measures, "domains", "complete")["a", "rack"] == (1, False)


def test_pods_that_ended_before_the_last_was_bound_are_incomplete() -> None:
    measures = measured([*bound("a", 0, 0, 2.0, 5.0), *bound("a", 1, 1, 6.0, 9.0)], gang("a", 1.0))
    assert rows_of(measures, "complete")["a", "rack"] == (False,)


def test_kpis_are_of_the_smallest_declared_level() -> None:
    seen = [*bound("a", 0, 0, 2.0, 5.0), *bound("a", 1, 2, 2.0, 5.0), *bound("b", 0, 0, 6.0, 9.0)]
    seen += [*bound("b", 1, 1, 6.0, 9.0)]
    measures = measured(seen, gang("a", 1.0), gang("b", 2.0))
    found = {value.name: value.number for value in evaluate(KPIS, measures)}
    assert [found[name] for name in KPI_NAMES] == [1.5, 0.5, 0.5, 1.0]
    # 1 s and 4 s
    assert found["gang_admission_p50"] == pytest.approx(2.5)


def test_recording_without_a_topology_has_no_placement() -> None:
    recorded = tables([gang("a", 1.0)], [*bound("a", 0, 0, 2.0, 20.0), *bound("a", 1, 2, 3.0, 20.0)], gpus=[8.0] * 4)
    measures = measure(recorded, {}, {})
    assert len(measures.placements) == 0
    assert list(measures.placements.columns) == [column.name for column in PLACEMENTS.columns]
    assert {value.number for value in evaluate(KPIS, measures) if value.name in KPI_NAMES} == {None}
    assert measures.window is not None
    assert placement_figure(measures, measures.window).rows == ()


def test_gang_without_gpus_has_spans_only() -> None:
    seen = [*bound("a", 0, 0, 2.0, 20.0), *bound("a", 1, 2, 3.0, 20.0)]
    measures = measured(seen, {**gang("a", 1.0), "gpus": 0.0})
    assert rows_of(measures, "domains", "fewest")["a", "rack"] == (2, None)


def test_figure_has_racks_over_time_and_spans_by_size() -> None:
    seen = [*bound("a", 0, 0, 2.0, 5.0), *bound("a", 1, 2, 2.0, 5.0)]
    seen += [row for pod in range(3) for row in bound("b", pod, pod, 6.0, 9.0)]
    measures = measured(seen, gang("a", 1.0), gang("b", 2.0, 3))
    assert measures.window is not None
    (over_time,), (by_domains, by_size) = placement_figure(measures, measures.window).rows
    assert over_time.y.categories == ("r0", "r1")
    assert [layer.label for layer in by_domains.layers] == ["bound", "fewest"]
    assert by_size.layers[0].x.tolist() == [2.0, 3.0]
    assert by_size.layers[0].y.tolist() == [2.0, 2.0]
    # a node of two, from 2 to 5 s of the window from 1 s on
    assert measures.domain_occupation is not None
    values = pd.Series(measures.domain_occupation.values[0])
    assert values.max() == pytest.approx(100.0)
