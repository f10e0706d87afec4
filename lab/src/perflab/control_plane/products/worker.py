"""The real node of a lab: its objects in the cluster, and the process that runs it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.certificates import API_SERVER_USER
from perflab.control_plane.programs import MANIFESTS
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import ARGO, WORKER
from perflab.worker import image_contents, images, network
from perflab.worker.objects import objects as of_node

_OPTING_IN = MANIFESTS / "real-namespaces.yaml"
_WITHOUT_ROOT = MANIFESTS / "pods-without-root.yaml"


def objects(lab: Lab, _binaries: Binaries) -> Iterable[Document]:
    """Return the objects that its programs and its pods require."""
    addresses = network.of(lab)
    assert addresses is not None  # noqa: S101  of a lab with a real node
    needed = of_node(addresses, lab.ports["kube-apiserver"], API_SERVER_USER)
    refused = read_documents(_WITHOUT_ROOT) if lab.rootless else ()
    return (*needed, *read_documents(_OPTING_IN), *refused)


def ensure_images(cache: Path, binaries: Binaries, products: Iterable[str]) -> list[Path]:
    """Return the archives of the images in the *cache* for a lab with *products*, after writing missing ones."""
    wanted = image_contents.of_each_lab(binaries.program("pause").parent)
    if ARGO in products:
        wanted.append(image_contents.argoexec(binaries.program("argoexec")))
    return [images.ensure(cache, image) for image in wanted]


def program(lab: Lab, binaries: Binaries, _kubeconfig: Path) -> Program:
    """Return the process that runs the node."""
    programs = binaries.program("kubelet").parent
    archives = ensure_images(programs.parent.parent, binaries, lab.options.products)
    command: list[str | Path] = [sys.executable, "-m", "perflab.worker", programs, *archives]
    return Program(WORKER, tuple(command), f"http://{LOOPBACK}:{lab.ports[WORKER]}/readyz")
