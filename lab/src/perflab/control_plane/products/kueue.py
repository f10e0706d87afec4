"""Kueue itself in a lab: its configuration, its program, and its webhooks for the API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.cluster.nodes import SIMULATED
from perflab.cluster.topology import parse_topology
from perflab.control_plane.webhooks import converted_at, open_version, port_of, webhooks_at
from perflab.files import documents
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import KUEUE

# the name of the lab's Topology and of its ResourceFlavor
TOPOLOGY = "lab"
# upstream's default: the kubeconfigs of MultiKueue's worker clusters are in Secrets of this namespace
_NAMESPACE = "kueue-system"
WEBHOOK_PORT, METRICS_PORT, PPROF_PORT = port_of(KUEUE), f"{KUEUE}-metrics", f"{KUEUE}-pprof"
# kinds of jobs whose API exists, by their names in Kueue's configuration
_FRAMEWORKS = {
    "batch/job": "Job",
    "jobset.x-k8s.io/jobset": "JobSet",
    "kubeflow.org/pytorchjob": "PyTorchJob",
    "ray.io/rayjob": "RayJob",
    "ray.io/raycluster": "RayCluster",
}
# Kueue does not serve the webhook path of other kinds of jobs: such a webhook would refuse every object of the kind
_WEBHOOKS_OF = {
    *("clusterqueue", "cohort", "resourceflavor", "workload"),
    *(name.rpartition("/")[2] for name in _FRAMEWORKS),
}
_WEBHOOKS = "kueue-webhooks/manifests.yaml"
# kinds whose versions differ in more than their name, as in upstream's kustomization.yaml
_CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
# upstream's default
_FAIR_PREEMPTION = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
_WORKERS = 5


def definitions(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinitions."""
    for path in sorted(binaries.manifests("kueue-crds").glob("*.yaml")):
        for document in read_documents(path):
            yield _definition(lab, document)


def _definition(lab: Lab, document: Document) -> Document:
    plural = document["spec"]["names"]["plural"]
    if plural == "workloads":
        # pods again, twice: the schema of the older version costs 0.8 s of the API server's CPU and 0.1 GB
        versions = [each if each["storage"] else open_version(each) for each in document["spec"]["versions"]]
        document = {**document, "spec": {**document["spec"], "versions": versions}}
    return converted_at(lab, WEBHOOK_PORT, document) if plural in _CONVERTED else document


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the controllers of its queues and of the jobs in them."""
    command = (
        binaries.program("kueue"),
        f"--config={_write_configuration(lab)}",
        f"--kubeconfig={kubeconfig}",
        "--zap-log-level=info",
    )
    return Program(KUEUE, command, f"http://{LOOPBACK}:{lab.ports[KUEUE]}/readyz")


def metrics(lab: Lab) -> str:
    """Return the URL of its metrics."""
    return f"http://{LOOPBACK}:{lab.ports[METRICS_PORT]}/metrics"


def _write_configuration(lab: Lab) -> Path:
    timeout = lab.options.pods_ready_timeout
    kinds = [f"{kind}.{name.partition('/')[0]}" for name, kind in _FRAMEWORKS.items()]
    document = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": _NAMESPACE,
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{lab.ports[KUEUE]}"},
        "metrics": {"bindAddress": f"{LOOPBACK}:{lab.ports[METRICS_PORT]}"},
        "pprofBindAddress": f"{LOOPBACK}:{lab.ports[PPROF_PORT]}",
        "webhook": {
            "host": LOOPBACK,
            "port": lab.ports[WEBHOOK_PORT],
            "certDir": str(lab.folder / "pki" / "webhook"),
        },
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 5000, "burst": 10000},
        "controller": {"groupKindConcurrency": dict.fromkeys([*kinds, "Workload.kueue.x-k8s.io"], _WORKERS)},
        "integrations": {"frameworks": list(_FRAMEWORKS)},
        **({"waitForPodsReady": {"timeout": f"{timeout}s"}} if timeout else {}),
        **({"fairSharing": {"preemptionStrategies": _FAIR_PREEMPTION}} if lab.options.fair_sharing else {}),
    }
    path = lab.folder / "kueue.json"
    documents.write_json(path, document)
    return path


def served(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its namespace, its webhook configurations, and the objects for its topology-aware scheduling."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    yield from _webhooks(lab, binaries)
    yield from _topology(lab)


def _topology(lab: Lab) -> Iterator[Document]:
    """Yield the lab's Topology, which ends with the nodes, and a ResourceFlavor of all simulated nodes with it."""
    levels = parse_topology(lab.options.topology)
    if not levels:
        return
    labels = [*(level.label for level in levels), "kubernetes.io/hostname"]
    topology = {"levels": [{"nodeLabel": label} for label in labels]}
    flavor = {"nodeLabels": SIMULATED, "topologyName": TOPOLOGY}
    for kind, spec in (("Topology", topology), ("ResourceFlavor", flavor)):
        yield {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": TOPOLOGY}, "spec": spec}


def _webhooks(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its webhook configurations, as upstream has them except for their address."""
    for configuration in read_documents(binaries.manifests(_WEBHOOKS)):
        metadata = {**configuration["metadata"], "name": f"kueue-{configuration['metadata']['name']}"}
        used = [each for each in configuration["webhooks"] if _of(each) in _WEBHOOKS_OF]
        yield {**configuration, "metadata": metadata, "webhooks": webhooks_at(lab, WEBHOOK_PORT, used)}


def _of(webhook: Document) -> str:
    """Return the subject of a webhook: `job` for `mjob.kb.io`, the mutating one, and for `vjob.kb.io`."""
    name: str = webhook["name"]
    return name.partition(".")[0][1:]
