"""llm-d's endpoint picker itself in a lab with KServe: one program, which chooses the pod of each request."""

from __future__ import annotations

from pathlib import Path

from perflab.building.sets import Binaries
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import ENDPOINT_PICKER, MODELS, PICKER_METRICS

GRPC_PORT = f"{ENDPOINT_PICKER}-grpc"


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the program that runs the pickers of all InferencePools."""
    address = f"{LOOPBACK}:{lab.ports[ENDPOINT_PICKER]}"
    command = (
        binaries.program(ENDPOINT_PICKER),
        f"--kubeconfig={kubeconfig}",
        f"--health-probe-bind-address={address}",
        f"--metrics-bind-address={LOOPBACK}:{lab.ports[PICKER_METRICS]}",
        f"--grpc-bind-address={LOOPBACK}:{lab.ports[GRPC_PORT]}",
        f"--models-port={lab.ports[MODELS]}",
        "--kube-api-qps=5000",
        "--kube-api-burst=10000",
    )
    return Program(ENDPOINT_PICKER, command, f"http://{address}/readyz")


def metrics(lab: Lab) -> str:
    """Return the URL of the metrics of all pickers."""
    return f"http://{LOOPBACK}:{lab.ports[PICKER_METRICS]}/metrics"
