"""Command lines of managers: upstream's of JobSet and LeaderWorkerSet, and the small programs of this project."""

from __future__ import annotations

from pathlib import Path

from perflab.building.sets import Binaries
from perflab.control_plane.webhooks import port_of
from perflab.files import documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import Lab


def command(lab: Lab, binaries: Binaries, kubeconfig: Path, product: str) -> tuple[str | Path, ...]:
    """Return the command line of upstream's manager; its health is served at the product's port."""
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


def command_of_own_program(
    lab: Lab, binaries: Binaries, kubeconfig: Path, product: str, *, threads: int
) -> tuple[str | Path, ...]:
    """Return the command line of a small program with webhooks; its health is served at the product's port."""
    return (
        binaries.program(product),
        f"--kubeconfig={kubeconfig}",
        f"--cert-dir={lab.folder / 'pki' / 'webhook'}",
        f"--webhook-host={LOOPBACK}",
        f"--webhook-port={lab.ports[port_of(product)]}",
        f"--health-probe-bind-address={LOOPBACK}:{lab.ports[product]}",
        f"--controller-threads={threads}",
        "--kube-api-qps=5000",
        "--kube-api-burst=10000",
    )
