"""Users in pods of a real node, started as a person starts them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from tests.integration.conftest import Lab, lab_with
from tests.polling import wait_until
from tests.schemas import check

IMAGE = "localhost/perflab/python:3"
ON_REAL_NODE = (
    *("--node-selector", '{lab.psap.perf/real: "true"}'),
    *("--tolerations", "[{key: lab.psap.perf/real, operator: Exists}]"),
)
SMALL = ("--cpu", "5m", "--memory", "64Mi")
SELECTOR = "psap.perf/users"
SECRET = "not-for-artifacts-4711"


@dataclass(frozen=True)
class Users:
    """Commands of local_ci in one namespace of a lab; their runs go to *runs*."""

    lab: Lab
    runs: Path
    namespace: str
    core: client.CoreV1Api
    batch: client.BatchV1Api
    rbac: client.RbacAuthorizationV1Api
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def words(self, command: str, job: str, *words: str) -> list[str]:
        """Return the words of perfdrv for a command that runs pods."""
        where = ["--namespace", self.namespace, "--job-name", job]
        pods = [] if command == "wait" else ["--image", IMAGE, *SMALL, *ON_REAL_NODE]
        return ["toolbox", "local-ci", command, "--site", "lab", *where, *pods, *words]

    def start(self, command: str, job: str, *words: str) -> subprocess.Popen[str]:
        """Start a command, which ends with the test."""
        process = self.lab.start(self.runs, "perfdrv", *self.words(command, job, *words))
        self.started.append(process)
        return process

    def run(self, command: str, job: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        return self.lab.run(self.runs, "perfdrv", *self.words(command, job, *words))

    def states(self, job: str) -> dict[int, dict[str, Any]]:
        """Return the reports of the users."""
        try:
            data = self.core.read_namespaced_config_map(f"{job}-states", self.namespace).data or {}
        except client.ApiException:
            return {}
        return {int(index): json.loads(text) for index, text in data.items()}

    def wait_for_launch(self, job: str, index: int, during: subprocess.Popen[str]) -> str:
        """Wait until the command of a user has started; return the name of its pod."""
        wait_until(lambda: "launch_at_s" in self.states(job).get(index, {}), during=during)
        return str(self.states(job)[index]["pod"])

    def kill(self, pod: str) -> None:
        """Delete a pod at once."""
        self.core.delete_namespaced_pod(pod, self.namespace, grace_period_seconds=0)

    def artifacts(self) -> Path:
        """Return the artifacts of the last command."""
        return sorted(self.runs.glob("*/*__local_ci__*/artifacts"))[-1]

    def result(self) -> dict[str, Any]:
        """Return the checked result of the last command."""
        document: dict[str, Any] = json.loads((self.artifacts() / "users.json").read_text())
        assert check(document) == "psap.perf/users/1"
        return document

    def left(self) -> list[str]:
        """Return the names of all objects of users."""
        lists = (
            self.batch.list_namespaced_job,
            self.core.list_namespaced_pod,
            self.core.list_namespaced_config_map,
            self.rbac.list_namespaced_role,
            self.rbac.list_namespaced_role_binding,
        )
        return [item.metadata.name for each in lists for item in each(self.namespace, label_selector=SELECTOR).items]


@pytest.fixture(scope="package")
def users_lab() -> Iterator[Lab]:
    """Start a lab with a real node."""
    with lab_with("PERF_TEST_USERS_LAB", f"tests-users-{os.getpid()}", "--nodes", "1", "--with", "worker") as lab:
        yield lab


@pytest.fixture
def users(users_lab: Lab, tmp_path: Path) -> Iterator[Users]:
    """Create a namespace with a Secret."""
    api = config.new_client_from_config(str(users_lab.kubeconfig))
    core = client.CoreV1Api(api)
    namespace = f"users-{os.getpid()}-{tmp_path.name.lower().replace('_', '-')[-12:].strip('-')}"
    core.create_namespace({"metadata": {"name": namespace}})
    core.create_namespaced_secret(namespace, {"metadata": {"name": "token"}, "stringData": {"token": SECRET}})
    apis = (core, client.BatchV1Api(api), client.RbacAuthorizationV1Api(api))
    made = Users(users_lab, tmp_path / "runs", namespace, *apis)
    yield made
    for process in made.started:
        with process:
            process.terminate()
    core.delete_namespace(namespace)
    api.close()
