"""Discovery: nested recordings, commands in order, and the true status of a run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from perfanalysis.errors import UsageError
from perfanalysis.files.discovery import Lab, discover, lab_of, lab_of_line, labs_together

from tests.data.synthetic_runs import write_json

MARKERS = ["recording.json"]
HOLD = """
import fcntl, sys
stream = open(sys.argv[1], "w")
fcntl.lockf(stream, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_recordings_are_found_with_their_cells(matrix_run: Path) -> None:
    run = discover(matrix_run, MARKERS)
    found = [(place.relative, place.cell and place.cell.index) for place in run.places]
    assert found == [
        ("002__cell__0/000__scale_test__submit/artifacts", 0),
        ("003__cell__1/000__scale_test__submit/artifacts", 1),
    ]
    assert run.places[1].cell is not None
    assert run.places[1].cell.values == {"scale_test_workload_kind": "PyTorchJob", "scale_test_workloads": 20}
    assert run.places[0].name == "002__cell__0.000__scale_test__submit"


def test_numbers_sort_numerically(tmp_path: Path) -> None:
    for number in ("1000", "999", "002"):
        write_json(tmp_path / f"{number}__lane__a" / "000__x__y" / "artifacts" / "recording.json", {})
    run = discover(tmp_path, MARKERS)
    assert [place.relative.split("__")[0] for place in run.places] == ["002", "999", "1000"]


def test_reports_and_sources_are_not_searched(small_run: Path) -> None:
    for folder in ("report/old", "002__scale_test__submit/src"):
        write_json(small_run / folder / "recording.json", {})
    assert len(discover(small_run, MARKERS).places) == 1


def test_running_status_without_a_lock_means_interrupted(killed_run: Path) -> None:
    assert discover(killed_run, MARKERS).status == "interrupted"
    (killed_run / "run.lock").touch()
    run = discover(killed_run, MARKERS)
    assert run.status == "interrupted"
    assert [command.status for command in run.commands] == ["ok", "ok", "interrupted", "ok"]


def test_running_status_with_a_lock_means_running(killed_run: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(killed_run / "run.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        status = discover(killed_run, MARKERS).status
        holder.communicate("")
    assert status == "running"


def test_commands_are_ordered_by_their_begin(small_run: Path) -> None:
    roles = [command.role for command in discover(small_run, MARKERS).commands]
    assert roles == ["cluster_capture_environment", "nfd_wait_gpu_nodes", "scale_test_submit", "scale_test_cleanup"]


def test_missing_documents_are_findings(small_run: Path) -> None:
    for name in ("run.json", "settings.yml", "timeline.csv"):
        (small_run / name).unlink()
    (small_run / "001__nfd__wait_gpu_nodes" / "status.json").write_text("{")
    run = discover(small_run, MARKERS)
    assert run.id == small_run.name
    assert run.status == "unknown"
    assert {finding.where for finding in run.findings} == {
        "run.json",
        "settings.yml",
        "timeline.csv",
        "001__nfd__wait_gpu_nodes/status.json",
    }


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_folder_that_is_no_run_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"run\.json"):
        discover(tmp_path / name, MARKERS)


def test_failure_texts_are_kept(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"schema": "psap.perf/run/1", "status": "failed"})
    write_json(tmp_path / "000__a__b" / "status.json", {"schema": "psap.perf/command/1", "status": "failed"})
    (tmp_path / "000__a__b" / "FAILURE").write_text("what\nwhere\nwhy\n")
    [command] = discover(tmp_path, MARKERS).commands
    assert (command.status, command.failure) == ("failed", "what\nwhere\nwhy\n")
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "failed"


def test_lab_components_are_listed_once_on_one_line() -> None:
    one = lab_of({"lab": {"simulated": ["nodes"], "emulated": ["volumes"], "real": ["kueue"]}})
    both = labs_together((one, lab_of({"lab": {"simulated": ["pods", "nodes"]}}), lab_of({"lab": None})))
    assert both == Lab(simulated=("nodes", "pods"), emulated=("volumes",), real=("kueue",))
    assert both.line == "simulated: nodes, pods; emulated: volumes; real: kueue"
    assert lab_of_line(both.line) == both
    assert (Lab().phrases, lab_of_line("")) == ((), Lab())


def test_line_of_a_lab_names_what_is_absent() -> None:
    lab = lab_of({"lab": {"simulated": ["nodes"], "real": ["worker"], "absent": ["limits of pods"]}})
    assert lab.line == "simulated: nodes; real: worker; absent: limits of pods"
    assert lab_of_line(lab.line) == lab
    assert lab.document()["absent"] == ["limits of pods"]
    assert "absent" not in Lab().document()
