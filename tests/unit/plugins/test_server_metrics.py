"""Recorded server metrics: until the pod of the load's Job ends, and with those of the endpoint picker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraped import Sampling
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import Endpoint
from ansible_collections.psap.perf.plugins.plugin_utils.serving import server_metrics
from ansible_collections.psap.perf.plugins.plugin_utils.serving.server_metrics import ScrapedModel, ServerMetrics
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

from .verbs import Verbs


class Pods:
    """A cluster whose only pod is in one namespace, and has ended."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        return ([{"status": {"phase": "Succeeded"}}] if query.namespace == self.namespace else []), ""


@pytest.mark.parametrize(("given", "namespace"), [({"until_namespace": "loads"}, "loads"), ({}, "models")])
def test_load_has_ended_with_its_pod(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, str], namespace: str
) -> None:
    ends: list[bool] = []

    def sample(_metrics: ServerMetrics, sampling: Sampling) -> tuple[int, tuple[str, ...]]:
        ends.append(sampling.ended())
        return 0, ()

    monkeypatch.setattr(ServerMetrics, "sample", sample)
    monkeypatch.setattr(VerbContext, "lab", lambda _context: None)
    for pods in (Pods(namespace), Pods("others")):
        monkeypatch.setattr(VerbContext, "cluster", lambda _context, pods=pods: pods)
        metrics = Verbs(tmp_path / "kubeconfig", tmp_path)
        metrics("serving.metrics", name="granite", namespace="models", moment="during", until="job=load", **given)
    assert ends == [True, False]


class Picked:
    """A cluster with a pod that serves a model and a pod with its endpoint picker."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        picker = (query.label_selector or "").endswith("component=llminferenceservice-router-scheduler")
        port = {"containerPort": 9090, "name": "metrics"}
        return [ready("picker" if picker else "server", [port] if picker else [])], ""

    def service_account_token(self, namespace: str, name: str, _lasting_s: int) -> str:
        return f"token of {namespace}/{name}"


def ready(name: str, ports: list[dict[str, Any]]) -> Manifest:
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "ports": ports}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


PAGES = {
    8000: 'vllm:num_requests_running{model_name="opt"} 2\n',
    9090: 'inference_pool_ready_pods{name="opt-pool"} 3\n',
}


@pytest.fixture(name="sent")
def _sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """The ports and tokens of the requests, which are answered with `PAGES`."""
    sent: list[tuple[int, str]] = []

    @contextmanager
    def pod_endpoint(_cluster: Any, _namespace: str, pod: str, port: int, _name: str = "") -> Iterator[Endpoint]:
        yield Endpoint("http", pod, port)

    def scrape(endpoint: Endpoint, token: str = "") -> str:
        sent.append((endpoint.port, token))
        if endpoint.port not in PAGES:
            raise ClusterError("it responds with 401 Unauthorized")
        return PAGES[endpoint.port]

    monkeypatch.setattr(server_metrics, "pod_endpoint", pod_endpoint)
    monkeypatch.setattr(server_metrics, "scrape", scrape)
    return sent


def sampled(folder: Path, lab: Lab | None = None, account: str = "") -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the answers by their names, and the warnings."""
    model = ScrapedModel("LLMInferenceService", "opt", "models", "http", 8000, Seconds(1), account)
    metrics = ServerMetrics(Picked(), model, lab, folder)  # type: ignore[arg-type]
    _samples, late = metrics.sample(Sampling(0.0, 60.0, lambda: True, lambda: None))
    answers = {path.stem: json.loads(path.read_text()) for path in (folder / "server_metrics").rglob("*.json")}
    return answers, late


def test_metrics_of_the_endpoint_picker_are_queried_too(tmp_path: Path, sent: list[tuple[int, str]]) -> None:
    answers, late = sampled(tmp_path, account="reader")
    assert (sent, late) == ([(8000, ""), (9090, "token of models/reader")], ())
    (series,) = answers["picker_ready_pods"]["data"]["result"]
    assert (series["metric"], float(series["values"][0][1])) == ({"name": "opt-pool"}, 3)


def test_metrics_of_a_picker_that_refuses_are_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sent: list[tuple[int, str]]
) -> None:
    monkeypatch.delitem(PAGES, 9090)
    answers, late = sampled(tmp_path)
    assert late == ("1 scrapes of the endpoint picker failed, the last one: it responds with 401 Unauthorized",)
    assert answers["server_running_requests"]["data"]["result"]
    assert sent[1] == (9090, "")


def test_lab_without_a_real_picker_is_not_asked(tmp_path: Path, sent: list[tuple[int, str]]) -> None:
    answers, late = sampled(tmp_path, Lab("lab", real=("kserve",)))
    assert ([port for port, _token in sent], late) == ([8000], ())
    assert "picker_ready_pods" not in answers
