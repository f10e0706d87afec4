"""The flow llm_d, with loads that a lab's model servers answer behind Envoy."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import yaml
from kubernetes.client import ApiException

from .labs import Cluster, Labs
from .serving import GROUP, LLM, NAME, VERSIONS, gateway_url
from .serving_flows import (
    check_knee_is_explained_by_the_queue,
    check_mode_creates_nothing,
    check_refused,
    check_reported,
    kpi_values,
    llm_d_settings,
    model_annotations,
    only_run,
    read_kpis,
    start_loaded_flow,
    successful_run,
)

SAMPLED = {"llm_d_server_metrics": True, "llm_d_server_metrics_interval": "0.5s"}


@pytest.mark.deep
def test_check_mode_serves_no_model(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    check_mode_creates_nothing(labs.get(NAME), kserve, tmp_path, "llm_d")


@pytest.mark.deep
def test_gateway_lost_under_load_fails_the_run_and_is_reported(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    lab, runs = labs.get(NAME), tmp_path / "runs"
    settings = llm_d_settings(
        tmp_path,
        llm_d_flavor="intelligentrouting-x2",
        llm_d_annotations=model_annotations(name="opt", ttft=0.1, itl=0.01),
        # more than half a minute of answers
        llm_d_max_requests=400,
        llm_d_capture_state=False,
    )
    running = start_loaded_flow(lab, kserve, runs, "llm_d", settings)
    os.kill(lab.pids["envoy"].pid, signal.SIGKILL)
    output, _ = running.communicate()
    assert labs.run("restart", "--name", NAME, "envoy").returncode == 0
    assert running.returncode == 1, output
    message = f"{gateway_url(kserve)}/psap-perf-llm-d/llm-d does not respond: [Errno"
    assert message in output
    check_reported(only_run(runs), message, "Cannot connect to host")


@pytest.mark.deep
def test_each_flavor_of_llm_d_is_a_cell(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    flavors = ["simple-x2", "intelligentrouting-x2", "pd-tp2-px3"]
    settings = llm_d_settings(
        tmp_path,
        llm_d_flavor=flavors,
        llm_d_annotations=model_annotations(name="opt", ttft=0.05, itl=0.005),
        llm_d_preload_images=["quay.io/vllm:1"],
        llm_d_max_requests=10,
        **SAMPLED,
    )
    run = successful_run(labs.get(NAME), tmp_path / "runs", "llm_d", settings)
    loads = [one for one in read_kpis(run) if one["name"] == "ttft_p50"]
    assert [one["labels"]["llm_d_flavor"] for one in loads] == flavors
    assert [one["labels"]["flavor"] for one in loads] == flavors
    # through the gateway, whose delay depends on the machine
    assert [one["value"] >= 0.049 for one in loads] == [True] * 3
    # of all pods that decode
    counted = [one["value"] for one in read_kpis(run) if one["name"] == "server_output_tokens"]
    assert len(counted) == 3
    assert min(counted) > 0
    assert len(set(counted)) == 1
    assert [path.name for path in run.glob("*prepare*/**/*__cluster__preload_image")] != []
    answered = [one["value"] for one in read_kpis(run) if one["name"] == "time_to_first_answer"]
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
    settings = llm_d_settings(
        tmp_path,
        llm_d_flavor="simple",
        llm_d_annotations=model_annotations(name="opt", ttft=0.1, itl=0.01, concurrency=2),
        llm_d_load_generator=["guidellm", "aiperf"],
        llm_d_rate=[1, 4],
        llm_d_max_seconds=0,
        llm_d_max_requests=20,
        llm_d_data="prompt_tokens=20,output_tokens=10",
        **SAMPLED,
    )
    run = successful_run(labs.get(NAME), tmp_path / "runs", "llm_d", settings)
    found = kpi_values(run, "llm_d_load_generator", "load")
    for generator in ("guidellm", "aiperf"):
        assert found["requests_failed", generator, "4 users"] == 0
        # the server is never early; of 4 users, 2 wait for the others
        assert 0.099 <= found["ttft_p50", generator, "1 user"] < 2.0
        assert found["ttft_p50", generator, "4 users"] > found["ttft_p50", generator, "1 user"]
    # 20 answers of 10 tokens
    assert found["server_output_tokens", "aiperf", "4 users"] == 200
    settings.update(llm_d_rate_type="sweep", llm_d_load_generator="aiperf")
    message = "only guidellm creates loads of the type sweep"
    check_refused(labs.get(NAME), tmp_path / "refused", "llm_d", settings, message)


@pytest.mark.deep
def test_knee_of_a_load_is_explained_by_the_queue_of_the_server(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The server answers 2 requests concurrently: with more users, throughput stays and requests wait."""
    settings = llm_d_settings(
        tmp_path,
        llm_d_flavor="simple",
        llm_d_annotations=model_annotations(name="opt", ttft=0.1, itl=0.01, concurrency=2),
        llm_d_rate=[1, 2, 4, 8, 16],
        llm_d_max_requests=80,
        **SAMPLED,
    )
    run = successful_run(labs.get(NAME), tmp_path / "runs", "llm_d", settings)
    check_knee_is_explained_by_the_queue(run)


@pytest.mark.deep
def test_llm_d_reads_the_model_from_a_claim_downloaded_once(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The pods that download and serve are simulated, so the content of the claim does not matter."""
    settings = llm_d_settings(
        tmp_path,
        llm_d_flavor="simple",
        llm_d_annotations=model_annotations(name="opt", ttft=0.05, itl=0.005),
        llm_d_claim="models",
        llm_d_max_requests=2,
    )
    downloads = []
    for name in ("first", "again"):
        run = successful_run(labs.get(NAME), tmp_path / name, "llm_d", settings)
        (command,) = run.glob("*prepare*/**/*__storage__download_to_pvc")
        downloads.append(len(list(command.glob("src/pod_*"))))
        (captured,) = run.rglob("*__llm_d__capture_isvc_state/artifacts/llminferenceservice.yml")
        assert yaml.safe_load(captured.read_text())["spec"]["model"]["uri"] == "pvc://models/facebook/opt-125m"
        (captured,) = run.rglob("*__llm_d__capture_isvc_state/artifacts/deployment.yml")
        volumes = yaml.safe_load(captured.read_text())["spec"]["template"]["spec"]["volumes"]
        mounted = [each["persistentVolumeClaim"] for each in volumes if "persistentVolumeClaim" in each]
        assert mounted == [{"claimName": "models"}]
    assert downloads == [1, 0]
    assert "data.psap.perf/facebook.opt-125m" in (
        kserve.core.read_namespaced_persistent_volume_claim("models", "psap-perf-llm-d").metadata.labels
    )
    kserve.core.delete_namespaced_persistent_volume_claim("models", "psap-perf-llm-d")
