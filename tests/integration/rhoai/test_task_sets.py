"""The preparation and removal of OpenShift AI on an emulated OpenShift."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

from tests.integration.task_sets import TaskSets

from .conftest import KINDS_LEFT, SECRET, get, kinds, names

APPLICATIONS = "redhat-ods-applications"
IMAGE = "quay.io/tests/training-operator:1"
WISHES: dict[str, Any] = {
    "rhoai_operators": [{"package": "servicemeshoperator"}],
    "rhoai_components": ["trainingoperator", "kserve"],
    "rhoai_extra_settings": {"spec.components.kserve.serving.managementState": "Managed"},
    "rhoai_pull_secret": "env:RHOAI_PULL_SECRET",
    "rhoai_stop_operator": True,
    "rhoai_images": {"kubeflow-training-operator": IMAGE},
}
THEIRS = {"registry.example": {"auth": "dGhlaXJz"}}


def make_pull_secret(sets: TaskSets) -> None:
    data = {".dockerconfigjson": base64.b64encode(json.dumps({"auths": THEIRS}).encode()).decode()}
    for manifest in (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "openshift-config"}},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "pull-secret", "namespace": "openshift-config"},
            "type": "kubernetes.io/dockerconfigjson",
            "data": data,
        },
    ):
        sets.cluster.apply(manifest)


def registries(sets: TaskSets) -> dict[str, Any]:
    data = get(sets, "v1", "Secret", "pull-secret", "openshift-config")["data"]
    found: dict[str, Any] = json.loads(base64.b64decode(data[".dockerconfigjson"]))["auths"]
    return found


def set_owner(sets: TaskSets, manager: str) -> None:
    """Set the owner of the operator's Subscription."""
    subscription = Query(
        "operators.coreos.com/v1alpha1", "Subscription", namespace="redhat-ods-operator", name="rhods-operator"
    )
    sets.cluster.merge(subscription, {"metadata": {"labels": {"app.kubernetes.io/managed-by": manager}}})


def image(sets: TaskSets) -> str:
    found = get(sets, "apps/v1", "Deployment", "kubeflow-training-operator", APPLICATIONS)
    return str(found["spec"]["template"]["spec"]["containers"][0]["image"])


def test_cluster_without_olm_is_unchanged(on_kubernetes: TaskSets) -> None:
    done = on_kubernetes.play("prepare_rhoai")
    assert done.exit_code == 0, done.output
    assert (done.changed, done.commands) == (0, [])
    assert "the cluster has no OLM" in done.output


@pytest.mark.deep
def test_check_mode_changes_nothing(on_openshift: TaskSets) -> None:
    before = names(on_openshift, "v1", "Namespace"), kinds(on_openshift)
    done = on_openshift.play(
        "prepare_rhoai", "--check", rhoai_operators=WISHES["rhoai_operators"], rhoai_stop_operator=True
    )
    assert done.exit_code == 0, done.output
    assert before == (names(on_openshift, "v1", "Namespace"), kinds(on_openshift))


@pytest.mark.deep
def test_installation_follows_the_settings_and_is_removed(on_openshift: TaskSets) -> None:
    make_pull_secret(on_openshift)
    namespaces, known = names(on_openshift, "v1", "Namespace"), kinds(on_openshift)
    first = on_openshift.play("prepare_rhoai", **WISHES)
    assert first.exit_code == 0, first.output
    assert first.commands == [
        "cluster__deploy_operator",
        "rhods__deploy_ods",
        "rhods__update_datasciencecluster",
        "rhods__set_operator",
        "rhods__set_images",
    ]
    assert registries(on_openshift) == {**THEIRS, **SECRET}
    assert image(on_openshift) == IMAGE
    operator = get(on_openshift, "apps/v1", "Deployment", "rhods-operator", "redhat-ods-operator")
    assert operator["spec"]["replicas"] == 0
    assert names(on_openshift, "apps/v1", "Deployment", APPLICATIONS) == {
        "kserve-controller-manager",
        "kubeflow-training-operator",
        "odh-model-controller",
    }

    second = on_openshift.play("prepare_rhoai", **WISHES)
    assert (second.exit_code, second.changed) == (0, 0), second.output
    assert image(on_openshift) == IMAGE

    kept = on_openshift.play("cleanup_rhoai", **WISHES)
    assert (kept.exit_code, kept.changed) == (0, 0), kept.output
    removed = on_openshift.play("cleanup_rhoai", rhoai_remove=True, **WISHES)
    assert removed.exit_code == 0, removed.output
    assert names(on_openshift, "v1", "Namespace") == namespaces
    assert kinds(on_openshift) - known == KINDS_LEFT
    assert registries(on_openshift) == THEIRS
    assert not names(on_openshift, "operators.coreos.com/v1alpha1", "ClusterServiceVersion")
    again = on_openshift.play("cleanup_rhoai", rhoai_remove=True, **WISHES)
    assert (again.exit_code, again.changed) == (0, 0), again.output


@pytest.mark.deep
def test_foreign_installation_is_extended_but_not_removed(on_openshift: TaskSets) -> None:
    assert on_openshift.play("prepare_rhoai", rhoai_components=["trainingoperator"]).exit_code == 0
    set_owner(on_openshift, "others")
    done = on_openshift.play("prepare_rhoai", rhoai_components=["kueue"])
    assert done.commands == ["rhods__update_datasciencecluster"], done.output
    components = {"kubeflow-training-operator", "kueue-controller-manager"}
    assert names(on_openshift, "apps/v1", "Deployment", APPLICATIONS) == components
    kept = on_openshift.play("cleanup_rhoai", rhoai_remove=True)
    assert (kept.exit_code, kept.changed) == (0, 0), kept.output
    set_owner(on_openshift, "psap.perf")
    assert on_openshift.play("cleanup_rhoai", rhoai_remove=True).exit_code == 0
