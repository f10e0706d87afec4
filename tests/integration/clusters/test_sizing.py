"""The number of machines is computed before the test from the pods' requests of the largest cell."""

from __future__ import annotations

from pathlib import Path

import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.clusters.test_long_lived import commands
from tests.integration.conftest import Lab

WORDS = (
    *("run", "scale_test", "-i", "lab", "-s", "scale_test_namespace=tests-sizing", "-s", "scale_test_count=[1, 2]"),
    *("-p", "clusters_no_gpu", "-s", "scale_test_duration=1s", "-s", "scale_test_preload_image=false"),
    # the system uses 2 of a machine's 8 CPUs, so a machine has room for only one of these
    *("-s", "scale_test_cpu=4", "-s", "report_enabled=false"),
)


def test_machines_are_added_for_the_largest_cell_and_removed(openshift_lab: Lab, tmp_path: Path) -> None:
    ended = openshift_lab.run(tmp_path, "perfdrv", *WORDS)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = tmp_path.iterdir()
    assert commands(run) == [
        "scale_test_cleanup",
        "cluster_set_scale",
        "cluster_capture_environment",
        "scale_test_submit",
        "scale_test_submit",
        "scale_test_cleanup",
        "cluster_set_scale",
    ]
    given = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(run.rglob("*set_scale/args.yml"))]
    assert [each["args"]["cluster_set_scale_scale"] for each in given] == [2, 0]
    cluster = Cluster(Access(str(openshift_lab.kubeconfig)))
    assert cluster.list(Query("machine.openshift.io/v1beta1", "Machine", namespace="openshift-machine-api"))[0] == []
    cluster.close()
