"""KEDA scales a served model by a query of the lab's Prometheus; the model server is simulated."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import Lab, lab_with
from tests.integration.load_clients import LLM_LOAD_TEST

pytestmark = pytest.mark.deep
SPACE = "psap-perf-kserve"
QUERY = "sum(vllm:num_requests_running + vllm:num_requests_waiting)"


@pytest.fixture(scope="module", name="lab")
def _lab() -> Iterator[Lab]:
    products = ("--profile", "openshift", "--with", "kserve", "--with", "keda")
    with lab_with("PERF_TEST_KEDA_LAB", f"tests-keda-{os.getpid()}", *products, "--nodes", "2") as lab:
        yield lab


@pytest.fixture(name="cluster")
def _cluster(lab: Lab) -> Cluster:
    return Cluster(Access(kubeconfig=str(lab.kubeconfig)))


@pytest.fixture(name="prometheus")
def _prometheus(cluster: Cluster) -> Iterator[str]:
    """Let the lab's Prometheus read its model servers; return its URL."""
    mark = cluster.get(Query("v1", "ConfigMap", "kube-system", "perflab"))
    assert mark
    data = mark["data"]
    targets = Path(data["prometheus-data"]).parents[1] / "prometheus" / "models.json"
    targets.write_text(json.dumps([{"targets": [data["models-url"].removeprefix("http://")]}]))
    yield data["prometheus-url"]
    targets.unlink()


def objects(cluster: Cluster, api_version: str, kind: str) -> list[Any]:
    return cluster.list(Query(api_version, kind, SPACE))[0]


def test_replicas_follow_a_query_of_prometheus(lab: Lab, cluster: Cluster, prometheus: str, tmp_path: Path) -> None:
    """Eight requests at two a replica need four replicas, and none after the load."""
    metric = {"backend": "prometheus", "serverAddress": prometheus, "query": QUERY}
    scaling = {
        "metrics": [{"type": "External", "external": {"metric": metric, "target": {"type": "Value", "value": "2"}}}],
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5}},
    }
    model = {"lab.psap.perf/model": "{ttft: 0.2, itl: 0.08}", "lab.psap.perf/start-delay": "1s"}
    settings = {
        **LLM_LOAD_TEST,
        "rhoai_prepare": False,
        "kserve_models": {"granite-3b-code-instruct": {"vllm": {"gpus": 0}}},
        "kserve_annotations": model,
        "kserve_autoscaler": "keda",
        "kserve_autoscale_max_replicas": 5,
        "kserve_autoscale_settle": "5m",
        "kserve_concurrency": [2, 8],
        "kserve_duration": 60,
        "kserve_max_queries": 300,
        "kserve_max_output_tokens": 10,
        "kserve_query_count": 0,
        "kserve_patch": {"InferenceService": {"spec": {"predictor": {"autoScaling": scaling}}}},
    }
    words = ("--site", "lab", "-p", "kserve_autoscale", "-e", json.dumps(settings))
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = (path for path in tmp_path.iterdir() if path.is_dir() and not path.is_symlink())
    (path,) = run.rglob("autoscale.json")
    samples = json.loads(path.read_text())["samples"]
    assert samples[0]["ready"] == samples[-1]["ready"] == samples[-1]["wanted"] == 1
    found = {one["name"]: one["value"] for one in json.loads((run / "report/kpis.json").read_text())["kpis"]}
    assert found["replicas_ready_max"] == 4
    assert found["scale_up_time"] >= found["scale_up_first_replica"] > 0
    assert found["scale_down_time"] > 0
    assert found["scale_up_requests_failed"] == 0
    (captured,) = run.rglob("*kserve__capture_state/artifacts/scaledobject.yml")
    (scaled,) = yaml.safe_load_all(captured.read_text())
    assert [trigger["type"] for trigger in scaled["spec"]["triggers"]] == ["prometheus"]
    for api_version, kind in (("keda.sh/v1alpha1", "ScaledObject"), ("autoscaling/v2", "HorizontalPodAutoscaler")):
        assert objects(cluster, api_version, kind) == []
