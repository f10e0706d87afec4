"""Failures, stops and refusals of a fine-tuning command, and what they leave in the cluster."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

from tests.polling import PATIENCE_S, wait_until

from .conftest import NAMESPACE, Commands

pytestmark = pytest.mark.lab


def on_main_pod(**annotations: str) -> dict[str, Any]:
    metadata = {"annotations": {f"lab.psap.perf/{name}": value for name, value in annotations.items()}}
    return {"spec": {"pytorchReplicaSpecs": {"Master": {"template": {"metadata": metadata}}}}}


def left(commands: Commands) -> list[str]:
    """Return what remains of the job in the cluster."""
    kinds = (("kubeflow.org/v1", "PyTorchJob"), ("v1", "Pod"), ("v1", "ConfigMap"))
    found = []
    for version, kind in kinds:
        query = Query(version, kind, NAMESPACE, label_selector="psap.perf/fine-tuning-job=ends")
        found += [f"{kind} {item['metadata']['name']}" for item in commands.cluster.list(query)[0]]
    return found


def test_failed_job_exits_with_1_and_is_deleted(commands: Commands) -> None:
    process = commands.start_command(
        name="ends", patch=on_main_pod(reason="OOMKilled", log="step 1\nCUDA out of memory")
    )
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2, output
    run = commands.run()
    assert (run["status"], run["exit_code"]) == ("failed", 1)
    assert (
        "completed will not be: ends: Failed: PyTorchJobFailed" in (commands.artifacts().parent / "FAILURE").read_text()
    )
    result = json.loads((commands.artifacts() / "fine_tuning.json").read_text())
    assert (result["outcome"], result["reason"]) == ("failed", "ends-master-0: OOMKilled (exit code 137)")
    log = (commands.artifacts() / "logs/ends-master-0.log").read_text().splitlines()
    assert [line.partition(" ")[2] for line in log] == ["step 1", "CUDA out of memory"]
    assert log[0].startswith("20")
    assert left(commands) == []


@pytest.mark.deep
def test_stopped_run_leaves_no_job(commands: Commands) -> None:
    process = commands.start_command(name="ends", patch=on_main_pod(duration="1h"), timeout="1h")
    wait_until(lambda: any("completed" in path.read_text() for path in commands.runs.glob("*/001__*/waiting.json")))
    next(commands.runs.iterdir()).joinpath("stop").touch()
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert commands.run()["status"] == "interrupted", output
    result = json.loads((commands.artifacts() / "fine_tuning.json").read_text())
    assert (result["outcome"], result["reason"]) == ("interrupted", "the run was asked to stop")
    assert result["started_s"] is not None
    assert result["ended_s"] is None
    assert left(commands) == []


def test_invalid_hyper_parameters_exit_with_2_without_objects(commands: Commands) -> None:
    process = commands.start_command(name="ends", hyper_parameters={"output_dir": "/tmp"})
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert commands.run()["exit_code"] == 2, output
    assert left(commands) == []


@pytest.mark.deep
def test_check_mode_creates_nothing_and_shows_the_job(commands: Commands) -> None:
    process = commands.start_command("--check", "--diff", name="ends")
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    assert re.search(r"^\+ +- name: pytorch$", output, re.MULTILINE), output
    assert not (commands.artifacts() / "fine_tuning.json").exists()
    assert left(commands) == []


@pytest.mark.deep
def test_prepared_job_is_the_template_of_a_larger_load(commands: Commands) -> None:
    process = commands.start_command(name="many", gpu=2, prepare_only=True)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    template = next(commands.runs.glob("*/*/src/pytorchjob_many.yml"))
    submitted = {"template": str(template), "workload_kind": "PyTorchJob", "count": 3, "namespace": NAMESPACE}
    load = commands.start(
        "playbooks/toolbox.yml",
        perf_command="scale_test_submit",
        **{f"scale_test_submit_{name}": value for name, value in submitted.items()},
    )
    output, _ = load.communicate(timeout=PATIENCE_S)
    assert load.returncode == 0, output
    accounting = json.loads(next(commands.runs.glob("*/*/artifacts/accounting.json")).read_text())
    assert (accounting["submitted"], accounting["completed"]) == (3, 3)
    rows = next(commands.runs.glob("*/*/artifacts/submissions.jsonl")).read_text().splitlines()
    assert {json.loads(row)["gpus"] for row in rows} == {2}
