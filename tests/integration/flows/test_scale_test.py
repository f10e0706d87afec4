"""The scale-test flow as its user runs it natively, on a lab."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from tests.integration.conftest import Lab

NAMESPACE = "psap-perf-scale-test"


def _play(lab: Lab, runs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return lab.run(runs, "ansible-playbook", "playbooks/scale_test.yml", "-i", "inventories/lab", *words)


def _run(runs: Path) -> Path:
    (directory,) = runs.iterdir()
    return directory


def _document(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def _objects(lab: Lab) -> set[str]:
    config.load_kube_config(str(lab.kubeconfig))
    core, apps, batch = client.CoreV1Api(), client.AppsV1Api(), client.BatchV1Api()
    found = [core.list_namespace(), apps.list_daemon_set_for_all_namespaces(), batch.list_job_for_all_namespaces()]
    return {f"{item.metadata.namespace}/{item.metadata.name}" for listed in found for item in listed.items}


def test_smoke_preset_accounts_for_every_workload_and_cleans_up(shared_lab: Lab, tmp_path: Path) -> None:
    before = _objects(shared_lab)
    played = _play(shared_lab, tmp_path, "-e", "@presets/scale_test_smoke.yml")
    assert played.returncode == 0, played.stdout + played.stderr
    run = _run(tmp_path)
    expected = f"run     {run}\nreport  make it with: perfanalysis report {run}\n"
    assert expected in played.stdout
    document = _document(run / "run.json")
    assert (document["status"], document["lab"]["name"], document["presets"]) == (
        "ok",
        shared_lab.name,
        ["scale_test_smoke"],
    )
    assert "pods" in document["lab"]["simulated"]
    (accounting,) = (_document(path) for path in run.rglob("accounting.json"))
    assert accounting["submitted"] == accounting["completed"] == accounting["asked"] > 0
    assert accounting["identity_holds"] is True
    (cell,) = (_document(path) for path in run.rglob("cell.json"))
    assert cell["status"] == "ok"
    assert _objects(shared_lab) == before
    settings = yaml.safe_load((run / "settings.yml").read_text())
    assert settings["all"]["scale_test_count"]["origin"].startswith("presets/scale_test_smoke.yml:")


def test_check_mode_on_an_empty_lab_succeeds_and_changes_nothing(shared_lab: Lab, tmp_path: Path) -> None:
    before = _objects(shared_lab)
    played = _play(shared_lab, tmp_path, "-e", "@presets/scale_test_smoke.yml", "--check", "--diff")
    assert played.returncode == 0, played.stdout + played.stderr
    assert _objects(shared_lab) == before
    assert _document(_run(tmp_path) / "run.json")["check"] is True


@pytest.mark.deep
def test_matrix_of_kinds_and_counts_has_a_cell_each(shared_lab: Lab, tmp_path: Path) -> None:
    matrix = {"scale_test_workload_kind": ["Job", "PyTorchJob"], "scale_test_count": [2, 3]}
    played = _play(shared_lab, tmp_path, "-e", "@presets/scale_test_smoke.yml", "-e", json.dumps(matrix))
    assert played.returncode == 0, played.stdout + played.stderr
    cells = {path.parent.name: _document(path) for path in _run(tmp_path).rglob("cell.json")}
    assert sorted(name.partition("__")[2] for name in cells) == ["cell__0", "cell__1", "cell__2", "cell__3"]
    asked = [_document(path)["asked"] for path in sorted(_run(tmp_path).rglob("accounting.json"))]
    assert asked == [2, 3, 2, 3]


@pytest.mark.deep
def test_failing_cell_neither_hides_nor_stops_others(shared_lab: Lab, tmp_path: Path) -> None:
    # that queue does not exist, so no cell can submit; both are attempted
    queue, counts = "scale_test_queue=nowhere", '{"scale_test_count": [1, 2]}'
    words = ["-e", "@presets/scale_test_smoke.yml", "-e", queue, "-e", counts]
    played = _play(shared_lab, tmp_path, *words, "--tags", "test")
    assert played.returncode == 2
    cells = [_document(path) for path in sorted(_run(tmp_path).rglob("cell.json"))]
    assert [cell["status"] for cell in cells] == ["failed", "failed"]
    stopping = tmp_path / "stopping"
    _play(shared_lab, stopping, *words, "--tags", "test", "-e", '{"matrix_stop_on_failure": true}')
    assert len(list(_run(stopping).rglob("cell.json"))) == 1


@pytest.mark.deep
@pytest.mark.parametrize("word", ["perf_kubeconfig=/nonexistent/kubeconfig"])
def test_unreachable_cluster_is_refused_before_any_change(shared_lab: Lab, tmp_path: Path, word: str) -> None:
    played = _play(shared_lab, tmp_path, "-e", "@presets/scale_test_smoke.yml", "-e", word)
    assert played.returncode == 2
    document = _document(_run(tmp_path) / "run.json")
    assert document["exit_code"] == 3
    assert (
        "does not exist; correct the path: set KUBECONFIG, or perf_kubeconfig for the host" in document["reason"]["why"]
    )


@pytest.mark.deep
def test_command_txt_repeats_the_command(shared_lab: Lab, tmp_path: Path) -> None:
    words = ("playbooks/toolbox.yml", "-i", "inventories/lab", "-e", "perf_command=nfd_has_gpu_nodes")
    played = shared_lab.run(tmp_path, "ansible-playbook", *words)
    assert played.returncode == 0, played.stdout + played.stderr
    (first,) = tmp_path.iterdir()
    line = first / "001__nfd__has_gpu_nodes" / "command.txt"
    assert f'"perf_kubeconfig": "{shared_lab.kubeconfig}", "perf_kube_context": "' in line.read_text()
    again = subprocess.run(
        ["sh", str(line)],
        cwd=tmp_path,
        # independent of the default lab or cluster at that time
        env={**shared_lab.environment(tmp_path), "PERF_LAB": "another"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stdout + again.stderr
    (second,) = (path for path in tmp_path.iterdir() if path != first)
    arguments = "001__nfd__has_gpu_nodes/args.yml"
    assert (first / arguments).read_text() == (second / arguments).read_text()
