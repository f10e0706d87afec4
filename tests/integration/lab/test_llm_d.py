"""LLMInferenceServices as the flow writes them: their schema, and who may query them under Open Data Hub 3."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.serving.flavors import Shape, apply_shape
from kubernetes import client
from perflab.profiles import CRDS

from tests.integration.conftest import PROJECT
from tests.integration.conftest import Lab as RunLab
from tests.integration.load_clients import guidellm

from .labs import Cluster, Labs, wait_for
from .serving import GROUP, LLM, NAME, NAMESPACE
from .workloads import PREFIX

MANIFEST = PROJECT / "playbooks/llm_d/files/model.yml"
CONNECTIVITY_LINK = CRDS / "catalogs/connectivity_link.yaml"
# without fields: a kind served in this version is how Open Data Hub 3 is detected
DATA_SCIENCE: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "datascienceclusters.datasciencecluster.opendatahub.io"},
    "spec": {
        "group": "datasciencecluster.opendatahub.io",
        "scope": "Cluster",
        "names": {"kind": "DataScienceCluster", "plural": "datascienceclusters", "singular": "datasciencecluster"},
        "versions": [
            {"name": name, "served": True, "storage": name == "v2", "schema": {"openAPIV3Schema": {"type": "object"}}}
            for name in ("v1", "v2")
        ],
    },
}
MODEL = {f"{PREFIX}model": "{name: opt, ttft: 0.01, itl: 0.001}"}
TOKEN = "planted-token-of-loader"


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
@pytest.mark.parametrize("flavor", ["simple-x2", "intelligentrouting-tp2", "pd-tp4-x2-ptp1-px4"])
def test_manifests_match_the_schema_of_each_version(kserve: Cluster, flavor: str, version: str) -> None:
    """Use dry runs that refuse unknown fields; KServe's webhook validates them, too."""
    pod = {"nodeSelector": {"gpu": "yes"}, "tolerations": [{"key": "gpu", "operator": "Exists"}]}
    scheduler = PROJECT / "playbooks/llm_d/files/schedulers/pd-by-prefix.yml"
    shape = Shape(
        flavor,
        "hf://facebook/opt-125m",
        "opt",
        "models",
        MODEL,
        pod,
        {"kueue.x-k8s.io/queue-name": "all"},
        ["mine"],
        ["--enforce-eager"],
        scheduler_config={} if flavor.startswith("simple") else yaml.safe_load(scheduler.read_text()),
        auth=True,
    )
    manifest = apply_shape(yaml.safe_load(MANIFEST.read_text()), shape)
    created = kserve.custom.create_namespaced_custom_object(
        GROUP,
        version,
        NAMESPACE,
        LLM,
        {**manifest, "apiVersion": f"{GROUP}/{version}"},
        dry_run="All",
        field_validation="Strict",
    )
    assert created["spec"]["model"]["uri"] == "pvc://models/facebook/opt-125m"


