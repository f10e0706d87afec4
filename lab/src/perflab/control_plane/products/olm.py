"""OLM itself in a lab: its program with the catalogs that it reads, and the initial objects of a cluster with OLM."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from perflab.building.sets import Binaries
from perflab.catalogs import bundles
from perflab.cluster.api import Document
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
_GROUP = "packages.operators.coreos.com"


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
    """The API of PackageManifests, which the package server serves."""
    bundle = base64.b64encode((lab.folder / "pki" / "ca.crt").read_bytes()).decode()
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": _SERVICE, "namespace": _NAMESPACE},
        # there is no pod for it
        "spec": {"type": "ExternalName", "externalName": LOOPBACK},
    }
    yield {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"v1.{_GROUP}"},
        "spec": {
            "group": _GROUP,
            "version": "v1",
            "groupPriorityMinimum": 2000,
            "versionPriority": 15,
            "caBundle": bundle,
            "service": {"name": _SERVICE, "namespace": _NAMESPACE, "port": lab.ports[PACKAGES_PORT]},
        },
    }
