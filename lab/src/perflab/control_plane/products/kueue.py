"""Kueue itself in a lab: its configuration, its program, and its webhooks for the API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.webhooks import webhooks_at
from perflab.files import documents
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import KUEUE

WEBHOOK_PORT, METRICS_PORT, PPROF_PORT = f"{KUEUE}-webhook", f"{KUEUE}-metrics", f"{KUEUE}-pprof"
# kinds of jobs whose API exists, by their names in Kueue's configuration
_FRAMEWORKS = ("batch/job", "kubeflow.org/pytorchjob", "ray.io/rayjob", "ray.io/raycluster")
# Kueue does not serve the webhook path of other kinds of jobs: such a webhook would refuse every object of the kind
_WEBHOOKS_OF = {
    *("clusterqueue", "cohort", "resourceflavor", "workload"),
    *(name.rpartition("/")[2] for name in _FRAMEWORKS),
}
_WEBHOOKS = "kueue-webhooks/manifests.yaml"
_WORKERS = 5


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinitions."""
    for path in sorted(binaries.manifests("kueue-crds").glob("*.yaml")):
        yield from read_documents(path)


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the controllers of its queues and of the jobs in them."""
    command = (
        binaries.program("kueue"),
        f"--config={_write_configuration(lab)}",
        f"--kubeconfig={kubeconfig}",
        # its aggregated API, which shows pending workloads, requires a Service
        "--feature-gates=VisibilityOnDemand=false",
        "--zap-log-level=info",
    )
    return Program(KUEUE, command, f"http://{LOOPBACK}:{lab.ports[KUEUE]}/readyz")


def metrics(lab: Lab) -> str:
    """Return the URL of its metrics."""
    return f"http://{LOOPBACK}:{lab.ports[METRICS_PORT]}/metrics"


def _write_configuration(lab: Lab) -> Path:
    kinds = ("Job.batch", "PyTorchJob.kubeflow.org", "Workload.kueue.x-k8s.io")
    document = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta1",
        "kind": "Configuration",
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
        "controller": {"groupKindConcurrency": dict.fromkeys(kinds, _WORKERS)},
        "integrations": {"frameworks": list(_FRAMEWORKS)},
        "fairSharing": {"enable": lab.options.fair_sharing},
    }
    path = lab.folder / "kueue.json"
    documents.write_json(path, document)
    return path


def webhooks(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its webhook configurations, as upstream has them except for their address."""
    for configuration in read_documents(binaries.manifests(_WEBHOOKS)):
        metadata = {**configuration["metadata"], "name": f"kueue-{configuration['metadata']['name']}"}
        used = [each for each in configuration["webhooks"] if _of(each) in _WEBHOOKS_OF]
        yield {**configuration, "metadata": metadata, "webhooks": webhooks_at(lab, WEBHOOK_PORT, used)}


def _of(webhook: Document) -> str:
    """Return the subject of a webhook: `job` for `mjob.kb.io`, the mutating one, and for `vjob.kb.io`."""
    name: str = webhook["name"]
    return name.partition(".")[0][1:]
