"""The bridge to perfanalysis: converted errors and exit codes; one sentence if it is not installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    DataQualityError,
    HistoryError,
    PerfError,
    ThresholdError,
    UsageError,
)
from ansible_collections.psap.perf.plugins.module_utils.run.judging import check, judge

from tests.data.synthetic_runs import Shape, write_run


def test_thresholds_are_explained() -> None:
    assert check({"pod_ready_p99": "5s", "lost": 0}) == ("pod_ready_p99 <= 5s", "lost <= 0")


def test_invalid_threshold_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="did you mean lost"):
        check({"losst": 0})


@pytest.mark.parametrize(
    ("thresholds", "error"),
    [
        ({"pod_ready_p50": "1us"}, ThresholdError),
        ({"lost": "< 0"}, DataQualityError),
        ({"pod_ready_p99": "5s"}, HistoryError),
        ({}, UsageError),
    ],
)
def test_analysis_errors_become_perf_errors(
    tmp_path: Path, thresholds: dict[str, object], error: type[PerfError]
) -> None:
    run = write_run(tmp_path, [Shape(workloads=20, nodes=2, duration=1.0)])
    with pytest.raises(error) as raised:
        judge(run, thresholds, tmp_path / "out", unjudged_allowed=False)
    assert (raised.value.result != {}) is (error is not UsageError)


def test_verdict_is_written_and_returned(tmp_path: Path) -> None:
    run = write_run(tmp_path, [Shape(workloads=20, nodes=2, duration=1.0)])
    document = judge(run, {"pod_ready_p99": "5s", "lost": 0}, tmp_path / "out", unjudged_allowed=True)
    assert json.loads((tmp_path / "out" / "verdict.json").read_text()) == document


def test_missing_perfanalysis_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "perfanalysis.verdicts.thresholds.write", None)
    with pytest.raises(UsageError, match="install psap-perf into Ansible's environment"):
        check({"lost": 0})
