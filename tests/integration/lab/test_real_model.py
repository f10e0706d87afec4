"""A real model: llama.cpp serves it on the real node behind KServe, and a Job in a pod loads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from perflab.cluster import real_node

from tests.integration.conftest import Lab as RunLab
from tests.schemas import check_file

from .labs import Cluster, Labs, wait_for
from .serving_flows import kill_flow, kpi_values, only_run, resumed_run, sent_tokens

pytestmark = pytest.mark.deep
NAME = "realmodel"
SPACE = "psap-perf-kserve"
SETTINGS = ("-s", "kserve_concurrency=[1, 4]", "-s", "kserve_duration=4", "-s", "kserve_max_output_tokens=16")


@pytest.fixture(scope="module", name="real")
def _real(labs: Labs) -> Iterator[RunLab]:
    """A lab with KServe and a real node that has the images of the server, the model and the load."""
    lab = labs.up(NAME, "--nodes", "2", "--with", "kserve", "--with", "worker")
    loaded = labs.run("image", "load", "--name", NAME, "llama-cpp", "random-26m", "load-client")
    assert loaded.returncode == 0, loaded.stderr
    yield RunLab(NAME, lab.kubeconfig)
    labs.run("down", "--name", NAME)


@pytest.fixture(name="cluster")
def _cluster(labs: Labs) -> Cluster:
    return Cluster.of(labs.get(NAME))


def run_flow(real: RunLab, runs: Path, *words: str) -> Path:
    """Run the flow to its successful end; return the run."""
    ran = real.run(runs, "perfdrv", "run", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return only_run(runs)


def of_flow(real: RunLab, preset: str = "kserve_real") -> tuple[str, ...]:
    return ("kserve", "-p", preset, "-e", json.dumps({"perf_kubeconfig": str(real.kubeconfig)}), *SETTINGS)


def check_nothing_is_left(cluster: Cluster) -> None:
    assert not cluster.core.list_namespaced_pod(SPACE).items
    assert not cluster.batch.list_namespaced_job(SPACE).items
    assert not cluster.apps.list_namespaced_deployment(SPACE).items


def test_real_model_is_served_loaded_and_removed(real: RunLab, cluster: Cluster, tmp_path: Path) -> None:
    run = run_flow(real, tmp_path, *of_flow(real))
    found = kpi_values(run, "load")
    for load in ("1 user", "4 users"):
        assert found["requests_failed", load] == 0
        assert found["output_tokens_per_second", load] > 0
        assert found["ttft_p50", load] > 0
        # the server and the client count the same tokens
        assert found["server_output_tokens", load] == sent_tokens(run, load)
        # the server's series of the load, without a Prometheus
        assert found["server_running_requests_max", load] >= 1
        assert found["server_output_tokens_max", load] > 0
    assert found["time_to_first_answer", None] > found["time_to_ready", None] > 0
    (deployed,) = run.rglob("*kserve__deploy_model/artifacts/pod*.yml")
    assert f"nodeName: {real_node.NAME}" in deployed.read_text()
    for name in ("model_metrics.json", "llm_load_test.json"):
        for path in run.rglob(name):
            check_file(path)
            assert "model server on a CPU" in json.loads(path.read_text())["lab"]["real"]
    page = (run / "report/index.html").read_text()
    assert "model server on a CPU" in page
    assert "Load and server" in page
    for path in run.rglob("server_metrics/prometheus_queries.yml"):
        check_file(path)
    check_nothing_is_left(cluster)


def test_killed_run_is_resumed_and_leaves_nothing(labs: Labs, real: RunLab, cluster: Cluster, tmp_path: Path) -> None:
    driver = real.start(tmp_path, "perfdrv", "run", *of_flow(real))
    wait_for("the Job loads the model", lambda: cluster.batch.list_namespaced_job(SPACE).items)
    kill_flow(driver, tmp_path)
    run = resumed_run(labs.get(NAME), tmp_path)
    found = kpi_values(run, "load")
    assert [found["requests_failed", load] for load in ("1 user", "4 users")] == [0, 0]
    # the resumed attempt reuses the model, whose start the killed attempt saw, and repeats its loads
    assert found["time_to_first_answer", None] > found["time_to_ready", None] > 0
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    loads = [kpi["labels"]["load"] for kpi in kpis if kpi["name"] == "requests_failed"]
    assert sorted(loads) == ["1 user", "4 users"]
    check_nothing_is_left(cluster)


def test_aiperf_loads_the_model_from_a_pod(labs: Labs, real: RunLab, cluster: Cluster, tmp_path: Path) -> None:
    loaded = labs.run("image", "load", "--name", NAME, "aiperf")
    assert loaded.returncode == 0, loaded.stderr
    run = run_flow(real, tmp_path, *of_flow(real, "kserve_real_aiperf"))
    found = kpi_values(run, "load")
    for load in ("1 user", "4 users"):
        assert found["requests_failed", load] == 0
        assert found["ttft_p50", load] > 0
        assert found["server_output_tokens", load] == tokens_of_aiperf(run, load)
    check_nothing_is_left(cluster)


def tokens_of_aiperf(run: Path, load: str) -> int:
    """Return the tokens of all answers of a load in aiperf's records."""
    users = int(load.split()[0])
    (marker,) = (
        path for path in run.rglob("aiperf.json") if json.loads(path.read_text())["load"]["concurrency"] == users
    )
    lines = (marker.parent / "results/profile_export.jsonl").read_text().splitlines()
    return sum(int(json.loads(line)["metrics"]["output_sequence_length"]["value"]) for line in lines)


