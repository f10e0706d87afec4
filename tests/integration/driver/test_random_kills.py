"""kill -9 of a random process of a run at a random moment: complete files, no processes, one command cleans up."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.integration.conftest import Lab
from tests.integration.driver.killing import check_undamaged, processes, wait_until_all_have_ended
from tests.polling import PATIENCE_S

FLOWS = {
    "scale_test": ("-s", "scale_test_count=30", "-s", "scale_test_rate=5", "-s", "scale_test_submitters=2"),
    "fine_tuning": ("-p", "lab", "-s", "fine_tuning_gpu=[1, 2]"),
}
LATEST_KILL_S = 20.0
pytestmark = pytest.mark.deep


def objects(lab: Lab) -> set[str]:
    """Return what runs create: workloads, temporary objects of commands, the lease, namespaces."""
    kinds = "jobs,pytorchjobs,daemonsets,pods,configmaps,leases,namespaces,priorityclasses"
    command = ["kubectl", "--kubeconfig", str(lab.kubeconfig), "get", kinds, "-A", "-o", "json"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["items"]
    names = {(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]) for each in found}
    return {"/".join(name) for name in names if "kube-root-ca.crt" not in name and "kube-node-lease" not in name}


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("seed", range(25))
def test_kill_leaves_complete_files_and_a_resumable_run(flow: str, seed: int, shared_lab: Lab, tmp_path: Path) -> None:
    chance = random.Random(f"{flow} {seed}")  # the same process and moment in each execution
    before = objects(shared_lab)
    run = shared_lab.start(tmp_path, "perfdrv", "run", flow, "-i", "lab", *FLOWS[flow])
    time.sleep(chance.uniform(0.5, LATEST_KILL_S))
    living = sorted(processes(tmp_path))
    if living:
        victim = chance.choice(living)
        os.kill(victim, signal.SIGKILL)
    out, _none = run.communicate(timeout=PATIENCE_S)
    wait_until_all_have_ended(tmp_path)
    check_undamaged(tmp_path)
    if not any(tmp_path.iterdir()):
        return  # killed before the run began
    (entry,) = json.loads(shared_lab.run(tmp_path, "perfdrv", "runs", "list", "--json").stdout)
    assert entry["status"] in ("ok", "failed", "interrupted"), out
    if entry["status"] != "ok":
        finalized = shared_lab.run(tmp_path, "perfdrv", "runs", "finalize", "latest")
        assert finalized.returncode == 0, finalized.stdout + finalized.stderr
    # a namespace of trainings stays with its data and the namespace's default objects
    left = {name for name in objects(shared_lab) - before if "fine-tuning" not in name}
    assert not left, out
