"""The flows kserve and llm_d, with loads that a lab's model servers answer."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import ApiException
from perflab.processes.state import Lab

from tests.integration.conftest import Lab as RunLab
from tests.integration.load_clients import LLM_LOAD_TEST, guidellm
from tests.schemas import check

from .labs import Cluster, Labs, wait_for
from .serving import (
    GROUP,
    LLM,
    NAME,
    NAMESPACE,
    RUNTIME,
    SERVICE,
    VERSIONS,
    gateway_url,
)
from .workloads import PREFIX


def test_flow_measures_the_configured_latencies(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The server is never early; its delay depends on the machine, so the upper bounds are wide."""
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_annotations": {
            f"{PREFIX}model": "{ttft: 0.2, itl: 0.02, failing_percent: 10}",
            f"{PREFIX}start-delay": "1s",
        },
        "kserve_concurrency": [2, 5, 64],
        "kserve_max_concurrency": {"granite-3b-code-instruct": 32},
        "kserve_max_queries": 20,
        "kserve_max_output_tokens": 10,
        **LLM_LOAD_TEST,
        "kserve_query_count": 0,
        "kserve_server_metrics": True,
        "kserve_server_metrics_interval": "0.5s",
    }
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", "-p", "kserve_raw", "-e", json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    found = {(one["name"], one["labels"].get("load")): one["value"] for one in kpis}
    assert {load for name, load in found if name == "ttft_p50"} == {"2 users", "5 users"}
    for users in ("2 users", "5 users"):
        assert found["requests_failed", users] == 2
        # the clocks may differ by some µs
        assert 0.199 <= found["ttft_p50", users] < 2.0
        assert 0.379 <= found["request_latency_p50", users] < 5.0
        assert found["itl_p50", users] == pytest.approx(0.02, rel=0.5)
        # 18 answers of 10 tokens, as the server counts them; read through port-forwards
        assert found["server_output_tokens", users] == 180
        assert found["server_running_requests_max", users] >= 1
        assert found["server_window_ttft_p50", users] > 0.1
    (path,) = run.rglob("model_start.json")
    start = json.loads(path.read_text())
    check(start)
    # the lab has no kubelet that pulls images
    assert {"pod created", "scheduled", "container started", "model loaded", "ready"} <= {
        step["step"] for step in start["steps"]
    }
    seen = {step["step"]: step["end_s"] - start["seen"][0]["begin_s"] for step in start["seen"]}
    assert found["time_to_ready", None] == pytest.approx(seen["ready"], abs=0.002)
    # the pod starts a second after its scheduling, when the command already watches
    assert seen["model loaded"] >= 1
    # no query was requested
    assert found["time_to_first_answer", None] is None
    assert found["model_load_time", None] is not None
    page = (run / "report/index.html").read_text()
    assert "Steps of the start" in page
    assert "granite-3b-code-instruct" in page
    assert "Internal Server Error" in page
    assert "Load and server" in page
    with pytest.raises(ApiException, match="not found"):
        kserve.custom.get_namespaced_custom_object(
            GROUP, VERSIONS[SERVICE], "psap-perf-kserve", SERVICE, "granite-3b-code-instruct"
        )


def test_search_finds_the_load_that_the_server_has_slots_for(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """With more users than slots, requests wait for at least the declared time of another request."""
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        # a request takes 0.5 s; a server is never early
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.5, itl: 0.001, concurrency: 4}"},
        "kserve_concurrency": [1, 16],
        "kserve_search_limits": {"ttft_p90": "950ms"},
        "kserve_max_queries": 20,
        "kserve_max_output_tokens": 2,
        **LLM_LOAD_TEST,
        "kserve_query_count": 0,
    }
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    words = ("-p", "kserve_raw", "-e")
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", *words, json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    (path,) = run.rglob("load_search.json")
    document = json.loads(path.read_text())
    check(document)
    loads = {load["users"]: load["held"] for load in document["loads"]}
    assert {1, 16} <= loads.keys()
    assert loads[1]
    assert not loads[16]
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    (highest,) = (one["value"] for one in kpis if one["name"] == "highest_load_within_limits")
    # on a slow machine it may be less
    assert 1 <= highest <= 5
    assert "Measures as a share of their limits" in (run / "report/index.html").read_text()
    settings["kserve_search_limits"] = {"ttft_p96": "950ms"}
    refused = lab.run(tmp_path, "perfdrv", "run", "kserve", *words, json.dumps(settings))
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "unknown measure ttft_p96" in refused.stdout + refused.stderr


