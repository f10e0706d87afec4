"""The flow kserve on a lab of the profile openshift: it installs its prerequisites, and removes what it installed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.deleting import delete_matching
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import Lab
from tests.integration.load_clients import LLM_LOAD_TEST, guidellm
from tests.integration.rights import run_with_reported_rights

SETTINGS: dict[str, Any] = {
    **LLM_LOAD_TEST,
    "kserve_concurrency": [2],
    "kserve_max_queries": 4,
    "kserve_query_count": 1,
}
MACHINES = {
    "clusters_sutest_compute_machineset_type": "g6e.12xlarge",
    "clusters_sutest_compute_machineset_fit": True,
    "clusters_sutest_compute_dedicated": True,
}
LABELLED = {"only-workload-pods": "yes"}
# nothing is prepared, so the lab has no GPUs
BARE = {"rhoai_prepare": False, "kserve_models": {"granite-3b-code-instruct": {"vllm": {"gpus": 0}}}}
IMAGES = ["quay.io/vllm:1", "quay.io/vllm:2"]
TEMPLATE = "vllm-cuda-runtime-template"
APPLICATIONS = "redhat-ods-applications"


def run(lab: Lab, runs: Path, *presets: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run the flow with a client of the tests in place of llm-load-test."""
    words = [word for preset in presets for word in ("-p", preset)]
    return lab.run(
        runs, "perfdrv", "run", "kserve", "--site", "lab", *words, "-e", json.dumps({**SETTINGS, **settings})
    )


def packages(cluster: Cluster) -> set[str]:
    """Return the packages with a Subscription."""
    found, _version = cluster.list(Query("operators.coreos.com/v1alpha1", "Subscription"))
    return {item["spec"]["name"] for item in found}


def pods(cell: Path) -> dict[str, Any]:
    """Return the spec of the only pod of a cell's model."""
    (path,) = cell.glob("*__kserve__deploy_model/artifacts/pod.yml")
    (pod,) = yaml.safe_load_all(path.read_text())
    return dict(pod["spec"])


@pytest.fixture(name="cluster")
def _cluster(modelmesh_lab: Lab) -> Cluster:
    return Cluster(Access(kubeconfig=str(modelmesh_lab.kubeconfig)))


@pytest.mark.deep
def test_prerequisites_are_installed_and_removed_again(modelmesh_lab: Lab, cluster: Cluster, tmp_path: Path) -> None:
    before = packages(cluster)
    more = {**MACHINES, "kserve_image": IMAGES, "kserve_preload_image": True}
    ran = run(modelmesh_lab, tmp_path, "kserve_raw", "rhoai_cleanup", **more)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (directory,) = tmp_path.iterdir()
    prepared = [path.name.partition("__")[2] for path in directory.glob("*__prepare_*/**/[0-9]*__*")]
    assert set(prepared) >= {
        "cluster__deploy_operator",
        "cluster__enable_userworkload_monitoring",
        "cluster__set_scale",
        "gpu_operator__deploy_from_operatorhub",
        "nfd_operator__deploy_from_operatorhub",
        "rhods__deploy_ods",
    }
    assert prepared.count("cluster__preload_image") == len(IMAGES)
    cells = [pods(cell) for cell in sorted(directory.glob("*__cell__*"))]
    assert [pod["containers"][0]["image"] for pod in cells] == IMAGES
    # they are on the machine that was added for them
    assert all("g6e-12xlarge" in pod["nodeName"] and pod["nodeSelector"] == LABELLED for pod in cells)
    kpis = json.loads((directory / "report/kpis.json").read_text())["kpis"]
    failed = [(one["labels"]["kserve_image"], one["value"]) for one in kpis if one["name"] == "requests_failed"]
    assert failed == [(image, 0) for image in IMAGES]
    assert packages(cluster) == before


def test_machines_too_small_for_the_model_are_refused_early(modelmesh_lab: Lab, tmp_path: Path) -> None:
    ran = run(modelmesh_lab, tmp_path, **{**MACHINES, "clusters_sutest_compute_machineset_type": "m6i.2xlarge"})
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "a pod of 2 CPUs, 16 GiB and 1 GPUs does not fit" in ran.stderr + ran.stdout
    assert list(tmp_path.glob("*/*__prepare_*")) == []


@pytest.mark.deep
def test_model_without_its_knative_fails_early(modelmesh_lab: Lab, tmp_path: Path) -> None:
    ran = run(modelmesh_lab, tmp_path, **BARE)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "Knative Services are not available; install Knative, or deploy the model with raw_deployment" in ran.stdout


@pytest.mark.deep
def test_image_is_that_of_the_template_which_must_exist(modelmesh_lab: Lab, cluster: Cluster, tmp_path: Path) -> None:
    missing = run(modelmesh_lab, tmp_path / "lacking", "kserve_raw", **BARE, kserve_image_template=TEMPLATE)
    assert missing.returncode != 0
    assert f"no Template {TEMPLATE} in {APPLICATIONS} has a container kserve-container" in missing.stdout
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": APPLICATIONS}})
    container = {"name": "kserve-container", "image": IMAGES[1]}
    template = {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": TEMPLATE, "namespace": APPLICATIONS},
        "objects": [{"kind": "ServingRuntime", "spec": {"containers": [{"name": "other", "image": "x"}, container]}}],
    }
    cluster.apply(template)
    try:
        ran = run(modelmesh_lab, tmp_path / "there", "kserve_raw", **BARE, kserve_image_template=TEMPLATE)
    finally:
        delete_matching(
            cluster, Query("v1", "Namespace", name=APPLICATIONS), check_mode=False, timeout_s=60, check=lambda: None
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (cell,) = (tmp_path / "there").glob("*/*__cell__0")
    assert pods(cell)["containers"][0]["image"] == IMAGES[1]


@pytest.mark.deep
@pytest.mark.parametrize("flow", ["kserve", "llm_d"])
def test_listed_rights_suffice_to_run_the_flow(modelmesh_lab: Lab, tmp_path: Path, flow: str) -> None:
    settings: dict[str, dict[str, Any]] = {
        "kserve": {**SETTINGS, "kserve_raw_deployment": True, "kserve_preload_image": True},
        "llm_d": {
            "llm_d_guidellm_program": guidellm(tmp_path),
            "llm_d_model_name": "opt",
            "llm_d_annotations": {"lab.psap.perf/model": "{name: opt, ttft: 0.05, itl: 0.005}"},
            "llm_d_gateway_class": "lab",
            "llm_d_gateway_namespace": "default",
            "llm_d_max_requests": 2,
            "llm_d_preload_images": IMAGES,
        },
    }
    removed = {"gpu_operator_remove": True, "rhoai_remove": True}
    rights = run_with_reported_rights(modelmesh_lab, tmp_path, flow, **{**settings[flow], **MACHINES, **removed})
    kinds = {kind for _verbs, kind, _namespace in rights}
    assert {"Subscription", "ConfigMap", "MachineSet", "DaemonSet"} <= kinds
