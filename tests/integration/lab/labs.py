"""Run `perflab` in a temporary home, access a lab's cluster, and wait for conditions."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes import client, config
from perflab.processes import process, state
from perflab.processes.state import Lab

from tests.polling import PATIENCE_S


@dataclass(frozen=True)
class Labs:
    """Runs `perflab` with a dedicated home, after a command that changes its user, if any."""

    home: Path
    user: tuple[str, ...] = ()
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def command(self, *arguments: str) -> list[str]:
        return [*self.user, sys.executable, "-m", "perflab", *arguments]

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PERFLAB_HOME": str(self.home), **self.variables}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments), env=self.environment(), capture_output=True, text=True, check=False
        )

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(*arguments),
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def up(self, name: str, *options: str) -> Lab:
        done = self.run("up", "--name", name, *options)
        assert done.returncode == 0, done.stderr
        return self.get(name)

    def get(self, name: str) -> Lab:
        lab = state.read_lab(self.home, name)
        assert lab is not None
        return lab

    def left_over(self, name: str) -> list[process.Identity]:
        return process.find_marked(self.home / name)


@dataclass(frozen=True)
class Cluster:
    """The Kubernetes client of one lab."""

    core: client.CoreV1Api
    batch: client.BatchV1Api
    apps: client.AppsV1Api
    custom: client.CustomObjectsApi

    @classmethod
    def of(cls, lab: Lab) -> Cluster:
        api = config.new_client_from_config(str(lab.kubeconfig))
        return cls(client.CoreV1Api(api), client.BatchV1Api(api), client.AppsV1Api(api), client.CustomObjectsApi(api))


def wait_for(what: str, look: Callable[[], Any]) -> Any:
    """Call `look` until it returns a true value, and return that; fail with `what` after `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        seen = look()
        if seen:
            return seen
        time.sleep(0.1)
    raise AssertionError(f"never seen: {what}")
