"""llm-d's endpoint picker behind Envoy: prefixes, configurations of the scheduler, and the flow llm_d."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from perflab.processes.state import Lab

from tests.integration.conftest import PROJECT
from tests.integration.conftest import Lab as RunLab

from .labs import Cluster, Labs, wait_for
from .serving import LLM, NAMESPACE, address, create, deployments, is_ready, remove
from .serving_flows import llm_d_settings, read_kpis, successful_run
from .workloads import PREFIX

pytestmark = pytest.mark.deep
NAME = "picker"
SCHEDULERS = PROJECT / "playbooks/llm_d/files/schedulers"
MANIFEST = PROJECT / "playbooks/llm_d/files/model.yml"
DECLARED = "{name: opt, ttft: 0, itl: 0, cached_tokens: 100000}"
PREFIX_TOKENS = 320


@pytest.fixture(scope="module", name="lab")
def _lab(labs: Labs) -> Iterator[Lab]:
    yield labs.up(NAME, "--nodes", "2", "--with", "endpoint-picker")
    labs.run("down", "--name", NAME)


@pytest.fixture(name="cluster")
def _cluster(lab: Lab) -> Cluster:
    return Cluster.of(lab)


def serve(cluster: Cluster, name: str, scheduler: str, **spec: Any) -> None:
    """Create a model with two replicas and a configuration of the scheduler."""
    model = {"uri": "hf://facebook/opt-125m", "name": "opt"}
    config = {"inline": yaml.safe_load((SCHEDULERS / f"{scheduler}.yml").read_text())}
    router: dict[str, Any] = {"route": {}, "gateway": {}, "scheduler": {"config": config}}
    annotated = {"annotations": {f"{PREFIX}model": DECLARED}}
    create(cluster, LLM, name, {"model": model, "replicas": 2, "router": router, **annotated, **spec})


def request(url: str, prompt: str) -> int:
    """Send a completion request; return how many of the prompt's tokens were cached."""
    body = json.dumps({"model": "opt", "prompt": prompt, "max_tokens": 1}).encode()
    sent = urllib.request.Request(f"{url}/v1/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(sent, timeout=60) as answer:
        usage = json.load(answer)["usage"]
    return int(usage["prompt_tokens_details"]["cached_tokens"])


def answers(url: str) -> bool:
    """Return whether the gateway has the route, and the picker runs."""
    try:
        return request(url, "why") >= 0
    except urllib.error.HTTPError:
        return False


def picker_metrics(lab: Lab) -> dict[str, float]:
    """Return the metrics of all pickers by name and labels."""
    url = f"http://127.0.0.1:{lab.ports['endpoint-picker-metrics']}/metrics"
    with urllib.request.urlopen(url, timeout=60) as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


@pytest.mark.parametrize("scheduler", ["approximate-prefix-cache", "prefix-and-load"])
def test_requests_with_the_same_prefix_go_to_the_same_pod(lab: Lab, cluster: Cluster, scheduler: str) -> None:
    serve(cluster, "prefixed", scheduler)
    wait_for("it is ready", lambda: is_ready(cluster, LLM, "prefixed"))
    url = address(cluster, LLM, "prefixed")
    wait_for("it answers", lambda: answers(url))
    hits = "inference_extension_prefix_indexer_hit_ratio_sum"
    before = picker_metrics(lab).get(hits, 0.0)
    for prefix in "abcdefgh":
        cached = [request(url, f"{prefix} " * PREFIX_TOKENS + f"question {number}") for number in range(5)]
        # two pods that take turns would each miss once
        assert cached == [0, *[PREFIX_TOKENS] * 4]
    # the picker's estimate: about the whole prompt of 4 in 5 requests
    assert picker_metrics(lab)[hits] - before > 8 * 4 * 0.9
    remove(cluster, LLM, "prefixed")


def test_separate_prefill_is_decided_by_the_picker(lab: Lab, cluster: Cluster) -> None:
    serve(cluster, "split", "pd-always", prefill={"replicas": 1})
    wait_for("it is ready", lambda: is_ready(cluster, LLM, "split"))
    assert "split-kserve-prefill" in deployments(cluster)
    url = address(cluster, LLM, "split")
    wait_for("it answers", lambda: answers(url))
    decided = 'llm_d_inference_scheduler_pd_decision_total{decision_type="prefill-decode"}'
    before = picker_metrics(lab).get(decided, 0.0)
    request(url, "word " * PREFIX_TOKENS)
    assert picker_metrics(lab)[decided] == before + 1
    remove(cluster, LLM, "split")


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        ("precise-prefix-cache", "the lab's endpoint picker has no precise-prefix-cache-scorer"),
        ("pd-by-prefix", "prepareDataPlugins is an unregistered Feature Gate"),
    ],
)
def test_refused_configuration_ends_the_deployment_with_its_message(
    labs: Labs, lab: Lab, cluster: Cluster, tmp_path: Path, scheduler: str, message: str
) -> None:
    flavor = "pd" if scheduler.startswith("pd") else "intelligentrouting"
    words = ("--name", "refused", "--namespace", NAMESPACE, "--yaml-file", str(MANIFEST), "--flavor", flavor)
    config = ("--scheduler-config", str(SCHEDULERS / f"{scheduler}.yml"))
    run_lab = RunLab(NAME, lab.kubeconfig)
    environment = {**run_lab.environment(tmp_path), "KUBECONFIG": str(lab.kubeconfig)}
    command = ("perfdrv", "toolbox", "llm-d", "deploy-llm-inference-service", *words, *config)
    ran = run_lab.run_with(environment, *command)
    remove(cluster, LLM, "refused")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert message in " ".join((ran.stdout + ran.stderr).split())


def test_flow_reports_the_hits_of_the_prefix_caches(labs: Labs, lab: Lab, tmp_path: Path) -> None:
    settings = llm_d_settings(
        tmp_path,
        llm_d_flavor="intelligentrouting-x2",
        llm_d_scheduler_config=["approximate-prefix-cache", "prefix-and-load"],
        llm_d_annotations={f"{PREFIX}model": DECLARED},
        llm_d_server_metrics=True,
        llm_d_server_metrics_interval="0.2s",
        llm_d_max_requests=10,
    )
    before = picker_metrics(lab).get('inference_objective_request_total{model_name="opt",target_model_name="opt"}', 0)
    run = successful_run(lab, tmp_path / "runs", "llm_d", settings)
    kpis = read_kpis(run)
    assert [one["value"] for one in kpis if one["name"] == "requests_failed"] == [0, 0]
    assert [one["value"] for one in kpis if one["name"] == "server_output_tokens"] == [30, 30]
    # the picker's own metrics, without a Prometheus
    assert len([one for one in kpis if one["name"] == "picker_decision_p95_mean" and one["value"] > 0]) == 2
    assert "endpoint-picker" in json.loads((run / "run.json").read_text())["lab"]["real"]
    after = picker_metrics(lab)['inference_objective_request_total{model_name="opt",target_model_name="opt"}']
    assert after - before >= 20
