"""Argo Workflows itself in a lab: its program, the kinds that it serves, its settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.cluster.real_node import REAL
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import ARGO, WORKER
from perflab.worker.images import ARGOEXEC

NAMESPACE = "argo"
_SETTINGS = "workflow-controller-configmap"
_RBAC = "rbac.authorization.k8s.io"
# what upstream's manifests call it
_EXECUTOR = "executor"


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinitions, as upstream installs them: without the schema of Workflows."""
    for path in sorted(binaries.manifests("argo-crds").glob("argoproj.io_*.yaml")):
        yield from read_documents(path)


def objects(lab: Lab, _binaries: Binaries) -> Iterator[Document]:
    """Yield its settings, and the right of every account to report the result of a step, as its pod does."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    yield {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _SETTINGS, "namespace": NAMESPACE},
        "data": {name: json.dumps(value) for name, value in settings(lab.options.products).items()},
    }
    results = {"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]}
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": _EXECUTOR},
        "rules": [results],
    }
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": _EXECUTOR},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _EXECUTOR},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": "system:serviceaccounts"}],
    }


def settings(products: Iterable[str]) -> Mapping[str, Document]:
    """Return the settings of the controller; the steps of Workflows run on the real node if the lab has one."""
    found: dict[str, Document] = {"metricsConfig": {"enabled": False}, "telemetryConfig": {"enabled": False}}
    if WORKER in products:
        tolerations = [{"key": REAL, "operator": "Exists"}]
        found["workflowDefaults"] = {"spec": {"nodeSelector": {REAL: "true"}, "tolerations": tolerations}}
    return found


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the controller of Workflows."""
    address = f"{LOOPBACK}:{lab.ports[ARGO]}"
    command = (
        binaries.program("workflow-controller"),
        f"--kubeconfig={kubeconfig}",
        f"--namespace={NAMESPACE}",
        f"--configmap={_SETTINGS}",
        f"--health-probe-bind-address={address}",
        f"--executor-image={ARGOEXEC}",
        "--controller-threads=5",
        "--kube-api-qps=5000",
        "--kube-api-burst=10000",
    )
    return Program(ARGO, command, f"http://{address}/healthz")
