"""What the flow kserve measures beside a load, with models that a lab serves: accuracy, cold starts, rollouts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import PROJECT
from tests.integration.conftest import Lab as RunLab
from tests.integration.load_clients import LLM_LOAD_TEST
from tests.schemas import check

from .labs import Cluster, Labs, wait_for
from .serving import NAME
from .serving_flows import (
    check_no_autoscaler_is_left,
    check_no_model_is_left,
    interrupt_flow,
    kill_flow,
    resumed_run,
    start_flow,
)
from .workloads import PREFIX

pytestmark = pytest.mark.deep

End = Callable[[subprocess.Popen[str], Path], None]
ENDS = pytest.mark.parametrize("end", [kill_flow, interrupt_flow])


def kpis_of(run: Path) -> dict[tuple[str, str | None], Any]:
    found = json.loads((run / "report/kpis.json").read_text())["kpis"]
    return {(one["name"], one["labels"].get("load")): one["value"] for one in found}


def test_wrong_answers_are_measured_beside_the_speed(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """lm-evaluation-harness itself, which `perfdrv generators install lm-eval` installed, asks the lab's model."""
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_concurrency": [2],
        "kserve_max_queries": 4,
        "kserve_max_output_tokens": 2,
        **LLM_LOAD_TEST,
        "kserve_query_count": 0,
        "kserve_accuracy_tasks": {"words": 0.9},
        "kserve_accuracy_tasks_path": str(PROJECT / "tests/data/evaluation_tasks"),
    }
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    words = ("-p", "kserve_raw", "-e")
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", *words, json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = (path for path in tmp_path.iterdir() if path.is_dir())
    (path,) = run.rglob("evaluation.json")
    document = json.loads(path.read_text())
    check(document)
    assert (document["accuracy"], document["samples"]) == (0.75, 4)
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    assert [one["value"] for one in kpis if one["name"] == "accuracy"] == [0.75]
    assert "the accuracy of words is 0.75, below its minimum 0.9" in (run / "report/index.html").read_text()
    settings["kserve_accuracy_tasks"] = {"missing": 0}
    refused = lab.run(tmp_path, "perfdrv", "run", "kserve", *words, json.dumps(settings))
    assert refused.returncode == 2
    assert "lm_eval refuses the tasks missing: Tasks not found: missing" in refused.stdout + refused.stderr
    settings["kserve_accuracy_tasks_path"] = "/missing"
    refused = lab.run(tmp_path, "perfdrv", "run", "kserve", *words, json.dumps(settings))
    assert refused.returncode != 0
    assert "tasks_path: the directory /missing does not exist" in refused.stdout + refused.stderr


def test_cold_starts_are_measured_by_step(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.1}", f"{PREFIX}start-delay": "1s"},
        "kserve_cold_starts": 3,
        "kserve_query_count": 1,
    }
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    ran = lab.run(
        tmp_path, "perfdrv", "run", "kserve", "-p", "kserve_raw", "-p", "kserve_cold_start", "-e", json.dumps(settings)
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = (path for path in tmp_path.iterdir() if path.is_dir())
    (path,) = run.rglob("cold_starts.json")
    document = json.loads(path.read_text())
    check(document)
    assert [one["number"] for one in document["starts"]] == [1, 2, 3]
    for start in document["starts"]:
        steps = [one["step"] for one in start["steps"]]
        assert steps[0] == "pod created"
        assert steps[-2:] == ["model loaded", "first answer"]
    found = kpis_of(run)
    assert found["cold_starts", None] == 3
    # the pod starts a second after its scheduling, and a server is never early
    assert found["cold_start_ready_p50", None] >= 0.9
    assert found["cold_start_answer_p50", None] >= found["cold_start_ready_p50", None] + 0.1
    assert "Steps of the starts" in (run / "report/index.html").read_text()


def check_nothing_is_left(cluster: Cluster) -> None:
    check_no_model_is_left(cluster)
    check_no_autoscaler_is_left(cluster)
    assert not cluster.core.list_namespaced_pod("psap-perf-kserve").items
    assert not cluster.apps.list_namespaced_deployment("psap-perf-kserve").items


@ENDS
def test_resumed_run_measures_all_cold_starts_again(labs: Labs, kserve: Cluster, tmp_path: Path, end: End) -> None:
    settings: dict[str, Any] = {
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.1}", f"{PREFIX}start-delay": "1s"},
        "kserve_cold_starts": 4,
        "kserve_query_count": 1,
    }
    running = start_flow(labs.get(NAME), tmp_path, "kserve", settings, "-p", "kserve_raw", "-p", "kserve_cold_start")
    wait_for("a start is measured", lambda: list(tmp_path.rglob("cold_starts.json")))
    end(running, tmp_path)
    if end is interrupt_flow:
        check_nothing_is_left(kserve)
    run = resumed_run(labs.get(NAME), tmp_path)
    (path,) = run.rglob("cold_starts.json")
    document = json.loads(path.read_text())
    assert [one["number"] for one in document["starts"]] == [1, 2, 3, 4]
    found = kpis_of(run)
    assert found["cold_starts", None] == 4
    assert found["cold_start_ready_p50", None] >= 0.9
    check_nothing_is_left(kserve)


