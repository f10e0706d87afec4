"""The flow lightspeed on a lab of the profile openshift, whose ModelMesh is emulated and whose pods call nothing."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.conftest import PROJECT, Lab
from tests.integration.rights import run_with_reported_rights

MOLECULE = PROJECT / "molecule/wisdom/files"
MODEL = {
    "lightspeed_dataset_path": str(MOLECULE / "inputs.json"),
    "lightspeed_protos_path": str(MOLECULE),
    "lightspeed_proto": "completion.proto",
    "lightspeed_call": "molecule.v1.Completion/Complete",
    "lightspeed_tester_image": "quay.io/molecule/tester:1",
    "lightspeed_runtime_image": "quay.io/molecule/runtime:1",
    "lightspeed_model_format": "molecule",
    "lightspeed_storage_key": "store",
    "lightspeed_storage_path": "models/wisdom",
}
SIMULATED = {"spec": {"template": {"metadata": {"annotations": {"lab.psap.perf/duration": "500ms"}}}}}


def run(lab: Lab, runs: Path, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run the flow, which removes what it installed."""
    return lab.run(
        runs, "perfdrv", "run", "lightspeed", "--site", "lab", "-p", "rhoai_cleanup", "-e", json.dumps(settings)
    )


def captured_object(command: Path, name: str) -> dict[str, Any]:
    """Return the only object of the file *name* that a command captured."""
    (item,) = yaml.safe_load_all((command / "artifacts" / name).read_text())
    return dict(item)


def test_missing_model_description_is_refused_before_any_change(modelmesh_lab: Lab, tmp_path: Path) -> None:
    missing = ("lightspeed_call", "lightspeed_storage_path")
    ran = run(modelmesh_lab, tmp_path, **{name: MODEL[name] for name in MODEL if name not in missing})
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert [name for name in MODEL if f"{name} is required" in ran.stderr] == list(missing)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.deep
def test_cells_have_replicas_and_users_and_a_failure_stops_no_other(modelmesh_lab: Lab, tmp_path: Path) -> None:
    settings = {
        "lightspeed_replicas": [100, 2],
        "lightspeed_concurrency": [3],
        "lightspeed_timeout": "30s",
        # a label that every node has
        "clusters_sutest_compute_dedicated": True,
        "clusters_sutest_compute_taint_key": "kubernetes.io/os",
        "clusters_sutest_compute_taint_value": "linux",
    }
    ran = run(modelmesh_lab, tmp_path, **MODEL, **settings, lightspeed_job_patch=SIMULATED, lightspeed_inputs=1)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    (directory,) = tmp_path.iterdir()
    prepared = {path.name.partition("__")[2] for path in directory.glob("*__prepare_*/**/[0-9]*__*")}
    assert {"rhods__deploy_ods", "nfd_operator__deploy_from_operatorhub"} <= prepared
    assert "gpu_operator__deploy_from_operatorhub" in prepared
    crowded, fits = sorted(directory.glob("*__cell__*"))
    documents = [json.loads((cell / "cell.json").read_text()) for cell in (crowded, fits)]
    assert [document["status"] for document in documents] == ["failed", "ok"]
    assert "100" in documents[0]["error"]
    assert [path.name for path in crowded.glob("*__wisdom__*")] == ["001__wisdom__deploy_model"]
    deployed, _warmed, loaded, mixed = sorted(fits.glob("[0-9]*__wisdom__*"))
    runtime = captured_object(deployed, "servingruntime.yml")["spec"]
    assert (runtime["replicas"], runtime["nodeSelector"]) == (2, {"kubernetes.io/os": "linux"})
    assert runtime["tolerations"] == [{"key": "kubernetes.io/os", "operator": "Exists", "effect": "NoSchedule"}]
    pods = yaml.safe_load((deployed / "artifacts/deployment.yml").read_text())["spec"]["template"]["spec"]
    assert (pods["nodeSelector"], pods["tolerations"]) == (runtime["nodeSelector"], runtime["tolerations"])
    job = captured_object(loaded, "job_input_0.yml")["spec"]
    assert {"--concurrency=3", "--total=96"} <= set(job["template"]["spec"]["initContainers"][0]["command"])
    assert job["activeDeadlineSeconds"] == 2400
    words = captured_object(mixed, "job_mixed.yml")["spec"]["template"]["spec"]["initContainers"][0]["command"]
    assert {"--concurrency=8", "--total=1024", "--max-duration=10m"} <= set(words)
    # no call was made, which the document states
    assert list(directory.rglob("ghz.json")) == []
    document = json.loads((directory / "run.json").read_text())
    assert "modelmesh" in str(document["lab"]["emulated"]).lower()


@pytest.mark.deep
def test_listed_rights_suffice_to_run_the_flow(modelmesh_lab: Lab, tmp_path: Path) -> None:
    settings = {**MODEL, "lightspeed_job_patch": SIMULATED, "gpu_operator_remove": True, "rhoai_remove": True}
    rights = run_with_reported_rights(modelmesh_lab, tmp_path, "lightspeed", **settings)
    kinds = {kind for _verbs, kind, _namespace in rights}
    assert {"InferenceService", "ServingRuntime", "Job", "Subscription", "pods/exec"} <= kinds
