"""Kubeflow Trainer itself in a lab: its program, the kinds that it serves, upstream's runtimes, its webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.products import manager
from perflab.control_plane.webhooks import configured, open_version
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import TRAINER


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinitions."""
    for path in sorted((binaries.manifests(TRAINER) / "crds").glob("trainer.kubeflow.org_*.yaml")):
        for document in read_documents(path):
            yield _opened(document) if document["spec"]["names"]["kind"] == "ClusterTrainingRuntime" else document


def _opened(document: Document) -> Document:
    """Return the definition without its schema, which repeats TrainingRuntime's and costs as much memory."""
    versions = [open_version(each) for each in document["spec"]["versions"]]
    return {**document, "spec": {**document["spec"], "versions": versions}}


def objects(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield upstream's ClusterTrainingRuntimes, such as `torch-distributed`."""
    for path in sorted((binaries.manifests(TRAINER) / "runtimes").glob("*_distributed.yaml")):
        yield from read_documents(path)


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the controllers of TrainJobs and of runtimes, and their webhooks."""
    command = manager.command_of_own_program(lab, binaries, kubeconfig, TRAINER, threads=5)
    return Program(TRAINER, command, f"http://{LOOPBACK}:{lab.ports[TRAINER]}/readyz")


def webhooks(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its webhook configuration, as upstream has it except for its address."""
    for configuration in read_documents(binaries.manifests(TRAINER) / "webhook" / "manifests.yaml"):
        yield configured(lab, TRAINER, configuration)
