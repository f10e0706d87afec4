"""The kind of the flow skeleton: its KPIs of three pods, computed by hand."""

from __future__ import annotations

from pathlib import Path

import yaml
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.kubernetes_lists import pod
from tests.schemas import check

PLACE = "001__cell__0/001__skeleton__start_pods/artifacts"


def test_kpis_of_three_pods_match_hand_computation(tmp_path: Path) -> None:
    artifacts = tmp_path / PLACE
    artifacts.mkdir(parents=True)
    document = {"schema": "psap.perf/skeleton/1", "pods": 3, "waited_s": 20.5}
    check(document)
    (artifacts / "skeleton.yml").write_text(yaml.safe_dump(document))
    pods = [pod("a", 0, 1, 2, 7), pod("b", 0, 1, 4, 9), pod("c", 1, 2, 4, 20, exit_code=1)]
    (artifacts / "pod.yml").write_text("".join(f"---\n{yaml.safe_dump(one)}" for one in pods))
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    found = {value.name: value.number for value in analysis.kpis}
    assert (found["pod_running_p50"], found["pod_running_max"]) == (3, 4)
    assert (found["pods_not_succeeded"], found["completion"]) == (1, 20.5)


def test_recording_without_pods_has_no_completion(tmp_path: Path) -> None:
    artifacts = tmp_path / PLACE
    artifacts.mkdir(parents=True)
    (artifacts / "skeleton.yml").write_text("pods: 3\nwaited_s: null\n")
    (artifacts / "pod.yml").write_text("# no Pod in default\n")
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    assert {value.name: value.number for value in analysis.kpis}["completion"] is None
