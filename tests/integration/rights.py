"""A user of a lab with only the granted rights, and the rights that a flow reports as missing."""

from __future__ import annotations

import json
import re
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import API_VERSIONS, group_of
from kubernetes import client, config, dynamic

from tests.integration.conftest import Lab
from tests.polling import PATIENCE_S

USER = "few-rights"
GROUP = "rbac.authorization.k8s.io"
# not served before their operators are installed
NOT_SERVED_YET = {
    "ClusterPolicy": "clusterpolicies",
    "DSCInitialization": "dscinitializations",
    "DataScienceCluster": "datascienceclusters",
    "Kuadrant": "kuadrants",
    "LeaderWorkerSetOperator": "leaderworkersetoperators",
    "NVIDIADriver": "nvidiadrivers",
    "NodeFeature": "nodefeatures",
    "NodeFeatureDiscovery": "nodefeaturediscoveries",
    "NodeFeatureRule": "nodefeaturerules",
    "ServiceMeshControlPlane": "servicemeshcontrolplanes",
    "ServiceMeshMember": "servicemeshmembers",
    "ServiceMeshMemberRoll": "servicemeshmemberrolls",
}
POD_GROUPS = "scheduling.k8s.io"
PRESETS = {"scale_test": ("lab", "scale_test_smoke"), "fine_tuning": ("lab",)}


class Cluster:
    """The lab, as its administrator accesses it."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self._api = config.new_client_from_config(str(lab.kubeconfig))
        self._dynamic = dynamic.DynamicClient(self._api)
        self._rbac = client.RbacAuthorizationV1Api(self._api)
        self.core = client.CoreV1Api(self._api)
        self.kubeconfig = folder / "kubeconfig"
        self.namespace = f"{USER}-{uuid.uuid4().hex[:8]}"
        self._document = yaml.safe_load(lab.kubeconfig.read_text())

    def add_user(self) -> None:
        """Create a service account, and a kubeconfig with its token."""
        self.core.create_namespaced_service_account("default", {"metadata": {"name": USER}})
        token = self.core.create_namespaced_service_account_token(USER, "default", {"spec": {}}).status.token
        self._document["users"][0]["user"] = {"token": token}
        self.kubeconfig.write_text(yaml.safe_dump(self._document))

    def allow(self, reported: list[tuple[str, str, str]]) -> None:
        """Grant each right, (verbs, kind, namespace), by a role, or by a cluster role if the namespace is missing."""
        there = {each.metadata.name for each in self.core.list_namespace().items}
        for verbs, kind, namespace in reported:
            # only subresources of the core group are reported
            group = "" if "/" in kind else group_of(API_VERSIONS.get(kind, POD_GROUPS))
            name = (
                kind
                if "/" in kind
                else NOT_SERVED_YET.get(kind) or self._dynamic.resources.search(group=group, kind=kind)[0].name
            )
            rule = {"apiGroups": [group], "resources": [name], "verbs": verbs.split(", ")}
            metadata: dict[str, Any] = {"name": f"{USER}-{kind.lower().replace('/', '-')}-{len(verbs)}-{namespace}"}
            subjects = [{"kind": "ServiceAccount", "name": USER, "namespace": "default"}]
            prefix = "" if namespace in there else "Cluster"
            role = {"metadata": metadata, "rules": [rule]}
            binding = {
                "metadata": metadata,
                "roleRef": {"apiGroup": GROUP, "kind": f"{prefix}Role", "name": metadata["name"]},
                "subjects": subjects,
            }
            if namespace in there:
                self._rbac.create_namespaced_role(namespace, role)
                self._rbac.create_namespaced_role_binding(namespace, binding)
            else:
                self._rbac.create_cluster_role(role)
                self._rbac.create_cluster_role_binding(binding)

    def delete(self) -> None:
        """Delete the user, its roles and its namespace."""
        self.core.delete_namespaced_service_account(USER, "default")
        for role in self._rbac.list_cluster_role().items:
            if role.metadata.name.startswith(USER):
                self._rbac.delete_cluster_role(role.metadata.name)
                self._rbac.delete_cluster_role_binding(role.metadata.name)
        for role in self._rbac.list_role_for_all_namespaces().items:
            if role.metadata.name.startswith(USER):
                self._rbac.delete_namespaced_role(role.metadata.name, role.metadata.namespace)
                self._rbac.delete_namespaced_role_binding(role.metadata.name, role.metadata.namespace)
        self.core.delete_namespace(self.namespace)
        deadline = time.monotonic() + PATIENCE_S
        while self._is_there() and time.monotonic() < deadline:
            time.sleep(0.2)

    def _is_there(self) -> bool:
        return self.namespace in {each.metadata.name for each in self.core.list_namespace().items}


@contextmanager
def user(lab: Lab, folder: Path) -> Iterator[Cluster]:
    """Create the user and a namespace for the test."""
    made = Cluster(lab, folder)
    made.core.create_namespace({"metadata": {"name": made.namespace}})
    made.add_user()
    try:
        yield made
    finally:
        made.delete()


def run(
    lab: Lab, cluster: Cluster, runs: Path, flow: str, **more: Any
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run a flow as the user; return its result and its run.json."""
    settings = {f"{flow}_namespace": cluster.namespace, "perf_kubeconfig": str(cluster.kubeconfig), **more}
    presets = [word for name in PRESETS.get(flow, ()) for word in ("-p", name)]
    words = ["run", flow, "-i", "lab", *presets, "-e", json.dumps(settings)]
    played = lab.run(runs, "perfdrv", *words)
    (path,) = runs.glob("*/run.json")
    document: dict[str, Any] = json.loads(path.read_text())
    return played, document


def missing_rights(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the missing rights that a refused run reports."""
    phrases = re.search(r"has no rights to: (.*); request them", document["reason"]["why"])
    assert phrases, document["reason"]
    found = [re.fullmatch(r"([a-z, ]+) ([\w/]+)(?: in namespace (\S+))?", each) for each in phrases[1].split("; ")]
    return [(each[1], each[2], each[3] or "") for each in found if each]


def run_with_reported_rights(lab: Lab, folder: Path, flow: str, **settings: Any) -> list[tuple[str, str, str]]:
    """Run *flow* without rights, with all reported rights but one, and with all; return the reported rights."""
    with user(lab, folder) as cluster:
        _played, refused = run(lab, cluster, folder / "none", flow, **settings)
        assert (refused["status"], refused["exit_code"]) == ("failed", 3)
        reported = missing_rights(refused)
        cluster.allow(reported[1:])
        _played, fewer = run(lab, cluster, folder / "fewer", flow, **settings)
        assert missing_rights(fewer) == reported[:1]
        cluster.allow(reported[:1])
        played, document = run(lab, cluster, folder / "all", flow, **settings)
        assert played.returncode == 0, played.stdout + played.stderr
        assert document["lab"]["name"] == lab.name
    return reported