@pytest.mark.deep
def test_tgis_model_is_queried_and_loaded_by_grpc(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.2, itl: 0.02, failing_percent: 10}"},
        "kserve_concurrency": [2, 16],
        "kserve_max_queries": 20,
        "kserve_max_output_tokens": 10,
        **LLM_LOAD_TEST,
        # fewer than the number of failures
        "kserve_query_count": 1,
    }
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    words = ("-p", "kserve_cpt_single_model_gating_light", "-e", json.dumps(settings))
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    answers = sorted(run.rglob("*kserve__validate_model/artifacts/flan-t5-small/answers.json"))
    # before and after the load
    assert [json.loads(path.read_text())["answers"][0]["completion_tokens"] for path in answers] == [100, 1]
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    found = {one["name"]: one["value"] for one in kpis if one["labels"].get("load", "2 users") == "2 users"}
    # the preset limits the model's concurrency below 16
    assert {one["labels"]["load"] for one in kpis if one["name"] == "ttft_p50"} == {"2 users"}
    assert found["requests_failed"] == 2
    assert 0.199 <= found["ttft_p50"] < 2.0
    assert found["itl_p50"] == pytest.approx(0.02, rel=0.5)
    assert found["time_to_first_answer"] > found["time_to_ready"]


@pytest.mark.deep
def test_users_deploy_models_concurrently_despite_one_failure(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The lab has two nodes of 8 GPUs: no GPUs are left for one of three users."""
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_mode": "scale",
        "kserve_users": 3,
        "kserve_models_per_user": 1,
        "kserve_model_name": "phi-2",
        "kserve_models": {"phi-2": {"vllm": {"gpus": 8}}},
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.05, itl: 0.005}"},
        "kserve_query_count": 1,
        "kserve_schedule_timeout": "15s",
        # its initial models are served by then
        "kserve_sleep_factor": 3,
    }
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", "-p", "kserve_raw", "-e", json.dumps(settings))
    assert ran.returncode == 1, ran.stdout + ran.stderr
    output = ran.stdout + ran.stderr
    # on a slow machine the last one may be another
    assert re.search(r"Pod objects in psap-perf-kserve-u\d .*within 15 s: 0 of 1 there; phi-2-", output), output
    assert "not scheduled: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu" in output
    (run,) = tmp_path.iterdir()
    (path,) = run.rglob("kserve_scale.json")
    check(json.loads(path.read_text()))
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    # the starts of its models are part of it
    assert {Path(one["labels"]["recording"]).name for one in kpis} == {path.parent.name}
    found = {one["name"]: one["value"] for one in kpis}
    assert found["models_served_ratio"] == pytest.approx(2 / 3)
    assert found["users_served_ratio"] == pytest.approx(2 / 3)
    assert 0 < found["time_to_ready_p50"] < found["time_to_first_answer_max"] < found["total_time"]
    for user in range(3):
        left = kserve.custom.list_namespaced_custom_object(
            GROUP, VERSIONS[SERVICE], f"psap-perf-kserve-u{user}", SERVICE
        )
        assert left["items"] == []


def concurrent_settings(lab: Lab, **settings: Any) -> dict[str, Any]:
    """Return settings of models that are served and loaded concurrently, for a second each time."""
    return {
        "perf_kubeconfig": str(lab.kubeconfig),
        "kserve_served_models": ["phi-2", "granite-3b-code-instruct"],
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.05, itl: 0.005}"},
        "kserve_concurrency": [2],
        "kserve_duration": 1,
        "kserve_max_queries": 10,
        "kserve_max_output_tokens": 5,
        **LLM_LOAD_TEST,
        "kserve_query_count": 1,
        **settings,
    }


@pytest.mark.deep
def test_models_are_loaded_together_and_then_each_alone(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    words = ("-p", "kserve_raw", "-p", "kserve_e2e_multi", "-e", json.dumps(concurrent_settings(labs.get(NAME))))
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    loads = [one for one in kpis if one["name"] == "ttft_p50"]
    assert sorted((one["labels"]["phase"], one["labels"]["model"]) for one in loads) == [
        (phase, model) for phase in ("alone", "together") for model in ("granite-3b-code-instruct", "phi-2")
    ]
    assert all(0.049 <= one["value"] < 2 for one in loads)
    for plural in (SERVICE, RUNTIME):
        left = kserve.custom.list_namespaced_custom_object(GROUP, VERSIONS[plural], "psap-perf-kserve", plural)
        assert left["items"] == []


def rounds_of(runs: Path) -> list[tuple[str, int, int]]:
    """Return flavor, round and attempt of each load that has ended."""
    statuses = [(path, json.loads(path.read_text())) for path in runs.rglob("*llm_load_test__run/status.json")]
    markers = [
        (json.loads((path.parent / "artifacts/llm_load_test.json").read_text()), status["attempt"])
        for path, status in statuses
        if status["status"] == "ok"
    ]
    return sorted((marker["flavor"], marker["round"], attempt) for marker, attempt in markers)


@pytest.mark.deep
def test_models_are_loaded_repeatedly_despite_kill_9(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """A load takes 1 s and rests for 4 s: two begin within ten seconds, and then a third one."""
    settings = concurrent_settings(
        labs.get(NAME),
        kserve_mode="longevity",
        kserve_served_models=["phi-2", "phi-2"],
        kserve_total_duration=10,
        kserve_sleep_interval=4,
    )
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    running = lab.start(tmp_path, "perfdrv", "run", "kserve", "-p", "kserve_raw", "-e", json.dumps(settings))
    wait_for("both have finished a round", lambda: len(rounds_of(tmp_path)) == 2)
    running.kill()
    running.communicate()
    resumed = lab.run(tmp_path, "perfdrv", "run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert rounds_of(tmp_path) == [
        (place, number, 1 if number == 1 else 2) for place in ("m0", "m1") for number in (1, 2, 3)
    ]
    (run,) = tmp_path.iterdir()
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    loads = [one["labels"] for one in kpis if one["name"] == "ttft_p50"]
    assert len(loads) == 6
    # the dimension's value is not the served model
    assert [label for label in loads if "kserve_model_name" in label] == []
    page = (run / "report/index.html").read_text()
    assert "Repeated loads over time" in page
    # a line for each, although the model is the same
    assert "m1, together" in page or "m1, 2 users" in page


def answered_requests(served: str) -> float:
    """Return the number of requests that the lab's model servers have answered, for all models."""
    with urllib.request.urlopen(f"{served}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:request_success_total"))


