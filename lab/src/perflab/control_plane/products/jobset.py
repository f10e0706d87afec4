"""JobSet itself in a lab: its program, the kind that it serves, and its webhooks for the API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.products import manager
from perflab.control_plane.webhooks import configured
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import JOBSET

_PODS_OF_JOBSETS = "jobset.sigs.k8s.io/jobset-name"


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinition."""
    yield from read_documents(binaries.manifests("jobset-crds") / "jobset.x-k8s.io_jobsets.yaml")


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return its controllers and webhooks."""
    command = manager.command(lab, binaries, kubeconfig, JOBSET)
    return Program(JOBSET, command, f"http://{LOOPBACK}:{lab.ports[JOBSET]}/readyz")


def webhooks(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its webhook configurations; upstream's webhooks of pods receive all pods, these only pods of JobSets."""
    for configuration in read_documents(binaries.manifests("jobset-webhooks") / "manifests.yaml"):
        yield configured(lab, JOBSET, configuration, pods_with=_PODS_OF_JOBSETS)
