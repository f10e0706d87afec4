"""Autoscalers of real models: Kubernetes' own and KEDA read the CPU of the pods of llama.cpp on the real node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from perflab.processes.state import Lab

from tests.schemas import check_file

from .labs import Cluster, Labs, wait_for
from .serving_flows import (
    check_no_autoscaler_is_left,
    check_no_model_is_left,
    interrupt_flow,
    kill_flow,
    kpi_values,
    resumed_run,
    sent_tokens,
    start_flow,
    successful_run,
)

pytestmark = pytest.mark.deep
NAME = "realscale"
SPACE = "psap-perf-kserve"
PRESETS = ("-p", "kserve_real", "-p", "kserve_autoscale")


@pytest.fixture(scope="module", name="lab")
def _lab(labs: Labs) -> Iterator[Lab]:
    """A lab with KServe, KEDA and a real node that has the images of the server, the model and the load."""
    products = (word for name in ("kserve", "keda", "worker") for word in ("--with", name))
    lab = labs.up(NAME, "--nodes", "2", *products)
    loaded = labs.run("image", "load", "--name", NAME, "llama-cpp", "random-26m", "load-client")
    assert loaded.returncode == 0, loaded.stderr
    yield lab
    labs.run("down", "--name", NAME)


@pytest.fixture(name="cluster")
def _cluster(lab: Lab) -> Cluster:
    return Cluster.of(lab)


def settings(**more: Any) -> dict[str, Any]:
    """Return settings with which four users need more than one replica: a server uses far more than its request."""
    return {
        "kserve_models": {"random-26m": {"llama-cpp": {"cpu": "200m"}}},
        "kserve_concurrency": [4],
        "kserve_duration": 100,
        "kserve_autoscale_cpu_percent": 50,
        "kserve_autoscale_max_replicas": 2,
        **more,
    }


def scaled_objects(cluster: Cluster) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cluster.custom.list_namespaced_custom_object(
        "keda.sh", "v1alpha1", SPACE, "scaledobjects"
    )["items"]
    return found


def check_nothing_is_left(cluster: Cluster) -> None:
    check_no_model_is_left(cluster)
    check_no_autoscaler_is_left(cluster)
    assert not scaled_objects(cluster)
    assert not cluster.core.list_namespaced_pod(SPACE).items
    assert not cluster.batch.list_namespaced_job(SPACE).items
    assert not cluster.apps.list_namespaced_deployment(SPACE).items


def test_both_autoscalers_add_a_replica_under_load(lab: Lab, cluster: Cluster, tmp_path: Path) -> None:
    run = successful_run(lab, tmp_path, "kserve", settings(kserve_autoscaler=["hpa", "keda"]), *PRESETS)
    documents = [json.loads(path.read_text()) for path in run.rglob("autoscale.json")]
    assert len(documents) == 2
    for path in run.rglob("autoscale.json"):
        check_file(path)
    for document in documents:
        assert "model server on a CPU" in document["lab"]["real"]
        assert document["samples"][0]["ready"] == 1
        assert sum(phase["completed"] for phase in document["phases"]) > 0
    found = kpi_values(run, "kserve_autoscaler")
    for autoscaler in ("hpa", "keda"):
        assert found["replicas_ready_max", autoscaler] == 2
        # a replica of two is both the first additional one and the last
        assert found["scale_up_time", autoscaler] == found["scale_up_first_replica", autoscaler] > 0
        assert found["scale_up_requests_failed", autoscaler] == 0
        # the server's tokens include those of the replica that started during the load
        assert found["server_output_tokens", autoscaler] > 0
    total = sum(found["server_output_tokens", autoscaler] for autoscaler in ("hpa", "keda"))
    assert total == sent_tokens(run, "4 users")
    captured = [path.read_text() for path in run.rglob("*kserve__capture_state/artifacts/scaledobject.yml")]
    assert ["type: cpu" in text for text in captured].count(True) == 1
    assert "Replicas beside the load" in (run / "report/index.html").read_text()
    check_nothing_is_left(cluster)


def test_keda_removes_the_replicas_after_the_load(lab: Lab, cluster: Cluster, tmp_path: Path) -> None:
    """KServe passes the stabilization on to KEDA; Kubernetes' default is five minutes."""
    behavior = "behavior: {scaleDown: {stabilizationWindowSeconds: 15}}"
    patch = ("-s", f"kserve_patch.InferenceService.spec.predictor.autoScaling={{{behavior}}}")
    given = settings(
        kserve_autoscaler="keda",
        kserve_autoscale_max_replicas=3,
        kserve_autoscale_settle="5m",
    )
    run = successful_run(lab, tmp_path, "kserve", given, *PRESETS, *patch)
    (path,) = run.rglob("autoscale.json")
    samples = json.loads(path.read_text())["samples"]
    assert samples[0]["ready"] == samples[-1]["ready"] == samples[-1]["wanted"] == 1
    found = kpi_values(run)
    assert found["replicas_ready_max",] == 3
    assert found["scale_up_time",] >= found["scale_up_first_replica",] > 0
    assert found["scale_down_time",] > 0
    check_nothing_is_left(cluster)


@pytest.mark.parametrize(("autoscaler", "end"), [("hpa", kill_flow), ("keda", kill_flow), ("keda", interrupt_flow)])
def test_resumed_run_scales_the_model_again(
    lab: Lab, cluster: Cluster, tmp_path: Path, autoscaler: str, end: Any
) -> None:
    """The first attempt ends after the autoscaler has requested a replica, which it would keep for five minutes."""
    running = start_flow(lab, tmp_path, "kserve", settings(kserve_autoscaler=autoscaler), *PRESETS)
    wait_for(
        "the autoscaler requests a replica",
        lambda: any(each.spec.replicas == 2 for each in cluster.apps.list_namespaced_deployment(SPACE).items),
    )
    end(running, tmp_path)
    if end is interrupt_flow:
        check_nothing_is_left(cluster)
    run = resumed_run(lab, tmp_path)
    (path,) = run.rglob("autoscale.json")
    assert json.loads(path.read_text())["samples"][0]["ready"] == 1
    found = kpi_values(run)
    assert found["replicas_ready_max",] == 2
    assert found["scale_up_time",] > 0
    assert found["scale_up_requests_failed",] == 0
    check_nothing_is_left(cluster)