@pytest.mark.parametrize("flow", ["kserve", "llm_d"])
def test_check_mode_serves_nothing(labs: Labs, kserve: Cluster, tmp_path: Path, flow: str) -> None:
    lab, namespace = RunLab(NAME, labs.get(NAME).kubeconfig), "check-mode"
    settings = {"perf_kubeconfig": str(lab.kubeconfig), f"{flow}_namespace": namespace}
    ran = lab.run(tmp_path, "perfdrv", "run", flow, "--check", "-e", json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert namespace not in [each.metadata.name for each in kserve.core.list_namespace().items]


@pytest.mark.deep
def test_model_lost_under_load_fails_the_run_and_is_reported(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_model_name": "phi-2",
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.1, itl: 0.01}"},
        "kserve_concurrency": [2],
        # more than half a minute of answers
        "kserve_max_queries": 400,
        "kserve_max_output_tokens": 10,
        **LLM_LOAD_TEST,
        "kserve_query_count": 1,
        "kserve_capture_state": False,
    }
    served = kserve.core.read_namespaced_config_map("perflab", "kube-system").data["models-url"]
    before = answered_requests(served)
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    running = lab.start(tmp_path, "perfdrv", "run", "kserve", "-p", "kserve_raw", "-e", json.dumps(settings))
    wait_for("it is under load", lambda: answered_requests(served) > before + 10)
    kserve.custom.delete_namespaced_custom_object(GROUP, VERSIONS[SERVICE], "psap-perf-kserve", SERVICE, "phi-2")
    output, _ = running.communicate()
    assert running.returncode == 3, output
    message = "InferenceService psap-perf-kserve/phi-2 does not exist"
    assert message in output
    check_reported(tmp_path, message, "503, message='Service Unavailable'")
    for plural in (SERVICE, RUNTIME):
        left = kserve.custom.list_namespaced_custom_object(GROUP, VERSIONS[plural], "psap-perf-kserve", plural)
        assert left["items"] == []


def check_reported(runs: Path, message: str, reason: str) -> None:
    """Check that requests failed for *reason*, and that the error of the cell contains *message*."""
    (run,) = runs.iterdir()
    (cell,) = run.glob("*__cell__0/cell.json")
    assert message in json.loads(cell.read_text())["error"]
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    found = {one["name"]: one["value"] for one in kpis}
    assert 0 < found["requests_failed_ratio"] < 1
    page = html.unescape((run / "report/index.html").read_text())
    assert "Why requests failed" in page
    assert reason in page


