"""LeaderWorkerSet itself in a lab: its program, the kind that it serves, and its webhooks for the API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.products import manager
from perflab.control_plane.webhooks import configured, port_of
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import LWS

# the selector that upstream's kustomization adds
_PODS_OF_SETS = "leaderworkerset.sigs.k8s.io/name"


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinition."""
    yield from read_documents(binaries.manifests("lws-crds") / "leaderworkerset.x-k8s.io_leaderworkersets.yaml")


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return its controllers and webhooks."""
    command = manager.command(lab, binaries, kubeconfig, LWS)
    # its /readyz does not wait for its webhooks, which answer a GET with an error in a document
    webhook = f"https://{LOOPBACK}:{lab.ports[port_of(LWS)]}/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset"
    return Program(LWS, command, webhook)


def webhooks(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its webhook configurations."""
    for configuration in read_documents(binaries.manifests("lws-webhooks") / "manifests.yaml"):
        yield configured(lab, LWS, configuration, pods_with=_PODS_OF_SETS)
