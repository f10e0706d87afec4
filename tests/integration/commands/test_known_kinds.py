"""The default API group of each known kind is one that an API server serves."""

from __future__ import annotations

import kubernetes
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import API_VERSIONS, group_of
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import Lab


def test_known_kind_is_served_if_its_group_is(shared_lab: Lab) -> None:
    kubeconfig = str(shared_lab.kubeconfig)
    answer = kubernetes.client.ApisApi(kubernetes.config.new_client_from_config(kubeconfig)).get_api_versions()
    groups = {"", *(group.name for group in answer.groups)}
    wanted = {kind: version for kind, version in API_VERSIONS.items() if group_of(version) in groups}
    cluster = Cluster(Access(kubeconfig=kubeconfig))
    missing = {kind: version for kind, version in wanted.items() if not cluster.serves(version, kind)}
    assert {"Pod", "Deployment", "PyTorchJob", "ClusterQueue", "RayJob"} <= set(wanted)
    assert not missing
