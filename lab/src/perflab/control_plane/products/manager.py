"""The configuration of the managers of JobSet and LeaderWorkerSet, whose fields are the same in two API groups."""

from __future__ import annotations

from pathlib import Path

from perflab.building.sets import Binaries
from perflab.control_plane.webhooks import port_of
from perflab.files import documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import Lab


def command(lab: Lab, binaries: Binaries, kubeconfig: Path, product: str) -> tuple[str | Path, ...]:
    """Return the command line of a product's manager; its health is served at the product's port."""
    document = {
        "apiVersion": f"config.{product}.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{lab.ports[product]}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {
            "host": LOOPBACK,
            "port": lab.ports[port_of(product)],
            "certDir": str(lab.folder / "pki" / "webhook"),
        },
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 5000, "burst": 10000},
    }
    path = lab.folder / f"{product}.json"
    documents.write_json(path, document)
    return binaries.program(product), f"--config={path}", f"--kubeconfig={kubeconfig}"