# times in ms; the requests have the same prefix
TRACE = [{"timestamp": at, "input_length": 64, "output_length": 4, "hash_ids": [0]} for at in (0, 500, 1500)]


def test_job_replays_the_trace_of_a_claim(labs: Labs, real: RunLab, cluster: Cluster, tmp_path: Path) -> None:
    """A pod writes the trace to a claim, from which aiperf reads it in another pod."""
    loaded = labs.run("image", "load", "--name", NAME, "aiperf", "busybox")
    assert loaded.returncode == 0, loaded.stderr
    space = "replay"
    # all of its pods run on the real node
    cluster.core.create_namespace({"metadata": {"name": space, "labels": {"lab.psap.perf/real": "true"}}})
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Mi"}}}
    cluster.core.create_namespaced_persistent_volume_claim(space, {"metadata": {"name": "traces"}, "spec": claim})
    lines = "\n".join(map(json.dumps, TRACE))
    writer = {
        "name": "main",
        "image": "localhost/perflab/busybox:1",
        "command": ["sh", "-c", f"mkdir /data/day && printf '%s\n' '{lines}' > /data/day/one.jsonl"],
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "traces"}}
    spec = {"restartPolicy": "Never", "containers": [writer], "volumes": [volume]}
    cluster.core.create_namespaced_pod(space, {"metadata": {"name": "writer"}, "spec": spec})
    wait_for("it is written", lambda: cluster.core.read_namespaced_pod("writer", space).status.phase == "Succeeded")

    def toolbox(*words: str) -> None:
        environment = {**real.environment(tmp_path), "KUBECONFIG": str(real.kubeconfig)}
        ran = real.run_with(environment, "perfdrv", "toolbox", *words, "--namespace", space)
        assert ran.returncode == 0, ran.stdout + ran.stderr

    served = ("--runtime", "llama-cpp", "--model-name", "random-26m", "--sr-name", "tiny", "--raw-deployment")
    image = ("--sr-kserve-image", "localhost/perflab/llama-cpp:1", "--inference-service-name", "tiny")
    toolbox("kserve", "deploy-model", *served, *image)
    url = ("--endpoint-url", f"http://tiny-predictor.{space}.svc.cluster.local", "--model", "tiny")
    trace = ("--trace-file", "pvc://traces/day/one.jsonl", "--concurrency", "0")
    toolbox("serving", "run-load", *url, *trace, "--image", "localhost/perflab/aiperf:1")
    (path,) = tmp_path.rglob("profile_export.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [one.get("error") for one in records] == [None] * len(TRACE)
    assert [one["metrics"]["output_sequence_length"]["value"] for one in records] == [4] * len(TRACE)
    cluster.core.delete_namespace(space)


def test_load_that_the_generator_cannot_create_is_refused_first(real: RunLab, tmp_path: Path) -> None:
    words = ("-s", "kserve_load_generator=inference-perf", "-s", "kserve_load_test_image=localhost/any:1")
    refused = real.run(tmp_path, "perfdrv", "run", *of_flow(real), *words)
    assert refused.returncode == 2, refused.stdout + refused.stderr
    assert "inference-perf cannot use duration with concurrency" in refused.stdout + refused.stderr
    assert not list(tmp_path.rglob("*kserve__deploy_model"))
