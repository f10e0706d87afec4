"""OLM itself in a lab: its program with the catalogs that it reads, and the initial objects of a cluster with OLM."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from perflab.building.sets import Binaries
from perflab.catalogs import bundles
from perflab.cluster.api import Document
from perflab.control_plane.aggregation import api_service
from perflab.control_plane.programs import MANIFESTS
from perflab.files import documents
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import OLM

STEPS: Mapping[str, str] = MappingProxyType(
    {
        "catalog": "from the readiness of a CatalogSource's pod until its server responds",
        "csv": "from the binding of an operator's pod until it runs; a failure refuses its Deployment",
    }
)
PACKAGES_PORT = f"{OLM}-packages"
GLOBAL_CATALOGS = "openshift-marketplace"
_NAMESPACE = "openshift-operator-lifecycle-manager"
_SERVICE = "packageserver-service"
# the name by which the API server calls the package server
SERVER_NAME = f"{_SERVICE}.{_NAMESPACE}.svc"


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinitions."""
    for path in binaries.definitions(OLM):
        yield from read_documents(path)


def objects(_lab: Lab, _binaries: Binaries) -> Iterable[Document]:
    """Yield namespaces, catalogs, rights and the policies by which steps are delayed or fail."""
    return read_documents(MANIFESTS / "olm.yaml")


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return both of its operators, its package server, and the servers of the catalogs."""
    catalogs, cache = lab.folder / "catalogs", lab.folder / "data" / "catalogs"
    documents.private_folder(catalogs)
    bundles.write(catalogs)
    address = f"{LOOPBACK}:{lab.ports[OLM]}"
    command = (
        binaries.program("olm"),
        f"--client-kubeconfig={kubeconfig}",
        f"--catalogs={catalogs}",
        f"--cache={cache}",
        f"--global-namespace={GLOBAL_CATALOGS}",
        f"--health-address={address}",
        f"--packages-port={lab.ports[PACKAGES_PORT]}",
        f"--tls-cert-file={lab.folder / 'pki' / 'server.crt'}",
        f"--tls-private-key-file={lab.folder / 'pki' / 'server.key'}",
        "--kube-api-qps=5000",
        "--kube-api-burst=10000",
    )
    return Program(OLM, command, f"http://{address}/readyz", {"KUBECONFIG": str(kubeconfig)})


def served(lab: Lab, _binaries: Binaries) -> Iterator[Document]:
    """Yield the API of PackageManifests, which the package server serves."""
    return api_service(lab, "v1.packages.operators.coreos.com", (_SERVICE, _NAMESPACE), lab.ports[PACKAGES_PORT])
