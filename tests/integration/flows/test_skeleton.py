"""The flow skeleton as its user runs it, on a lab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.conftest import Lab

WORDS = ("run", "skeleton", "--site", "lab", "-p", "skeleton")


def test_each_cell_of_skeleton_is_measured_and_reported(shared_lab: Lab, tmp_path: Path) -> None:
    ran = shared_lab.run(tmp_path, "perfdrv", *WORDS, "-s", "skeleton_pods=[2, 3]")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    values = {(one["name"], one["labels"]["pods"]): one["value"] for one in kpis if "pods" in one["labels"]}
    for pods in ("2", "3"):
        assert values["pods_not_succeeded", pods] == 0
        assert values["completion", pods] > 0
    page = (run / "report/index.html").read_text()
    assert "From creation to running" in page


@pytest.mark.deep
def test_skeleton_leaves_no_object(shared_lab: Lab, tmp_path: Path) -> None:
    # a cell that exceeds its timeout is a failure, whose objects are deleted too
    ran = shared_lab.run(tmp_path, "perfdrv", *WORDS, "-s", "skeleton_seconds=60", "-s", "skeleton_timeout=1s")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "was not reached within 1 s" in ran.stdout
    words = ("toolbox", "cluster", "capture-environment", "--site", "lab")
    captured = shared_lab.run(tmp_path / "after", "perfdrv", *words)
    assert captured.returncode == 0, captured.stdout + captured.stderr
    (pods,) = (tmp_path / "after").glob("*/*/artifacts/pod.txt")
    assert "skeleton-start-pods" not in pods.read_text()
