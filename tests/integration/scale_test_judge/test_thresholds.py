"""Thresholds in the flow, on a lab: met, missed, refused before any change; and the report that shows them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.integration.conftest import PROGRAMS, Lab


def _play(lab: Lab, runs: Path, thresholds: dict[str, Any], *words: str) -> Path:
    """Run a small flow with *thresholds*; return its directory."""
    command = (
        "ansible-playbook",
        "playbooks/scale_test.yml",
        "-i",
        "inventories/lab",
        "-e",
        "@presets/scale_test_smoke.yml",
    )
    extra = ("-e", json.dumps({"scale_test_thresholds": thresholds, "scale_test_preload_image": False}))
    lab.run(runs, *command, *extra, *words)
    (directory,) = runs.iterdir()
    return directory


def _document(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_every_cell_is_judged_and_a_missed_threshold_is_the_reason(shared_lab: Lab, tmp_path: Path) -> None:
    thresholds = {"completed": 12, "lost": 0, "pod_ready_p50": "60s"}
    run = _play(shared_lab, tmp_path, thresholds, "-e", '{"scale_test_count": [10, 14]}')
    first, second = (_document(path) for path in sorted(run.rglob("verdict.json")))
    outcomes = [
        {one["measure"]: one["outcome"] for one in cell["recordings"][0]["thresholds"]} for cell in (first, second)
    ]
    assert outcomes[0] == {"completed": "missed", "lost": "met", "pod_ready_p50": "met"}
    assert set(outcomes[1].values()) == {"met"}
    document = _document(run / "run.json")
    assert (document["status"], document["exit_code"]) == ("failed", 4)
    assert document["reason"]["kind"] == "ThresholdError"
    assert document["reason"]["why"] == "1 threshold missed: completed >= 12: 10"
    assert [_document(path)["status"] for path in sorted(run.rglob("cell.json"))] == ["failed", "ok"]
    junit = ElementTree.fromstring(sorted(run.rglob("junit.xml"))[0].read_text())
    assert (junit.get("tests"), junit.get("failures")) == ("4", "1")
    report = subprocess.run([str(PROGRAMS / "perfanalysis"), "report", str(run)], capture_output=True, check=False)
    assert report.returncode == 0
    page = (run / "report" / "index.html").read_text()
    assert "1 threshold missed: completed &gt;= 12: 10" in page


@pytest.mark.deep
def test_met_thresholds_leave_a_successful_run(shared_lab: Lab, tmp_path: Path) -> None:
    run = _play(shared_lab, tmp_path, {"lost": 0, "failed": 0, "submission_rate": ">= 0.1/s"})
    assert (_document(run / "run.json")["status"], _document(run / "run.json")["exit_code"]) == ("ok", 0)
    (verdict,) = (_document(path) for path in run.rglob("verdict.json"))
    assert verdict["exit_code"] == 0
    assert (verdict["run"], verdict["flow"]) == (run.name, "scale_test")
    assert "pods" in verdict["lab"]["simulated"]


@pytest.mark.parametrize(
    ("thresholds", "code", "why"),
    [
        ({"pod_redy_p99": "5s", "lost": "few"}, 2, "unknown measure pod_redy_p99; did you mean pod_ready_p99?"),
        *(
            pytest.param(thresholds, 2, why, marks=pytest.mark.deep)
            for thresholds, why in (
                ({"time_to_ready_p99": "5s"}, "threshold time_to_ready_p99 needs 100 workloads; a test has 20"),
                ({"lost": "few"}, "threshold lost: 'few' is not a limit in workloads"),
            )
        ),
    ],
)
def test_invalid_thresholds_are_refused_before_any_change(
    shared_lab: Lab, tmp_path: Path, thresholds: dict[str, Any], code: int, why: str
) -> None:
    run = _play(shared_lab, tmp_path, thresholds)
    document = _document(run / "run.json")
    assert document["exit_code"] == code
    assert why in document["reason"]["why"]
    assert list(run.glob("*__*")) == []


@pytest.mark.deep
def test_check_mode_prints_the_thresholds(shared_lab: Lab, tmp_path: Path) -> None:
    run = _play(shared_lab, tmp_path, {"lost": 0}, "--check", "-v")
    assert _document(run / "run.json")["exit_code"] == 0
    assert list(run.rglob("verdict.json")) == []
    assert "check mode: would judge lost <= 0" in (run / "ansible.log").read_text()