def rollout_settings(**settings: Any) -> dict[str, Any]:
    return {
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.2, itl: 0.01}", f"{PREFIX}start-delay": "1s"},
        "kserve_rollout_after": "8s",
        "kserve_concurrency": [2],
        "kserve_max_queries": 300,
        "kserve_max_output_tokens": 5,
        **LLM_LOAD_TEST,
        "kserve_query_count": 0,
        **settings,
    }


@ENDS
def test_resumed_rollout_replaces_the_former_version(labs: Labs, kserve: Cluster, tmp_path: Path, end: End) -> None:
    """The first attempt ends after its change, whose version would otherwise serve from the start."""
    lab = labs.get(NAME)
    running = start_flow(lab, tmp_path, "kserve", rollout_settings(), "-p", "kserve_rollout")
    wait_for(
        "the model is changed",
        lambda: any("change_s" in path.read_text() for path in tmp_path.rglob("replica_samples.jsonl")),
    )
    end(running, tmp_path)
    if end is interrupt_flow:
        check_nothing_is_left(kserve)
    run = resumed_run(lab, tmp_path)
    (path,) = run.rglob("rollout.json")
    document = json.loads(path.read_text())
    assert document["samples"][0]["ready_new"] == 0
    assert document["samples"][-1]["ready_new"] == document["samples"][-1]["ready"] == 1
    found = kpis_of(run)
    assert found["rollout_time", None] >= 0.9
    assert found["rollout_requests_failed", None] == 0
    assert found["rollout_latency_before", None] >= 0.2
    # a pod starts a second after its scheduling, during which the former answers
    assert {phase["phase"] for phase in document["phases"]} >= {"before", "during"}
    assert not list(run.rglob("replica_samples*"))
    check_nothing_is_left(kserve)


def test_rollout_under_load_replaces_every_replica(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    settings = rollout_settings(perf_kubeconfig=str(labs.get(NAME).kubeconfig))
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    words = ("perfdrv", "run", "kserve", "-p", "kserve_rollout", "-e")
    ran = lab.run(tmp_path, *words, json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = (path for path in tmp_path.iterdir() if path.is_dir())
    (path,) = run.rglob("rollout.json")
    document = json.loads(path.read_text())
    check(document)
    assert document["samples"][0]["ready_new"] == 0
    assert document["samples"][-1]["ready_new"] == document["samples"][-1]["ready"] == 1
    found = kpis_of(run)
    assert found["rollout_time", None] >= 0.9
    assert found["rollout_latency_before", None] >= 0.2
    assert "Replicas beside the load" in (run / "report/index.html").read_text()
    # the API server refuses the change before the load
    settings["kserve_rollout_change"] = {"spec": {"predictor": {"mode1": 1}}}
    refused = lab.run(tmp_path / "refused", *words, json.dumps(settings))
    assert refused.returncode != 0
    assert "mode1" in refused.stdout + refused.stderr


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"kserve_mode": "rollout"}, "kserve_mode rollout needs kserve_rollout_change"),
        ({"kserve_mode": "autoscale"}, "kserve_mode autoscale and rollout need a Deployment"),
        ({"kserve_mode": "cold_start", "kserve_cold_starts": 0}, "kserve_cold_starts must be at least 1"),
        ({"kserve_autoscaler": "keda"}, "kserve_autoscaler needs kserve_mode autoscale"),
    ],
)
def test_incomplete_modes_are_refused(
    labs: Labs, kserve: Cluster, tmp_path: Path, setting: dict[str, Any], message: str
) -> None:
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    given = {"perf_kubeconfig": str(lab.kubeconfig), **setting}
    refused = lab.run(tmp_path, "perfdrv", "run", "kserve", "-e", json.dumps(given))
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert message in refused.stdout + refused.stderr


@pytest.mark.parametrize(
    ("autoscaler", "advice"),
    [
        ("hpa", "the autoscaler needs the metrics of pods; install the metrics server"),
        ("keda", "kserve_autoscaler keda needs KEDA; install it, on a lab with `perflab up --with keda`"),
    ],
)
def test_autoscale_without_its_requirements_deploys_nothing(
    labs: Labs, kserve: Cluster, tmp_path: Path, autoscaler: str, advice: str
) -> None:
    """Only the pods of a real node have metrics; this lab has simulated nodes, and no KEDA."""
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    given = {"perf_kubeconfig": str(lab.kubeconfig), "kserve_autoscaler": [autoscaler]}
    refused = lab.run(tmp_path, "perfdrv", "run", "kserve", "-p", "kserve_autoscale", "-e", json.dumps(given))
    assert refused.returncode == 3, refused.stdout + refused.stderr
    assert advice in refused.stdout + refused.stderr
    assert not list(tmp_path.rglob("*kserve__deploy_model"))
