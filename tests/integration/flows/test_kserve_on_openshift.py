"""The flow kserve on a lab of the profile openshift: it brings what it needs, and takes back what it brought."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.cluster.access import Access
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query

from tests.integration.conftest import PROJECT, Lab

SETTINGS: dict[str, Any] = {
    "kserve_load_test_path": str(PROJECT / "tests/data/llm_load_test"),
    "kserve_load_test_python": sys.executable,
    "kserve_concurrency": [2],
    "kserve_max_queries": 4,
    "kserve_query_count": 1,
}
MACHINES = {
    "clusters_sutest_compute_machineset_type": "g5.2xlarge",
    "clusters_sutest_compute_machineset_fit": True,
    "clusters_sutest_compute_dedicated": True,
}
NO_GPU = {"granite-3b-code-instruct": {"vllm": {"gpus": 0}}}
LABELLED = {"only-workload-pods": "yes"}


def packages(lab: Lab) -> set[str]:
    """What is subscribed to."""
    cluster = Cluster(Access(kubeconfig=str(lab.kubeconfig)))
    found, _version = cluster.list(Query("operators.coreos.com/v1alpha1", "Subscription"))
    return {item["spec"]["name"] for item in found}


def only(folder: Path, pattern: str) -> Any:
    """The only document of the only file."""
    (path,) = folder.rglob(pattern)
    (document,) = yaml.safe_load_all(path.read_text())
    return document


def test_it_brings_what_it_needs_and_takes_back_what_it_brought(modelmesh_lab: Lab, tmp_path: Path) -> None:
    before = packages(modelmesh_lab)
    ran = modelmesh_lab.run(
        tmp_path,
        *("perfdrv", "run", "kserve", "--site", "lab", "-p", "raw", "-p", "cleanup", "-e"),
        json.dumps({**SETTINGS, **MACHINES}),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    prepared = {path.name.partition("__")[2] for path in run.glob("*__prepare_*/**/[0-9]*__*")}
    assert prepared >= {
        "cluster__deploy_operator",
        "cluster__enable_userworkload_monitoring",
        "cluster__set_scale",
        "gpu_operator__deploy_from_operatorhub",
        "nfd_operator__deploy_from_operatorhub",
        "rhods__deploy_ods",
    }
    # the model's pod is on the machine that was added for it
    pod = only(run / "003__cell__0/001__kserve__deploy_model", "pod.yml")["spec"]
    assert "g5-2xlarge" in pod["nodeName"]
    assert pod["nodeSelector"] == LABELLED
    loads = [
        one["value"]
        for one in json.loads((run / "report/kpis.json").read_text())["kpis"]
        if one["name"] == "requests_failed"
    ]
    assert loads == [0]
    assert packages(modelmesh_lab) == before


@pytest.mark.deep
def test_a_model_that_needs_knative_is_given_up_where_there_is_none(modelmesh_lab: Lab, tmp_path: Path) -> None:
    """Nothing is prepared, so its operator is not there."""
    settings = {**SETTINGS, "rhoai_prepare": False, "kserve_models": NO_GPU}
    ran = modelmesh_lab.run(
        tmp_path,
        *("perfdrv", "run", "kserve", "--site", "lab", "-e"),
        json.dumps(settings),
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "Knative Services are not available; install Knative, or deploy the model with raw_deployment" in ran.stdout
