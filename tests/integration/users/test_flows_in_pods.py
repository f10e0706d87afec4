"""Flows in pods of a real node: one that a pod runs as a whole, and one whose users are pods."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from tests.integration.conftest import PROJECT, Lab, lab_with, perflab
from tests.integration.driver.killing import kill_all
from tests.integration.rights import run_with_reported_rights
from tests.polling import wait_until

from .conftest import ON_REAL_NODE
from .test_users import files_with

pytestmark = [pytest.mark.lab, pytest.mark.deep]

IMAGE = "localhost/perflab/psap-perf:1"
NAMESPACE = "flows"
MODELS, USERS = "psap-perf-kserve", "psap-perf-users"
# the node has two cores for all pods
SMALL_MODEL = {
    "source": "oci://localhost/perflab/random-26m:1",
    "llama-cpp": {"gpus": 0, "cpu": "50m", "memory": "512Mi"},
}
SETTINGS = {
    "kserve_models": {"small": SMALL_MODEL},
    "kserve_model_name": "small",
    "kserve_users": 2,
    "kserve_models_per_user": 1,
    "kserve_query_count": 2,
    "kserve_timeout": "5m",
}
# pods reach no simulated models
SIMULATED = {"kserve_users_as": "pods", "kserve_users": 2, "kserve_models_per_user": 1, "kserve_query_count": 0}


@pytest.fixture(scope="module", name="lab")
def _lab() -> Iterator[Lab]:
    """A lab with KServe and a real node that has the image of the project."""
    options = ("--nodes", "2", "--with", "kserve", "--with", "worker")
    with lab_with("PERF_TEST_FLOWS_LAB", f"tests-flows-{os.getpid()}", *options) as lab:
        perflab("image", "load", "--name", lab.name, "psap-perf")
        yield lab


@pytest.fixture(scope="module", name="serving_lab")
def _serving_lab(lab: Lab) -> Lab:
    """The lab, whose real node also has the images of a server and of its model."""
    perflab("image", "load", "--name", lab.name, "llama-cpp", "random-26m")
    return lab


@pytest.fixture(name="core")
def _core(lab: Lab) -> Iterator[client.CoreV1Api]:
    with config.new_client_from_config(str(lab.kubeconfig)) as api:
        yield client.CoreV1Api(api)


def run(lab: Lab, runs: Path, *words: str) -> Path:
    """Run perfdrv to its successful end; return the run."""
    done = lab.run(runs, "perfdrv", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = (path for path in runs.iterdir() if path.is_dir() and not path.is_symlink())
    return found


@pytest.mark.parametrize(
    "command",
    [
        'perfdrv run skeleton --site local --runs-dir "$PERF_USER_ARTIFACTS"',
        # as a step of jump_ci
        'ARTIFACT_DIR="$PERF_USER_ARTIFACTS" perfdrv ci step test skeleton --site local',
    ],
    ids=["run", "ci_step"],
)
def test_flow_runs_in_a_pod_with_the_rights_of_its_account(lab: Lab, tmp_path: Path, command: str) -> None:
    where = ("--site", "lab", "--namespace", NAMESPACE)
    rules = [{"role": "skeleton_start_pods", "namespaces": ["default"]}, {"kinds": ["Namespace"], "verbs": ["list"]}]
    run(
        lab,
        tmp_path / "prepare",
        "toolbox",
        "local-ci",
        "prepare-users",
        *where,
        "--image",
        IMAGE,
        "--rights",
        json.dumps(rules),
    )
    words = ("--image", IMAGE, "--service-account", "local-ci", "--memory", "1Gi", "--cpu", "50m", *ON_REAL_NODE)
    # the driver of the pod's run holds the Lease
    command = f"sh -c '{command} -s clusters_lock=ignore'"
    done = run(lab, tmp_path / "run", "toolbox", "local-ci", "run", *where, *words, "--ci-command", command)
    (document,) = done.glob("*__local_ci__run/artifacts/user-0/**/run.json")
    assert json.loads(document.read_text())["status"] == "ok"
    run(lab, tmp_path / "remove", "toolbox", "local-ci", "remove-users", *where, "--rights-namespaces", "[default]")


def of_users(model: str, **settings: Any) -> tuple[str, ...]:
    """Return the words that run the users of kserve, whose models a preset describes."""
    presets = ("-p", model, "-p", "kserve_scale", "-p", "users_lab")
    return ("run", "kserve", "--site", "lab", *presets, "-e", json.dumps(settings))


def measured(lab: Lab, runs: Path, users_as: str) -> tuple[Path, dict[str, Any]]:
    """Run the users of kserve with real models; return the run, and its KPIs by name."""
    found = run(lab, runs, *of_users("kserve_real", kserve_users_as=users_as, **SETTINGS))
    kpis = json.loads((found / "report/kpis.json").read_text())["kpis"]
    return found, {one["name"]: one["value"] for one in kpis if "run_multi" not in one["labels"]["recording"]}


def left(core: client.CoreV1Api, models: str) -> list[str]:
    """Return the namespaces of the users and of their models, and the pods in them."""
    names = [each.metadata.name for each in core.list_namespace().items]
    found = [name for name in names if name == USERS or name.startswith(f"{models}-u")]
    return found + [each.metadata.name for name in found for each in core.list_namespaced_pod(name).items]


def may_deploy(core: client.CoreV1Api, user: int, namespace: str) -> bool:
    """Return whether the account of a user may create InferenceServices in a namespace."""
    attributes = {"group": "serving.kserve.io", "resource": "inferenceservices", "verb": "create"}
    account = f"system:serviceaccount:{USERS}:local-ci-{user}"
    spec = {"user": account, "resourceAttributes": {**attributes, "namespace": namespace}}
    review = client.AuthorizationV1Api(core.api_client).create_subject_access_review({"spec": spec})
    return bool(review.status.allowed)


def test_users_are_pods_or_lanes_with_the_same_kpis(serving_lab: Lab, core: client.CoreV1Api, tmp_path: Path) -> None:
    lanes, by_lanes = measured(serving_lab, tmp_path / "lanes", "lanes")
    pods, by_pods = measured(serving_lab, tmp_path / "pods", "pods")
    assert by_lanes.keys() == by_pods.keys()
    for kpis in (by_lanes, by_pods):
        assert (kpis["models_served_ratio"], kpis["users_served_ratio"]) == (1, 1)
        assert 0 < kpis["time_to_ready_max"] < kpis["time_to_first_answer_max"] < kpis["total_time"]
        assert kpis["answer_time_max"] > 0
    for user in range(2):
        assert list(pods.glob(f"*__cell__0/*__local_ci__run_multi/artifacts/user-{user}/*/*__cell__0/*deploy_model"))
    # the namespaces are those of the lanes
    assert left(core, MODELS) == [f"{MODELS}-u{user}" for user in range(2)]
    assert files_with("BEGIN CERTIFICATE", pods) == []
    compared = serving_lab.run(
        tmp_path, "perfanalysis", "compare", "--ignore", "kserve_users_as", str(lanes), str(pods)
    )
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert "time_to_first_answer" in (pods / "report/comparison.md").read_text()


@pytest.mark.parametrize(
    ("words", "status"),
    [(("runs", "finalize", "latest"), "interrupted"), (("run", "--resume", "latest"), "ok")],
    ids=["finalize", "resume"],
)
def test_users_of_a_killed_driver_leave_nothing(
    lab: Lab, core: client.CoreV1Api, tmp_path: Path, words: tuple[str, ...], status: str
) -> None:
    models = f"killed-{status}"
    process = lab.start(tmp_path, "perfdrv", *of_users("kserve_raw", kserve_namespace=models, **SIMULATED))
    wait_until(lambda: core.list_namespaced_pod(f"{models}-u1").items, during=process)
    rights = [[may_deploy(core, user, f"{models}-u{owner}") for owner in range(2)] for user in range(2)]
    assert rights == [[True, False], [False, True]]
    kill_all(tmp_path)
    process.communicate()
    assert len(core.list_namespaced_pod(USERS).items) == 2

    done = lab.run(tmp_path, "perfdrv", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left(core, models) == []
    (document,) = tmp_path.glob("kserve-*/run.json")
    assert json.loads(document.read_text())["status"] == status
    counts = [path.read_text() for path in document.parent.glob("*__cell__0/*__run_multi/artifacts/success_count")]
    assert counts == (["2\n"] if status == "ok" else [])


def test_listed_rights_suffice_for_users_as_pods(lab: Lab, tmp_path: Path) -> None:
    presets: dict[str, Any] = {"kserve_mode": "scale", "kserve_raw_deployment": True}
    presets |= yaml.safe_load((PROJECT / "presets/users_lab.yml").read_text())["preset_users_lab"]
    reported = run_with_reported_rights(lab, tmp_path, "kserve", **presets, **SIMULATED)
    assert ("create", "serviceaccounts/token", USERS) in reported


def test_users_as_pods_are_refused_without_an_image_or_a_model_in_reach(lab: Lab, tmp_path: Path) -> None:
    words = ("run", "kserve", "--site", "lab", "-p", "kserve_raw", "-p", "kserve_scale", "-s", "kserve_users_as=pods")
    refused = lab.run(tmp_path, "perfdrv", *words)
    assert refused.returncode == 2
    assert "users as pods need an image with this project; set users_image" in refused.stdout + refused.stderr
    refused = lab.run(tmp_path, "perfdrv", *words, "-p", "users_lab")
    assert "pods of a lab do not reach simulated models" in refused.stdout + refused.stderr
