"""A user with the rights that a flow lists can run it; a user with fewer gets a list of all missing rights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease import lease, objects

from tests.integration.conftest import PROJECT, Lab
from tests.integration.rights import run_with_reported_rights, user

ROLES = PROJECT / "collections/ansible_collections/psap/perf/roles"
SIMULATED = {"spec": {"template": {"metadata": {"annotations": {"lab.psap.perf/duration": "500ms"}}}}}


@pytest.mark.deep
@pytest.mark.parametrize("flow", ["scale_test", "fine_tuning"])
def test_listed_rights_suffice_to_run_the_flow(shared_lab: Lab, tmp_path: Path, flow: str) -> None:
    assert len(run_with_reported_rights(shared_lab, tmp_path, flow)) > 5


def test_listed_rights_suffice_to_run_other_commands(
    shared_lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Job is simulated; without the right to delete collections the Job stays, and the command prints why."""
    rules = yaml.safe_load((ROLES / "llm_d_run_multiturn_benchmark/meta/rights.yml").read_text())["rights"]
    with user(shared_lab, tmp_path) as cluster:
        words = {"endpoint-url": "http://a/v1", "namespace": cluster.namespace, "patch": json.dumps(SIMULATED)}
        options = [word for name, value in words.items() for word in (f"--{name}", value)]
        command = ["perfdrv", "toolbox", "llm-d", "run-multiturn-benchmark", *options]
        monkeypatch.setenv("KUBECONFIG", str(cluster.kubeconfig))
        cluster.allow([(", ".join(lease.RIGHTS["verbs"]), objects.KIND, objects.NAMESPACE)])
        for rule in rules:
            for kind in rule["kinds"]:
                verbs = [verb for verb in rule["verbs"] if verb != "deletecollection"]
                cluster.allow([(", ".join(verbs), kind, cluster.namespace)])
        refused = shared_lab.run(tmp_path / "fewer", *command)
        assert refused.returncode == 3, refused.stdout + refused.stderr
        (document,) = (tmp_path / "fewer").glob("*/run.json")
        assert "deletecollection" in json.loads(document.read_text())["reason"]["why"]
        cluster.allow([("deletecollection", "Job", cluster.namespace)])
        played = shared_lab.run(tmp_path / "all", *command)
        assert played.returncode == 0, played.stdout + played.stderr
