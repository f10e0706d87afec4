"""KubeRay itself in a lab: its program, and the kinds that it serves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import RAY

# programs in pods would serve RayServices, and simulated pods have none
_KINDS = ("ray.io_rayclusters.yaml", "ray.io_rayjobs.yaml")


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinitions."""
    for name in _KINDS:
        yield from read_documents(binaries.manifests("kuberay-crds") / name)


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the controllers of RayClusters and RayJobs."""
    address = f"{LOOPBACK}:{lab.ports[RAY]}"
    command = (
        binaries.program("kuberay"),
        f"--kubeconfig={kubeconfig}",
        f"--health-probe-bind-address={address}",
        "--controller-threads=5",
        "--kube-api-qps=5000",
        "--kube-api-burst=10000",
    )
    # its additional containers wait for a head's address, and query it: no simulated pod responds
    environment = {"ENABLE_INIT_CONTAINER_INJECTION": "false", "ENABLE_PROBES_INJECTION": "false"}
    return Program(RAY, command, f"http://{address}/readyz", environment)
