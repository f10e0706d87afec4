"""The image and the nodes of users on OpenShift, whose builds and machines are emulated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.deep]

NAMESPACE = "users-of-a-pull-request"
TYPE = "g5.2xlarge"
NODES = Query("v1", "Node", label_selector=f"node.kubernetes.io/instance-type={TYPE}")
BUILDS = Query("build.openshift.io/v1", "BuildConfig", NAMESPACE)


@pytest.fixture(name="cluster")
def _cluster(openshift_lab: Lab) -> Iterator[Cluster]:
    cluster = Cluster(Access(kubeconfig=str(openshift_lab.kubeconfig)))
    yield cluster
    cluster.close()


def run(lab: Lab, runs: Path, command: str, *words: str) -> Path:
    """Run a command of local_ci in the CI job of a pull request; return its artifacts."""
    where = ("toolbox", "local-ci", command, "--site", "lab", "--namespace", NAMESPACE, "--instance-type", TYPE)
    done = lab.run_with({**lab.environment(runs), "PULL_NUMBER": "17"}, "perfdrv", *where, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    (artifacts,) = runs.glob(f"toolbox-*/*__local_ci__{command.replace('-', '_')}/artifacts")
    return artifacts


def test_image_of_a_pull_request_is_built_and_nodes_fit_the_users(
    openshift_lab: Lab, cluster: Cluster, tmp_path: Path
) -> None:
    # two users fit on a machine of 8 CPUs
    users = ("--user-count", "5", "--cpu", "3", "--memory", "1Gi")
    prepared = run(openshift_lab, tmp_path, "prepare-users", "--git-repo", "https://example.org/perf.git", *users)
    (build,), _version = cluster.list(BUILDS)
    assert build["spec"]["source"]["git"]["ref"] == "refs/pull/17/merge"
    assert f"/{NAMESPACE}/local-ci:pr-17" in (prepared / "users_image.yml").read_text()
    assert len(cluster.list(NODES)[0]) == 3

    run(openshift_lab, tmp_path, "remove-users", "--tag", "pr-17")
    assert cluster.list(BUILDS)[0] == []
    assert cluster.list(NODES)[0] == []
    assert not cluster.is_visible(Query("v1", "Namespace", name=NAMESPACE))
