"""The flow on a lab of plain Kubernetes: cells, models, refusals, resumption."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import Lab
from tests.integration.fine_tuning.flows import Flow, FlowResult
from tests.polling import PATIENCE_S

# trainings of a few seconds, for every model and data set
LONG = {"lab.psap.perf/duration": "15s"}


@pytest.fixture(name="flow")
def _flow(shared_lab: Lab, tmp_path: Path) -> Flow:
    return Flow(shared_lab, tmp_path)


def annotated(annotations: dict[str, str]) -> dict[str, Any]:
    """Return a patch that determines the main pod's behaviour in the lab."""
    return {"spec": {"pytorchReplicaSpecs": {"Master": {"template": {"metadata": {"annotations": annotations}}}}}}


def configurations(played: FlowResult) -> list[dict[str, Any]]:
    """Return the trainers' configurations, in the order of the cells."""
    return [document["configuration"] for document in played.documents("fine_tuning.json")]


def test_each_list_combination_is_a_cell_and_experiment_a_matrix(flow: Flow) -> None:
    experiments = [{"fine_tuning_hyper_parameters.r": [4, 8]}, {"fine_tuning_gpu": 2, "fine_tuning_memory": 20}]
    played = flow.play(presets=("fine_tuning_lora", "lab"), matrix_experiments=experiments)
    assert played.code == 0, played.output
    cells = played.documents("cell.json")
    assert [cell["status"] for cell in cells] == ["ok"] * 3
    assert [one["r"] for one in configurations(played)] == [4, 8, 4]
    assert [one["target_modules"] for one in configurations(played)] == [["q_proj", "k_proj"]] * 3
    assert [one["gpus_per_pod"] for one in played.documents("fine_tuning.json")] == [1, 1, 2]
    recorded = yaml.safe_load((played.directory / "settings.yml").read_text())
    assert "presets/fine_tuning_lora.yml:5" in recorded["all"]["fine_tuning_hyper_parameters"]["origin"]


@pytest.mark.deep
def test_driver_trains_cells_concurrently(flow: Flow) -> None:
    patch = json.dumps(annotated(LONG))
    played = flow.drive(
        "fine_tuning", "-i", "lab", "-p", "lab", "--jobs", "2",
        "-s", "fine_tuning_gpu=[1, 2]", "-s", f"fine_tuning_patch={patch}",
    )  # fmt: skip
    assert played.code == 0, played.output
    trained = played.documents("fine_tuning.json")
    assert sorted((one["gpus_per_pod"], one["outcome"]) for one in trained) == [(1, "completed"), (2, "completed")]
    assert max(one["started_s"] for one in trained) < min(one["ended_s"] for one in trained)
    assert 'data-name="compared.scaling"' in (played.directory / "report" / "index.html").read_text()


@pytest.mark.deep
def test_several_models_train_alone_and_then_concurrently(flow: Flow) -> None:
    models = [{"name": "org/first@hf", "replicas": 2}, {"name": "org/second@hf"}]
    played = flow.play(
        presets=("fine_tuning_multi_model", "lab"), fine_tuning_multi_model=models, fine_tuning_patch=annotated(LONG)
    )
    assert played.code == 0, played.output
    results = played.documents("fine_tuning.json")
    assert sorted((one["phase"], one["model"]) for one in results) == [
        ("concurrent", "org/first"), ("concurrent", "org/first"), ("concurrent", "org/second"),
        ("reference", "org/first"), ("reference", "org/second"),
    ]  # fmt: skip
    alone = sorted((one["started_s"], one["ended_s"]) for one in results if one["phase"] == "reference")
    assert alone[0][1] <= alone[1][0]
    together = [one for one in results if one["phase"] == "concurrent"]
    assert max(one["started_s"] for one in together) < min(one["ended_s"] for one in together)
    (cell,) = played.documents("cell.json")
    assert cell["status"] == "ok"


@pytest.mark.deep
def test_model_failing_alone_is_not_trained_with_others(flow: Flow) -> None:
    failing = annotated({"lab.psap.perf/exit-code": "3"})
    played = flow.play(presets=("fine_tuning_multi_model", "lab"), fine_tuning_patch=failing)
    assert played.code == 2
    assert played.document["exit_code"] == 1
    (result,) = played.documents("fine_tuning.json")
    assert (result["outcome"], result["exit_code"]) == ("failed", 3)
    (cell,) = played.documents("cell.json")
    assert cell["status"] == "failed"
    assert "fms-0-0-bloom-560m-alone" in cell["error"]


@pytest.mark.deep
def test_flow_killed_during_its_matrix_is_resumed(flow: Flow) -> None:
    # the first cell ends immediately; the second is running when all processes are killed
    experiments = json.dumps([{"fine_tuning_gpu": 1}, {"fine_tuning_gpu": 2}, {"fine_tuning_gpu": 4}])
    patch = json.dumps(annotated({"lab.psap.perf/duration": "4s"}))
    process = flow.start(
        "fine_tuning", "-i", "lab", "-p", "lab",
        "-s", f"matrix_experiments={experiments}", "-s", f"fine_tuning_patch={patch}",
    )  # fmt: skip
    try:
        running = wait_for_cell(flow.runs, 1)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()
    assert running["name"].startswith("fine_tuning_gpu=2")
    resumed = flow.drive("--resume", "latest")
    assert resumed.code == 0, resumed.output
    assert [one["status"] for one in resumed.document["attempts"]] == ["interrupted", "ok"]
    cells = [(cell["index"], cell["attempt"], cell["status"]) for cell in resumed.documents("cell.json")]
    assert sorted(cells) == [(0, 1, "ok"), (1, 1, "running"), (1, 2, "ok"), (2, 2, "ok")]
    outcomes = [one["outcome"] for one in resumed.documents("fine_tuning.json")]
    assert outcomes.count("completed") == 3


def wait_for_cell(runs: Path, index: int) -> dict[str, Any]:
    """Wait until the cell *index* runs a job."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for path in runs.glob("*/*__cell__*/cell.json"):
            cell: dict[str, Any] = json.loads(path.read_text())
            if cell["index"] == index and list(path.parent.glob("*/waiting.json")):
                return cell
        time.sleep(0.05)
    raise AssertionError(f"cell {index} did not begin within {PATIENCE_S:g} s")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"fine_tuning_model_name": "org/model@nowhere"}, "unknown registry nowhere; fine_tuning_sources has hf"),
        pytest.param(
            {"fine_tuning_dataset_name": "nothing.json"},
            "fine_tuning_dataset_name: unknown data set nothing.json",
            marks=pytest.mark.deep,
        ),
        pytest.param({"fine_tuning_pod_count": [1, 2]}, "the workload fms trains in one pod", marks=pytest.mark.deep),
        pytest.param({"fine_tuning_workload": "both"}, "must be one of fms, ilab, ray, but is", marks=pytest.mark.deep),
        ({"fine_tuning_sources.hf.secret": "env:NOWHERE"}, "the secret env:NOWHERE is missing"),
        (
            {"fine_tuning_mode": "multi_model", "fine_tuning_multi_model": [{"name": "a@hf", "replicas": 99}]},
            "99 concurrent jobs",
        ),
    ],
)
def test_invalid_training_is_refused_before_any_change(flow: Flow, settings: dict[str, Any], why: str) -> None:
    played = flow.play(presets=(), **settings)
    assert played.code == 2
    document = played.document
    assert (document["status"], document["exit_code"]) == ("refused", 2)
    assert why in document["reason"]["why"]
    assert list(played.directory.glob("*__*")) == []
