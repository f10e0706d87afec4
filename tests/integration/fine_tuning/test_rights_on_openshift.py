"""The rights that are needed to install and remove operators, on a dedicated lab."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.conftest import perflab, running_lab
from tests.integration.rights import run_with_reported_rights

EVERYTHING = {
    "nfs_provisioner_enabled": True,
    "rhoai_operators": [{"package": "servicemeshoperator"}],
    "rhoai_stop_operator": True,
    "gpu_operator_remove": True,
    "rhoai_remove": True,
    "fine_tuning_clean_after": True,
    "prometheus_reset": True,
    "gpu_operator_time_sharing_replicas": 2,
    "gpu_operator_well_known_metrics": True,
    "clusters_sutest_compute_machineset_type": "p4d.24xlarge",
    "clusters_sutest_compute_machineset_count": 1,
}


@pytest.mark.deep
def test_listed_rights_suffice_to_install_and_remove_prerequisites(tmp_path: Path) -> None:
    name = f"rights-{os.getpid()}"
    perflab("up", "--name", name, "--profile", "openshift", "--nodes", "4")
    try:
        rights = run_with_reported_rights(running_lab(name), tmp_path, "fine_tuning", **EVERYTHING)
    finally:
        perflab("down", "--name", name)
    verbs = {(kind, namespace): verbs.split(", ") for verbs, kind, namespace in rights}
    assert {"create", "delete"} <= set(verbs["Subscription", "nvidia-gpu-operator"])
    assert "delete" in verbs["NodeFeatureRule", ""]
