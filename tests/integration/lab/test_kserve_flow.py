"""The flow kserve, with loads that a lab's model servers answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiException

from tests.integration.conftest import Lab as RunLab
from tests.integration.load_clients import LLM_LOAD_TEST
from tests.schemas import check

from .labs import Cluster, Labs, wait_for
from .serving import GROUP, NAME, SERVICE, VERSIONS
from .serving_flows import (
    Settings,
    check_knee_is_explained_by_the_queue,
    check_mode_creates_nothing,
    check_no_model_is_left,
    check_refused,
    check_reported,
    kpi_values,
    model_annotations,
    only_run,
    read_kpis,
    run_flow,
    start_flow,
    start_loaded_flow,
    successful_run,
)
from .workloads import PREFIX

RAW = ("-p", "kserve_raw")


def test_flow_measures_the_configured_latencies(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The server is never early; its delay depends on the machine, so the upper bounds are wide."""
    settings: Settings = {
        "kserve_annotations": {
            **model_annotations(ttft=0.2, itl=0.02, failing_percent=10),
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
    run = successful_run(labs.get(NAME), tmp_path, "kserve", settings, *RAW)
    found = kpi_values(run, "load")
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


@pytest.mark.deep
def test_search_finds_the_load_that_the_server_has_slots_for(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """With more users than slots, requests wait for at least the declared time of another request."""
    settings: Settings = {
        # a request takes 0.5 s; a server is never early
        "kserve_annotations": model_annotations(ttft=0.5, itl=0.001, concurrency=4),
        "kserve_concurrency": [1, 16],
        "kserve_search_limits": {"ttft_p90": "950ms"},
        "kserve_max_queries": 20,
        "kserve_max_output_tokens": 2,
        **LLM_LOAD_TEST,
        "kserve_query_count": 0,
    }
    run = successful_run(labs.get(NAME), tmp_path, "kserve", settings, *RAW)
    (path,) = run.rglob("load_search.json")
    document = json.loads(path.read_text())
    check(document)
    loads = {load["users"]: load["held"] for load in document["loads"]}
    assert {1, 16} <= loads.keys()
    assert loads[1]
    assert not loads[16]
    # on a slow machine it may be less
    assert 1 <= kpi_values(run)["highest_load_within_limits",] <= 5
    assert "Measures as a share of their limits" in (run / "report/index.html").read_text()
    settings["kserve_search_limits"] = {"ttft_p96": "950ms"}
    check_refused(labs.get(NAME), tmp_path, "kserve", settings, "unknown measure ttft_p96", *RAW)


@pytest.mark.deep
def test_knee_of_a_load_is_explained_by_the_queue_of_the_server(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The server answers 2 requests concurrently: with more users, throughput stays and requests wait."""
    settings: Settings = {
        "kserve_annotations": model_annotations(ttft=0.1, itl=0.01, concurrency=2),
        "kserve_concurrency": [1, 2, 4, 8, 16],
        "kserve_max_queries": 80,
        "kserve_max_output_tokens": 10,
        **LLM_LOAD_TEST,
        "kserve_query_count": 0,
        "kserve_server_metrics": True,
        "kserve_server_metrics_interval": "0.5s",
    }
    check_knee_is_explained_by_the_queue(successful_run(labs.get(NAME), tmp_path, "kserve", settings, *RAW))


@pytest.mark.deep
def test_tgis_model_is_queried_and_loaded_by_grpc(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    settings: Settings = {
        "kserve_annotations": model_annotations(ttft=0.2, itl=0.02, failing_percent=10),
        "kserve_concurrency": [2, 16],
        "kserve_max_queries": 20,
        "kserve_max_output_tokens": 10,
        **LLM_LOAD_TEST,
        # fewer than the number of failures
        "kserve_query_count": 1,
    }
    preset = ("-p", "kserve_cpt_single_model_gating_light")
    run = successful_run(labs.get(NAME), tmp_path, "kserve", settings, *preset)
    answers = sorted(run.rglob("*kserve__validate_model/artifacts/flan-t5-small/answers.json"))
    # before and after the load
    assert [json.loads(path.read_text())["answers"][0]["completion_tokens"] for path in answers] == [100, 1]
    found = kpi_values(run, "load")
    # the preset limits the model's concurrency below 16
    assert {load for name, load in found if name == "ttft_p50"} == {"2 users"}
    assert found["requests_failed", "2 users"] == 2
    assert 0.199 <= found["ttft_p50", "2 users"] < 2.0
    assert found["itl_p50", "2 users"] == pytest.approx(0.02, rel=0.5)
    assert found["time_to_first_answer", None] > found["time_to_ready", None]


@pytest.mark.deep
def test_users_deploy_models_concurrently_despite_one_failure(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The lab has two nodes of 8 GPUs: no GPUs are left for one of three users."""
    settings: Settings = {
        "kserve_mode": "scale",
        "kserve_users": 3,
        "kserve_models_per_user": 1,
        "kserve_model_name": "phi-2",
        "kserve_models": {"phi-2": {"vllm": {"gpus": 8}}},
        "kserve_annotations": model_annotations(ttft=0.05, itl=0.005),
        "kserve_query_count": 1,
        "kserve_schedule_timeout": "15s",
        # its initial models are served by then
        "kserve_sleep_factor": 3,
    }
    ran = run_flow(labs.get(NAME), tmp_path, "kserve", settings, *RAW)
    output = ran.stdout + ran.stderr
    assert ran.returncode == 1, output
    # on a slow machine the last one may be another
    assert re.search(r"Pod objects in psap-perf-kserve-u\d .*within 15 s: 0 of 1 there; phi-2-", output), output
    assert "not scheduled: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu" in output
    run = only_run(tmp_path)
    (path,) = run.rglob("kserve_scale.json")
    check(json.loads(path.read_text()))
    # the starts of its models are part of it
    assert {Path(one["labels"]["recording"]).name for one in read_kpis(run)} == {path.parent.name}
    found = {one["name"]: one["value"] for one in read_kpis(run)}
    assert found["models_served_ratio"] == pytest.approx(2 / 3)
    assert found["users_served_ratio"] == pytest.approx(2 / 3)
    assert 0 < found["time_to_ready_p50"] < found["time_to_first_answer_max"] < found["total_time"]
    for user in range(3):
        check_no_model_is_left(kserve, f"psap-perf-kserve-u{user}")


def concurrent_settings(**settings: Any) -> Settings:
    """Return settings of models that are served and loaded concurrently, for a second each time."""
    return {
        "kserve_served_models": ["phi-2", "granite-3b-code-instruct"],
        "kserve_annotations": model_annotations(ttft=0.05, itl=0.005),
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
    presets = (*RAW, "-p", "kserve_e2e_multi")
    run = successful_run(labs.get(NAME), tmp_path, "kserve", concurrent_settings(), *presets)
    loads = [one for one in read_kpis(run) if one["name"] == "ttft_p50"]
    assert sorted((one["labels"]["phase"], one["labels"]["model"]) for one in loads) == [
        (phase, model) for phase in ("alone", "together") for model in ("granite-3b-code-instruct", "phi-2")
    ]
    assert all(0.049 <= one["value"] < 2 for one in loads)
    check_no_model_is_left(kserve)


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
        kserve_mode="longevity",
        kserve_served_models=["phi-2", "phi-2"],
        kserve_total_duration=10,
        kserve_sleep_interval=4,
    )
    lab = labs.get(NAME)
    running = start_flow(lab, tmp_path, "kserve", settings, *RAW)
    wait_for("both have finished a round", lambda: len(rounds_of(tmp_path)) == 2)
    running.kill()
    running.communicate()
    resumed = RunLab(NAME, lab.kubeconfig).run(tmp_path, "perfdrv", "run", "--resume", "latest")
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert rounds_of(tmp_path) == [
        (place, number, 1 if number == 1 else 2) for place in ("m0", "m1") for number in (1, 2, 3)
    ]
    run = only_run(tmp_path)
    loads = [one["labels"] for one in read_kpis(run) if one["name"] == "ttft_p50"]
    assert len(loads) == 6
    # the dimension's value is not the served model
    assert [label for label in loads if "kserve_model_name" in label] == []
    page = (run / "report/index.html").read_text()
    assert "Repeated loads over time" in page
    # a line for each, although the model is the same
    assert "m1, together" in page or "m1, 2 users" in page


@pytest.mark.deep
def test_model_lost_under_load_fails_the_run_and_is_reported(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    settings: Settings = {
        "kserve_model_name": "phi-2",
        "kserve_annotations": model_annotations(ttft=0.1, itl=0.01),
        "kserve_concurrency": [2],
        # more than half a minute of answers
        "kserve_max_queries": 400,
        "kserve_max_output_tokens": 10,
        **LLM_LOAD_TEST,
        "kserve_query_count": 1,
        "kserve_capture_state": False,
    }
    running = start_loaded_flow(labs.get(NAME), kserve, tmp_path, "kserve", settings, *RAW)
    kserve.custom.delete_namespaced_custom_object(GROUP, VERSIONS[SERVICE], "psap-perf-kserve", SERVICE, "phi-2")
    output, _ = running.communicate()
    assert running.returncode == 3, output
    message = "InferenceService psap-perf-kserve/phi-2 does not exist"
    assert message in output
    check_reported(only_run(tmp_path), message, "503, message='Service Unavailable'")
    check_no_model_is_left(kserve)


def test_check_mode_serves_no_model(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    check_mode_creates_nothing(labs.get(NAME), kserve, tmp_path, "kserve")
