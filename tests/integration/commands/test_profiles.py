"""Profiles of the lab's own scheduler and Kueue, which pods with their labels represent, by a token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, utils

from tests.integration.conftest import Lab

NAMESPACE, READER = "kueue-system", "tests-profiles"


def _pod(namespace: str, labels: dict[str, str], port: str, program: str) -> dict[str, Any]:
    annotations = {"lab.psap.perf/ports": json.dumps({port: program})}
    metadata = {"name": READER, "namespace": namespace, "labels": labels, "annotations": annotations}
    spec = {"containers": [{"name": "main", "image": "registry.example/program:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _objects() -> list[dict[str, Any]]:
    rbac = "rbac.authorization.k8s.io"
    account = {"kind": "ServiceAccount", "name": READER, "namespace": NAMESPACE}
    return [
        _pod(NAMESPACE, {"control-plane": "controller-manager"}, "8083", "kueue-pprof"),
        _pod("kube-system", {"component": "kube-scheduler"}, "10259", "kube-scheduler"),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": READER, "namespace": NAMESPACE}},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": READER},
            "rules": [{"nonResourceURLs": ["/debug/pprof/*"], "verbs": ["get"]}],
        },
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": READER},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": READER},
            "subjects": [account],
        },
    ]


@pytest.fixture(name="lab")
def _lab(shared_lab: Lab) -> Iterator[Lab]:
    """Yield a lab whose scheduler and Kueue have pods, and a service account that may read their profiles."""
    api = config.new_client_from_config(str(shared_lab.kubeconfig))
    for each in _objects():
        utils.create_from_dict(api, each)
    yield shared_lab
    rights, core = client.RbacAuthorizationV1Api(api), client.CoreV1Api(api)
    rights.delete_cluster_role_binding(READER)
    rights.delete_cluster_role(READER)
    core.delete_namespaced_service_account(READER, NAMESPACE)
    for namespace in (NAMESPACE, "kube-system"):
        core.delete_namespaced_pod(READER, namespace)


def test_token_reads_profiles_of_kueue_and_scheduler(lab: Lab, tmp_path: Path) -> None:
    words = ("--components", "[kueue, scheduler]", "--profiles", "[cpu, heap]", "--duration", "1s")
    account = ("--service-account", f"{NAMESPACE}/{READER}")
    ran = lab.run(tmp_path, "perfdrv", "toolbox", "cluster", "capture-profiles", "--site", "lab", *words, *account)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert {path.name for path in tmp_path.rglob("*.pb.gz") if path.stat().st_size} == {
        f"{component}_{READER}_{profile}.pb.gz" for component in ("kueue", "scheduler") for profile in ("cpu", "heap")
    }