def llm_d(lab: Lab, tmp_path: Path, **settings: Any) -> dict[str, Any]:
    """Return settings of the flow with a client of the tests in place of guidellm."""
    return {
        "perf_kubeconfig": str(lab.kubeconfig),
        "llm_d_model_uri": "hf://facebook/opt-125m",
        "llm_d_model_name": "opt",
        "llm_d_gateway_class": "lab",
        "llm_d_gateway_namespace": NAMESPACE,
        "llm_d_rate": [2],
        "llm_d_guidellm_program": guidellm(tmp_path),
        **settings,
    }


def run_llm_d(lab: Lab, runs: Path, settings: dict[str, Any]) -> Path:
    """Run the flow, which must succeed; return its run directory."""
    ran = RunLab(NAME, lab.kubeconfig).run(runs, "perfdrv", "run", "llm_d", "-e", json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = runs.iterdir()
    return run


@pytest.mark.deep
def test_gateway_lost_under_load_fails_the_run_and_is_reported(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    lab = labs.get(NAME)
    settings = llm_d(
        lab,
        tmp_path,
        llm_d_flavor="intelligentrouting-x2",
        llm_d_annotations={f"{PREFIX}model": "{name: opt, ttft: 0.1, itl: 0.01}"},
        # more than half a minute of answers
        llm_d_max_requests=400,
        llm_d_capture_state=False,
    )
    served = kserve.core.read_namespaced_config_map("perflab", "kube-system").data["models-url"]
    before, runs = answered_requests(served), tmp_path / "runs"
    running = RunLab(NAME, lab.kubeconfig).start(runs, "perfdrv", "run", "llm_d", "-e", json.dumps(settings))
    wait_for("it is under load", lambda: answered_requests(served) > before + 10)
    os.kill(lab.pids["envoy"].pid, signal.SIGKILL)
    said, _ = running.communicate()
    assert labs.run("restart", "--name", NAME, "envoy").returncode == 0
    assert running.returncode == 1, said
    told = f"{gateway_url(kserve)}/psap-perf-llm-d/llm-d does not respond: [Errno"
    assert told in said
    check_reported(runs, told, "Cannot connect to host")


@pytest.mark.deep
def test_each_flavor_of_llm_d_is_a_cell(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    settings = llm_d(
        labs.get(NAME),
        tmp_path,
        llm_d_flavor=["simple-x2", "intelligentrouting-x2", "pd-tp2-px3"],
        llm_d_annotations={f"{PREFIX}model": "{name: opt, ttft: 0.05, itl: 0.005}"},
        llm_d_preload_images=["quay.io/vllm:1"],
        llm_d_max_requests=10,
        llm_d_server_metrics=True,
        llm_d_server_metrics_interval="0.5s",
    )
    run = run_llm_d(labs.get(NAME), tmp_path / "runs", settings)
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    loads = [one["labels"] for one in kpis if one["name"] == "ttft_p50"]
    assert [each["llm_d_flavor"] for each in loads] == ["simple-x2", "intelligentrouting-x2", "pd-tp2-px3"]
    assert [each["flavor"] for each in loads] == ["simple-x2", "intelligentrouting-x2", "pd-tp2-px3"]
    # of all pods that decode
    counted = [one["value"] for one in kpis if one["name"] == "server_output_tokens"]
    assert len(counted) == 3
    assert min(counted) > 0
    assert len(set(counted)) == 1
    # through the gateway, whose delay depends on the machine
    assert [one["value"] >= 0.049 for one in kpis if one["name"] == "ttft_p50"] == [True] * 3
    assert [path.name for path in run.glob("*prepare*/**/*__cluster__preload_image")] != []
    answered = [one["value"] for one in kpis if one["name"] == "time_to_first_answer"]
    assert len(answered) == 3
    assert min(answered) > 0
    captured = run.glob("*__cell__*/*__llm_d__capture_isvc_state/artifacts/deployment.yml")
    deployed = [list(yaml.safe_load_all(path.read_text())) for path in sorted(captured)]
    assert [{each["metadata"]["name"]: each["spec"]["replicas"] for each in cell} for cell in deployed] == [
        {"llm-d-kserve": 2},
        {"llm-d-kserve": 2, "llm-d-kserve-router-scheduler": 1},
        {"llm-d-kserve": 1, "llm-d-kserve-prefill": 3, "llm-d-kserve-router-scheduler": 1},
    ]
    with pytest.raises(ApiException, match="not found"):
        kserve.custom.get_namespaced_custom_object(GROUP, VERSIONS[LLM], "psap-perf-llm-d", LLM, "llm-d")


@pytest.mark.deep
def test_llm_d_is_loaded_by_two_generators_side_by_side(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """aiperf itself: `perfdrv generators install aiperf`; the client of the tests replaces guidellm."""
    settings = llm_d(
        labs.get(NAME),
        tmp_path,
        llm_d_flavor="simple",
        llm_d_annotations={f"{PREFIX}model": "{name: opt, ttft: 0.1, itl: 0.01, concurrency: 2}"},
        llm_d_load_generator=["guidellm", "aiperf"],
        llm_d_rate=[1, 4],
        llm_d_max_seconds=0,
        llm_d_max_requests=20,
        llm_d_data="prompt_tokens=20,output_tokens=10",
        llm_d_server_metrics=True,
        llm_d_server_metrics_interval="0.5s",
    )
    run = run_llm_d(labs.get(NAME), tmp_path / "runs", settings)
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    found = {(one["name"], one["labels"].get("llm_d_load_generator"), one["labels"].get("load")): one for one in kpis}
    for generator in ("guidellm", "aiperf"):
        assert found["requests_failed", generator, "4 users"]["value"] == 0
        # the server is never early; of 4 users, 2 wait for the others
        assert 0.099 <= found["ttft_p50", generator, "1 user"]["value"] < 2.0
        assert found["ttft_p50", generator, "4 users"]["value"] > found["ttft_p50", generator, "1 user"]["value"]
    # 20 answers of 10 tokens
    assert found["server_output_tokens", "aiperf", "4 users"]["value"] == 200
    settings["llm_d_rate_type"], settings["llm_d_load_generator"] = "sweep", "aiperf"
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    refused = lab.run(tmp_path / "refused", "perfdrv", "run", "llm_d", "-e", json.dumps(settings))
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "only guidellm creates loads of the type sweep" in refused.stdout + refused.stderr


@pytest.mark.deep
def test_knee_of_a_load_is_explained_by_the_queue_of_the_server(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The server answers 2 requests concurrently: with more users, throughput stays and requests wait."""
    settings = llm_d(
        labs.get(NAME),
        tmp_path,
        llm_d_flavor="simple",
        llm_d_annotations={f"{PREFIX}model": "{name: opt, ttft: 0.1, itl: 0.01, concurrency: 2}"},
        llm_d_rate=[1, 2, 4, 8, 16],
        llm_d_max_requests=80,
        llm_d_server_metrics=True,
        llm_d_server_metrics_interval="0.5s",
    )
    run = run_llm_d(labs.get(NAME), tmp_path / "runs", settings)
    page = html.unescape((run / "report/index.html").read_text())
    assert re.search(
        r"On the server, from the knee \(\d users?\) to 16 users: waiting requests, mean: 0\.\d to 1", page
    )


@pytest.mark.deep
def test_llm_d_reads_the_model_from_a_claim_downloaded_once(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The pods that download and serve are simulated, so the content of the claim does not matter."""
    settings = llm_d(
        labs.get(NAME),
        tmp_path,
        llm_d_flavor="simple",
        llm_d_annotations={f"{PREFIX}model": "{name: opt, ttft: 0.05, itl: 0.005}"},
        llm_d_claim="models",
        llm_d_max_requests=2,
    )
    lab, claims = RunLab(NAME, labs.get(NAME).kubeconfig), kserve.core
    downloads, runs = [], [tmp_path / "first", tmp_path / "again"]
    for folder in runs:
        ran = lab.run(folder, "perfdrv", "run", "llm_d", "-e", json.dumps(settings))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        (command,) = folder.glob("*/*prepare*/**/*__storage__download_to_pvc")
        downloads.append([path.name for path in command.glob("src/pod_*")])
        (captured,) = folder.rglob("*__llm_d__capture_isvc_state/artifacts/llminferenceservice.yml")
        assert yaml.safe_load(captured.read_text())["spec"]["model"]["uri"] == "pvc://models/facebook/opt-125m"
        (captured,) = folder.rglob("*__llm_d__capture_isvc_state/artifacts/deployment.yml")
        volumes = yaml.safe_load(captured.read_text())["spec"]["template"]["spec"]["volumes"]
        mounted = [each["persistentVolumeClaim"] for each in volumes if "persistentVolumeClaim" in each]
        assert mounted == [{"claimName": "models"}]
    assert [len(pods) for pods in downloads] == [1, 0]
    assert "data.psap.perf/facebook.opt-125m" in (
        claims.read_namespaced_persistent_volume_claim("models", "psap-perf-llm-d").metadata.labels
    )
    claims.delete_namespaced_persistent_volume_claim("models", "psap-perf-llm-d")
