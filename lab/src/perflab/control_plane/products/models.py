"""The simulated model servers of a lab: one process that answers for all pods that declare a model."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import MODELS, MODELS_GRPC

# an extra of the project
_GRPC = all(find_spec(name) for name in ("grpc", "grpc_reflection", "grpc_tools"))


def url(lab: Lab) -> str:
    """Return the URL of models, to which `/NAMESPACE/SERVICE/v1/…` is appended."""
    return f"http://{LOOPBACK}:{lab.ports[MODELS]}"


def addresses(lab: Lab) -> Mapping[str, str]:
    """Return the URLs of models, by the keys of the ConfigMap that marks a lab; by gRPC if it is installed."""
    by_grpc = {"models-grpc-url": f"http://{LOOPBACK}:{lab.ports[MODELS_GRPC]}"} if _GRPC else {}
    return {"models-url": url(lab), **by_grpc}


def metrics(lab: Lab) -> str:
    """Return the URL of vLLM's metrics of all of them."""
    return f"{url(lab)}/metrics"


def program(lab: Lab, _binaries: Binaries, _kubeconfig: Path) -> Program:
    """Return the server."""
    ports = (MODELS, MODELS_GRPC) if _GRPC else (MODELS,)
    command = (sys.executable, "-m", "perflab.serving", *(str(lab.ports[name]) for name in ports))
    return Program(MODELS, command, f"{url(lab)}/health")
