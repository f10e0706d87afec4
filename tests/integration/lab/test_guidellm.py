"""guidellm itself (`make guidellm`), which loads the lab's model servers through Envoy."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.integration.conftest import PROJECT
from tests.integration.conftest import Lab as RunLab

from .labs import Cluster, Labs, wait_for
from .serving import NAME, NAMESPACE, SERVICE, create, is_ready, predictor, remove
from .serving_flows import kpi_values, model_annotations, only_run, successful_run

ALONE = "guidellm"
PROGRAMS = PROJECT / "build/guidellm/bin"
FLAVORS = ["simple", "intelligentrouting-x2", "pd-px2"]
RATES = [1, 2, 4, 8]
LOADS = ["1 user", "2 users", "4 users", "8 users"]


@pytest.fixture
def tokenizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a tokenizer of bytes, because no model hub is available."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = tmp_path / "tokenizer"
    subprocess.run([PROGRAMS / "python", PROJECT / "tests/standins/load_generators/tokenizer.py", folder], check=True)
    return folder


@pytest.mark.deep
def test_three_flavors_at_four_rates_have_the_configured_latencies(labs: Labs, tmp_path: Path, tokenizer: Path) -> None:
    """Each replica answers 4 requests concurrently, with 100 ms and 10 ms: of 8 on one, half wait for the others."""
    lab = labs.up(ALONE, "--nodes", "2", "--with", "kserve", "--with", "models")
    settings = {
        "llm_d_flavor": FLAVORS,
        # KServe's templates, not OpenShift AI's
        "llm_d_vllm_args_in": "arguments",
        "llm_d_annotations": model_annotations(name="facebook/opt-125m", ttft=0.1, itl=0.01, concurrency=4),
        "llm_d_gateway_class": "lab",
        "llm_d_gateway_namespace": "default",
        "llm_d_guidellm_program": str(PROGRAMS / "guidellm"),
        "llm_d_guidellm_version": "0.8.1",
        "llm_d_rate": RATES,
        "llm_d_max_seconds": 8,
        "llm_d_processor": str(tokenizer),
        "llm_d_data": "kind=synthetic_text,prompt_tokens=32,output_tokens=10",
    }
    run = successful_run(lab, tmp_path / "runs", "llm_d", settings, "-p", "llm_d_opt_125m")
    found = kpi_values(run, "flavor", "load")
    for flavor in FLAVORS:
        for load in LOADS:
            assert found["requests_failed", flavor, load] == 0
            assert found["itl_p50", flavor, load] == pytest.approx(0.01, rel=0.5)
        assert 0.099 <= found["ttft_p50", flavor, "1 user"] < 1.0
    for flavor in ("simple", "pd-px2"):
        # one replica decodes, and the preceding ones take 190 ms
        assert found["ttft_p50", flavor, "8 users"] >= 0.2
        # Envoy sends 4 of 8 to each of two replicas
        assert found["ttft_p50", "intelligentrouting-x2", "8 users"] < found["ttft_p50", flavor, "8 users"]
    assert labs.run("down", "--name", ALONE).returncode == 0


@pytest.mark.deep
def test_real_guidellm_measures_the_configured_latencies(
    labs: Labs, kserve: Cluster, tmp_path: Path, tokenizer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One replica answers 4 requests concurrently, with 100 ms and 10 ms: of 8, half wait for the others."""
    create(kserve, SERVICE, "loaded", predictor(), model="{name: opt, ttft: 0.1, itl: 0.01, concurrency: 4}")
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "loaded"))
    mark = kserve.core.read_namespaced_config_map("perflab", "kube-system").data
    arguments = {
        "endpoint-url": f"{mark['models-url']}/{NAMESPACE}/loaded",
        "namespace": NAMESPACE,
        "name": "load",
        "program": str(PROGRAMS / "guidellm"),
        "version": "0.8.1",
        "model": "opt",
        "rate-type": "concurrent",
        "rate": "[1, 4, 8]",
        "max-seconds": "8",
        "processor": str(tokenizer),
        "data": "kind=synthetic_text,prompt_tokens=32,output_tokens=10",
    }
    monkeypatch.setenv("KUBECONFIG", str(labs.get(NAME).kubeconfig))
    words = [word for name, value in arguments.items() for word in (f"--{name}", value)]
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    runs = tmp_path / "runs"
    ran = lab.run(runs, "perfdrv", "toolbox", "llm-d", "run-guidellm-benchmark", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    run = only_run(runs)
    reported = lab.run(runs, "perfanalysis", "report", str(run))
    assert reported.returncode == 0, reported.stdout + reported.stderr
    found = kpi_values(run, "load")
    for load in ("1 user", "4 users", "8 users"):
        assert found["requests_failed", load] == 0
        assert found["itl_p50", load] == pytest.approx(0.01, rel=0.5)
    assert 0.099 <= found["ttft_p50", "1 user"] < 1.0
    # the preceding ones take 190 ms
    assert found["ttft_p50", "8 users"] >= 0.2
    remove(kserve, SERVICE, "loaded")
