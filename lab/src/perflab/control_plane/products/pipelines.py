"""The server of the API of Data Science Pipelines: one process for all applications of a lab."""

from __future__ import annotations

import sys
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import PIPELINES
from perflab.worker import network


def url(lab: Lab) -> str:
    """Return the URL to which `/NAMESPACE/APPLICATION/apis/v2beta1/…` is appended."""
    return f"http://{LOOPBACK}:{lab.ports[PIPELINES]}"


def program(lab: Lab, _binaries: Binaries, _kubeconfig: Path) -> Program:
    """Return the server."""
    addresses = network.of(lab)
    hosts = [LOOPBACK, *([addresses.host] if addresses else [])]
    command = (sys.executable, "-m", "perflab.serving.pipelines", str(lab.ports[PIPELINES]), *hosts)
    return Program(PIPELINES, command, f"{url(lab)}/healthz")
