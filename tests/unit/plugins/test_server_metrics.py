"""The end of a load whose server metrics are recorded: that of its Job's pod, which can be in another namespace."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraped import Sampling
from ansible_collections.psap.perf.plugins.plugin_utils.serving.server_metrics import ServerMetrics
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
