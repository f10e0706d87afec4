"""Runs on a permanent cluster: a run deletes the leftovers of the previous one; nodes determine the preset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import Lab

pytestmark = pytest.mark.deep

NAMESPACE = "tests-long-lived"
WORDS = (
    *("run", "scale_test", "-i", "lab", "-p", "clusters_metal", "-s", f"scale_test_namespace={NAMESPACE}"),
    *("-s", "scale_test_count=2", "-s", "scale_test_gpus=0", "-s", "scale_test_preload_image=false"),
    *("-s", "scale_test_duration=1s", "-s", "report_enabled=false"),
)


def commands(run: Path) -> list[str]:
    """Return the names of a run's commands in the order of their start."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in run.rglob("status.json")]
    return [each["role"] for each in sorted(found, key=lambda each: str(each["started"]))]


def document(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_leftovers_of_a_run_are_removed_before_the_next_prepares(openshift_lab: Lab, tmp_path: Path) -> None:
    cluster = Cluster(Access(str(openshift_lab.kubeconfig)))
    jobs = Query("batch/v1", "Job", namespace=NAMESPACE)
    leaves = openshift_lab.run(tmp_path / "first", "perfdrv", *WORDS, "-s", "scale_test_clean_after=false")
    assert leaves.returncode == 0, leaves.stdout + leaves.stderr
    left = {each["metadata"]["uid"] for each in cluster.list(jobs)[0]}
    assert len(left) == 2

    ended = openshift_lab.run(tmp_path / "second", "perfdrv", *WORDS)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = (tmp_path / "second").iterdir()
    assert commands(run) == [
        "scale_test_cleanup",
        "cluster_capture_environment",
        "scale_test_submit",
        "scale_test_cleanup",
    ]
    assert cluster.list(jobs)[0] == []
    cluster.close()


def test_nodes_determine_the_preset(openshift_lab: Lab, tmp_path: Path) -> None:
    profiles = "clusters_profiles={node-0000: scale_test_smoke}"
    ended = openshift_lab.run(tmp_path, "perfdrv", *WORDS, "-s", profiles, "--check")

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "preset scale_test_smoke, selected by node-0000 of node node-0000" in ended.stdout
    (run,) = tmp_path.iterdir()
    assert document(run / "run.json")["presets"] == ["scale_test_smoke", "clusters_metal"]


def test_ansible_playbook_refuses_a_run_without_the_preset(openshift_lab: Lab, tmp_path: Path) -> None:
    given = json.dumps({"clusters_profiles": {"node-0000": "clusters_metal"}})
    words = ("playbooks/skeleton.yml", "-i", "inventories/lab", "-e", given)
    ended = openshift_lab.run(tmp_path, "ansible-playbook", *words)

    assert ended.returncode != 0
    assert "add -p clusters_metal" in ended.stdout
