"""The fine-tuning commands through Ansible, on the tests' lab."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command

from tests.integration.conftest import PROJECT, Lab

ROLES = PROJECT / "collections/ansible_collections/psap/perf/roles"
NAMESPACE = "test-fine-tuning"
CLAIM = "storage"
COMMAND = "fine_tuning_run_fine_tuning_job"
USUAL = {
    "namespace": NAMESPACE,
    "pvc_name": CLAIM,
    "workload": "fms",
    "model_name": "granite",
    "dataset_name": "alpaca.json",
    "start_timeout": "5m",
    "timeout": "5m",
}


def variables_of(command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return *arguments*, keyed by short name, as variables of *command* and of the roles that declare them."""
    names = {option.short_name: option.name for option in read_command(ROLES / command, ROLES).arguments}
    return {names[argument]: value for argument, value in arguments.items()}


def render(playbook: Path, command: str, usual: dict[str, Any], variants: dict[str, dict[str, Any]]) -> Path:
    """Write *playbook*, which renders each of the *variants* of a command's arguments without running it."""
    tasks = [
        {
            "name": f"Render {name}",
            "ansible.builtin.include_role": {"name": f"psap.perf.{command}"},
            "vars": variables_of(command, {**usual, **arguments, "name": name, "prepare_only": True}),
        }
        for name, arguments in variants.items()
    ]
    playbook.write_text(yaml.safe_dump([{"hosts": "sutest", "gather_facts": False, "tasks": tasks}]))
    return playbook


@dataclass(frozen=True)
class Commands:
    """Runs the command on a lab; runs go to *runs*."""

    lab: Lab
    runs: Path
    cluster: Cluster

    def start(self, playbook: str | Path, *options: str, **variables: Any) -> subprocess.Popen[str]:
        """Start *playbook*."""
        words = (str(playbook), "-i", "inventories/lab", "-e", json.dumps(variables), *options)
        return self.lab.start(self.runs, "ansible-playbook", *words)

    def start_command(self, *options: str, **arguments: Any) -> subprocess.Popen[str]:
        """Start the command."""
        given = variables_of(COMMAND, {**USUAL, **arguments})
        return self.start("playbooks/toolbox.yml", *options, perf_command=COMMAND, **given)

    def run(self) -> dict[str, Any]:
        """Return run.json of the only run."""
        document: dict[str, Any] = json.loads((next(self.runs.iterdir()) / "run.json").read_text())
        return document

    def artifacts(self) -> Path:
        """Return the artifact directory of the only command of the only run."""
        return next(self.runs.glob("*/001__*")) / "artifacts"


@pytest.fixture(name="commands")
def _commands(shared_lab: Lab, tmp_path: Path) -> Iterator[Commands]:
    """Return the commands; create the namespace and the claim that they need."""
    cluster = Cluster(Access(kubeconfig=str(shared_lab.kubeconfig)))
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""}
    disk = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": "/nowhere"},
        "claimRef": {"name": CLAIM, "namespace": NAMESPACE},
    }
    cluster.apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": NAMESPACE}, "spec": disk})
    metadata = {"name": CLAIM, "namespace": NAMESPACE}
    cluster.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim})
    runs = tmp_path / "runs"
    runs.mkdir()
    yield Commands(shared_lab, runs, cluster)
    cluster.close()
