"""The task sets of OpenShift AI on the labs of the tests, whose state is restored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.deleting import delete_matching
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

from tests.integration.conftest import Lab
from tests.integration.task_sets import TaskSets, task_sets

SECRET = {"quay.io/rhoai": {"auth": "bW9sZWN1bGU6c2VjcmV0"}}
# remain in the cluster: OLM leaves the kinds that it installs, and the operator those of components
KINDS_LEFT = {
    "datascienceclusters.datasciencecluster.opendatahub.io",
    "dscinitializations.dscinitialization.opendatahub.io",
    "inferenceservices.serving.kserve.io",
    "servingruntimes.serving.kserve.io",
}
# of the operators that generation 3 requires
_KINDS_OF_3 = {"certmanagers.operator.openshift.io", "kueues.kueue.openshift.io"}
_DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


def names(sets: TaskSets, api_version: str, kind: str, namespace: str | None = None) -> set[str]:
    """Return the names of the existing objects of a kind."""
    if not sets.cluster.serves(api_version, kind):
        return set()
    found, _version = sets.cluster.list(Query(api_version, kind, namespace=namespace))
    return {item["metadata"]["name"] for item in found}


def get(sets: TaskSets, api_version: str, kind: str, name: str, namespace: str) -> Manifest:
    """Return an object; fail if it is missing."""
    found = sets.cluster.get(Query(api_version, kind, namespace=namespace, name=name))
    assert found is not None, f"{kind} {name}"
    return found


def remove(sets: TaskSets, query: Query) -> None:
    """Delete what a query selects, and wait until it is gone: a kind that is being deleted is still listed."""
    delete_matching(sets.cluster, query, check_mode=False, timeout_s=120, check=lambda: None)


def kinds(sets: TaskSets) -> set[str]:
    """Return the names of the kinds that the cluster defines."""
    return names(sets, *_DEFINITION)


@pytest.fixture(name="on_kubernetes")
def _on_kubernetes(tmp_path: Path, shared_lab: Lab) -> Iterator[TaskSets]:
    with task_sets(tmp_path, shared_lab) as sets:
        yield sets


@pytest.fixture(name="on_openshift")
def _on_openshift(tmp_path: Path, openshift_lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[TaskSets]:
    monkeypatch.setenv("RHOAI_PULL_SECRET", json.dumps({"auths": SECRET}))
    with task_sets(tmp_path, openshift_lab) as sets:
        # other tests of the lab leave them, too
        _remove_kinds(sets)
        yield sets
        _remove_kinds(sets)
        remove(sets, Query("v1", "Secret", namespace="openshift-config", name="pull-secret"))


def _remove_kinds(sets: TaskSets) -> None:
    for name in (KINDS_LEFT | _KINDS_OF_3) & kinds(sets):
        remove(sets, Query(*_DEFINITION, name=name))
