"""The stand-in of model servers in a lab: one process that answers for all pods that say what they serve."""

from __future__ import annotations

import sys
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import MODELS


def url(lab: Lab) -> str:
    """Where models answer, at `/NAMESPACE/SERVICE/v1/…`."""
    return f"http://{LOOPBACK}:{lab.ports[MODELS]}"


def metrics(lab: Lab) -> str:
    """vLLM's metrics of all of them."""
    return f"{url(lab)}/metrics"


def program(lab: Lab, _binaries: Binaries, _kubeconfig: Path) -> Program:
    """The server."""
    command = (sys.executable, "-m", "perflab.serving", str(lab.ports[MODELS]))
    return Program(MODELS, command, f"{url(lab)}/health")
