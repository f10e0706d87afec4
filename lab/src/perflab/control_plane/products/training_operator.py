"""Kubeflow's training operator in a lab: its program, its webhook, and the kind PyTorchJob."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.products import manager
from perflab.control_plane.webhooks import client_config, port_of
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import TRAINING_OPERATOR


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield the CustomResourceDefinition of PyTorchJob."""
    yield from read_documents(binaries.manifests("training-operator-crds") / "kubeflow.org_pytorchjobs.yaml")


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the controller of PyTorchJobs and its webhook."""
    command = manager.command_of_own_program(lab, binaries, kubeconfig, TRAINING_OPERATOR, threads=10)
    return Program(TRAINING_OPERATOR, command, f"http://{LOOPBACK}:{lab.ports[TRAINING_OPERATOR]}/readyz")


def webhook(lab: Lab, _binaries: Binaries) -> Iterator[Document]:
    """Yield the webhook for each new or changed PyTorchJob."""
    rule = {
        "apiGroups": ["kubeflow.org"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["pytorchjobs"],
    }
    webhook = {
        "name": "validator.pytorchjob.training-operator.kubeflow.org",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "rules": [rule],
        "clientConfig": client_config(lab, port_of(TRAINING_OPERATOR), "/validate-kubeflow-org-v1-pytorchjob"),
    }
    yield {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "validator.training-operator.kubeflow.org"},
        "webhooks": [webhook],
    }
