"""The requests of loads over time and by phases."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.errors import DataQualityError
from perfanalysis.verdicts.thresholds.phases import loads_over_time

from tests.data.load_tests import Load, requests_of, write_llm_load_test


def test_requests_are_counted_in_the_phase_in_which_they_ended(tmp_path: Path) -> None:
    load = Load(requests=50, failing=25)
    write_llm_load_test(tmp_path / "a" / "artifacts", load)
    requests = requests_of(load)
    ends = sorted(one.last for one in requests)
    middle = (ends[24] + ends[25]) / 2
    asked: list[tuple[float, float]] = []

    def halves(begin: float, end: float) -> dict[str, tuple[float, float]]:
        asked.append((begin, end))
        return {"first": (begin, middle), "second": (middle, end + 1), "none": (end + 1, end + 2)}

    found = loads_over_time([tmp_path / "a"], halves)
    failed = sum(one.failed for one in requests)
    assert failed > 0
    (stated,) = found["loads"]
    assert (stated["requests"], stated["failed"]) == (50, failed)
    assert asked == [(stated["begin_s"], stated["end_s"])]
    first, second, none = found["phases"]
    assert first["completed"] + first["failed"] == second["completed"] + second["failed"] == 25
    assert first["failed"] + second["failed"] == failed
    assert first["latency_p50_s"] > 0
    assert (none["completed"], none["latency_p50_s"]) == (0, None)
    assert sum(point["failed"] for point in found["points"]) == failed
    assert max(point["in_flight"] for point in found["points"]) >= 1


def test_cell_without_a_load_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataQualityError, match="no load of the cell succeeded"):
        loads_over_time([], lambda _begin, _end: {})


def test_load_without_results_is_an_error(tmp_path: Path) -> None:
    write_llm_load_test(tmp_path / "a" / "artifacts", Load(requests=5))
    (results,) = tmp_path.rglob("output.json")
    results.unlink()
    with pytest.raises(DataQualityError, match="cannot read the load"):
        loads_over_time([tmp_path / "a"], lambda _begin, _end: {})