def deploy(labs: Labs, runs: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command that deploys an LLMInferenceService and waits for it."""
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    environment = {**lab.environment(runs), "KUBECONFIG": str(lab.kubeconfig)}
    return lab.run_with(environment, "perfdrv", "toolbox", "llm-d", "deploy-llm-inference-service", *words)


@pytest.mark.parametrize("part", ["worker", "prefill"])
def test_part_that_cannot_start_is_named_long_before_the_timeout(
    labs: Labs, kserve: Cluster, tmp_path: Path, part: str
) -> None:
    """Use two nodes each, a leader and a worker; or prefill and decode apart."""
    fails = {"containers": [{"name": "main", "image": "registry.invalid/vllm:1"}]}
    several = {"parallelism": {"data": 2, "dataLocal": 1}, "worker": fails}
    patch = {"spec": several if part == "worker" else {"prefill": {"template": fails}}}
    flavor = "simple" if part == "worker" else "pd"
    words = ("--name", part, "--namespace", NAMESPACE, "--yaml-file", str(MANIFEST), "--flavor", flavor)
    ran = deploy(labs, tmp_path, *words, "--patch", json.dumps(patch))
    kserve.custom.delete_namespaced_custom_object(GROUP, "v1alpha2", NAMESPACE, LLM, part)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    pod = "worker-kserve-mn-0-1" if part == "worker" else "prefill-kserve-prefill-"
    assert f"pod {pod}" in ran.stdout + ran.stderr
    assert "container main: ErrImagePull" in ran.stdout + ran.stderr


def crds(cluster: Cluster) -> client.ApiextensionsV1Api:
    return client.ApiextensionsV1Api(cluster.core.api_client)


def is_served(cluster: Cluster, group: str, version: str) -> bool:
    groups = client.ApisApi(cluster.core.api_client).get_api_versions().groups
    return version in [each.version for one in groups if one.name == group for each in one.versions]


@pytest.fixture(name="open_data_hub")
def _open_data_hub(kserve: Cluster) -> Iterator[Cluster]:
    """Yield the lab while it serves DataScienceCluster in v2."""
    crds(kserve).create_custom_resource_definition(DATA_SCIENCE)
    wait_for("it is served", lambda: is_served(kserve, DATA_SCIENCE["spec"]["group"], "v2"))
    yield kserve
    crds(kserve).delete_custom_resource_definition(DATA_SCIENCE["metadata"]["name"])
    wait_for("it is gone", lambda: not is_served(kserve, DATA_SCIENCE["spec"]["group"], "v2"))


def run(labs: Labs, folder: Path, *words: str, **settings: Any) -> tuple[int, str, Path]:
    """Run the flow with a token in a secret file; return exit code, output and folder of runs."""
    secrets = folder / "secrets"
    secrets.mkdir()
    secrets.chmod(0o700)
    (secrets / "llm-d.token").write_text(TOKEN)
    (secrets / "llm-d.token").chmod(0o600)
    lab, runs = RunLab(NAME, labs.get(NAME).kubeconfig), folder / "runs"
    given = {
        "perf_kubeconfig": str(lab.kubeconfig),
        "llm_d_model_uri": "hf://facebook/opt-125m",
        "llm_d_model_name": "opt",
        "llm_d_flavor": "intelligentrouting",
        "llm_d_namespace": "with-auth",
        "llm_d_gateway_class": "lab",
        "llm_d_gateway_namespace": NAMESPACE,
        "llm_d_annotations": MODEL,
        "llm_d_rate": [2],
        "llm_d_max_requests": 4,
        "llm_d_guidellm_program": guidellm(folder),
        **settings,
    }
    environment = {**lab.environment(runs), "PERF_SECRETS_DIR": str(secrets)}
    ran = lab.run_with(environment, "perfdrv", "run", "llm_d", *words, "-e", json.dumps(given))
    return ran.returncode, ran.stdout + ran.stderr, runs


def test_run_needing_tokens_without_auth_policy_is_refused(labs: Labs, open_data_hub: Cluster, tmp_path: Path) -> None:
    code, said, runs = run(labs, tmp_path, llm_d_auth=True, llm_d_api_key="file:llm-d.token")
    assert code == 3, said
    assert "serves no AuthPolicy (kuadrant.io); install Red Hat Connectivity Link" in " ".join(said.split())
    assert list(runs.glob("*/*__prepare_*")) == []
    assert "with-auth" not in [each.metadata.name for each in open_data_hub.core.list_namespace().items]


@pytest.mark.deep
def test_run_without_its_required_token_is_refused(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    code, said, _runs = run(labs, tmp_path, llm_d_auth=True)
    assert code == 2, said
    assert "llm_d_api_key: requests need a token" in " ".join(said.split())


@pytest.mark.deep
def test_open_data_hub_serves_a_model_without_tokens(labs: Labs, open_data_hub: Cluster, tmp_path: Path) -> None:
    code, said, _runs = run(labs, tmp_path)
    assert code == 0, said


def test_all_requests_have_the_token_and_no_file_contains_it(
    labs: Labs, open_data_hub: Cluster, tmp_path: Path
) -> None:
    definitions = list(yaml.safe_load_all(CONNECTIVITY_LINK.read_text()))
    for each in definitions:
        crds(open_data_hub).create_custom_resource_definition(each)
    try:
        wait_for("policies are served", lambda: is_served(open_data_hub, "kuadrant.io", "v1"))
        code, said, runs = run(labs, tmp_path, llm_d_auth=True, llm_d_api_key="file:llm-d.token")
    finally:
        for each in definitions:
            crds(open_data_hub).delete_custom_resource_definition(each["metadata"]["name"])
    assert code == 0, said
    (captured,) = runs.rglob("*__llm_d__capture_isvc_state/artifacts/httproute.yml")
    # so the lab's gateway returns 401 for any other request
    assert yaml.safe_load(captured.read_text())["metadata"]["annotations"][f"{PREFIX}bearer-token"] == "true"
    kpis = json.loads(next(runs.rglob("kpis.json")).read_text())["kpis"]
    assert [one["value"] for one in kpis if one["name"] == "requests_failed"] == [0]
    assert TOKEN not in said
    assert [path for path in runs.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()] == []


@pytest.mark.deep
def test_wait_for_a_model_without_a_route_ends_immediately(labs: Labs, open_data_hub: Cluster, tmp_path: Path) -> None:
    words = ("--name", "opt", "--namespace", "with-auth", "--yaml-file", str(MANIFEST), "--flavor", "simple", "--auth")
    ran = deploy(labs, tmp_path, *words)
    open_data_hub.custom.delete_namespaced_custom_object(GROUP, "v1alpha2", "with-auth", LLM, "opt")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    said = " ".join((ran.stdout + ran.stderr).split())
    assert "GatewayPreconditionNotMet: requests need a token, but the cluster serves no AuthPolicy" in said
