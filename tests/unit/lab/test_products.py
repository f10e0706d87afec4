"""The products that YAML describes, on an API server in memory: created objects, statuses, and deletion."""

from __future__ import annotations

import asyncio
import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from perflab import profiles
from perflab.cluster.api import Document
from perflab.emulators.registry import product_file

from .memory_api import APPS, CRDS, MemoryApi, conditions, found, rolled_out, run_operator, settle, with_kind

STEPS = "lab.psap.perf/steps"
NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/{}/pods"
NAMESPACES, CONFIG_MAPS = "/api/v1/namespaces", "/api/v1/namespaces/{}/configmaps"
NFD = "/apis/nfd.openshift.io/v1/namespaces/nfd/nodefeaturediscoveries"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
DSCI = "/apis/dscinitialization.opendatahub.io/v1/dscinitializations"
DSC = "/apis/datasciencecluster.opendatahub.io/v1/datascienceclusters"
FEATURE = "feature.node.kubernetes.io/pci-10de.present"


def steps(api: MemoryApi, **values: str) -> None:
    data = {key.replace("__", "."): value for key, value in values.items()}
    api.put(CONFIG_MAPS.format("kube-system"), {"metadata": {"name": "perflab-steps"}, "data": data})


def node(api: MemoryApi, name: str, gpus: int = 0, **labels: str) -> None:
    annotations = {"lab.psap.perf/gpus": str(gpus), "lab.psap.perf/gpu-product": "NVIDIA-H100-80GB-HBM3"}
    resources = {"capacity": {"cpu": "8"}, "allocatable": {"cpu": "8"}}
    api.put(NODES, {"metadata": {"name": name, "labels": labels, "annotations": annotations}, "status": resources})


def pod(api: MemoryApi, namespace: str, app: str, node_name: str, **spec: Any) -> None:
    api.put(
        PODS.format(namespace),
        {
            "metadata": {"name": f"{app}-{node_name}", "labels": {"app": app}},
            "spec": {"nodeName": node_name, "containers": [{"name": app}], **spec},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        },
    )


@pytest.mark.parametrize("name", [name for name in profiles.NAMES if product_file(name)])
def test_every_product_loads_and_is_idempotent(name: str, tmp_path: Path) -> None:
    api = MemoryApi()
    asyncio.run(settle(api, name, tmp_path))
    api.writes.clear()
    asyncio.run(settle(api, name, tmp_path))
    assert not [write for write in api.writes if not write.startswith("POST")]


def nfd_cluster() -> MemoryApi:
    api = MemoryApi()
    with_kind(api, "nodefeaturediscoveries.nfd.openshift.io/v1")
    run_operator(api, "nfd", "nfd")
    api.put(NFD, {"metadata": {"name": "nfd-instance"}, "spec": {"prunerOnDelete": True}})
    node(api, "gpu", gpus=8)
    node(api, "plain")
    return api


def test_node_feature_discovery_gets_workloads_and_is_available(tmp_path: Path) -> None:
    async def run() -> MemoryApi:
        api = nfd_cluster()

        async def ready() -> None:
            assert conditions(api.find(f"{NFD}/nfd-instance"))["Available"] == "False"
            rolled_out(api, "nfd", "daemonsets", "deployments")

        await settle(api, "nfd", tmp_path, ready)
        return api

    api = asyncio.run(run())
    worker = found(api, f"{APPS.format('nfd', 'daemonsets')}/nfd-worker")
    assert worker["metadata"]["ownerReferences"][0]["kind"] == "NodeFeatureDiscovery"
    assert worker["metadata"]["annotations"] == {"lab.psap.perf/emulated": "nfd"}
    assert conditions(api.find(f"{NFD}/nfd-instance")) == {
        "Available": "True",
        "Upgradeable": "True",
        "Progressing": "False",
        "Degraded": "False",
    }


def test_node_with_a_worker_is_labelled_and_pruned(tmp_path: Path) -> None:
    async def run() -> tuple[Document, Document, Document, MemoryApi]:
        api = nfd_cluster()
        for name in ("gpu", "plain"):
            pod(api, "nfd", "nfd-worker", name)
        seen: list[Document] = []

        async def delete() -> None:
            seen.extend(found(api, f"{NODES}/{name}")["metadata"]["labels"] for name in ("gpu", "plain"))
            await api.delete(f"{NFD}/nfd-instance")
            # Kubernetes deletes the pods of a DaemonSet.
            for name in ("gpu", "plain"):
                await api.delete(f"{PODS.format('nfd')}/nfd-worker-{name}")

        await settle(api, "nfd", tmp_path, delete)
        return seen[0], seen[1], found(api, f"{NODES}/gpu")["metadata"]["labels"], api

    gpu, plain, pruned, api = asyncio.run(run())
    assert gpu[FEATURE] == "true"
    assert FEATURE not in plain
    assert plain["feature.node.kubernetes.io/memory-numa"] == "true"
    assert pruned == {}
    assert api.find(f"{NFD}/nfd-instance") is None
    assert api.find(f"{APPS.format('nfd', 'daemonsets')}/nfd-worker") is None


def test_delayed_step_continues_in_another_process(tmp_path: Path) -> None:
    node = f"{NODES}/gpu"

    async def run() -> tuple[Document, Document]:
        api = nfd_cluster()
        pod(api, "nfd", "nfd-worker", "gpu")
        steps(api, nfd__labels="1h")
        await settle(api, "nfd", tmp_path)
        first = found(api, node)["metadata"]
        begun = json.loads(first["annotations"][STEPS])
        # An hour in which no process runs
        an_hour_ago = datetime.datetime.fromisoformat(begun["nfd.labels.gpu"]) - datetime.timedelta(hours=1)
        text = json.dumps({"nfd.labels.gpu": an_hour_ago.isoformat()})
        await api.patch(node, {"metadata": {"annotations": {STEPS: text}}})
        await settle(api, "nfd", tmp_path)
        return first, found(api, node)["metadata"]

    first, last = asyncio.run(run())
    assert FEATURE not in first["labels"]
    assert last["labels"][FEATURE] == "true"
    assert STEPS not in last["annotations"]


def test_user_workload_monitoring_follows_its_config(tmp_path: Path) -> None:
    place = CONFIG_MAPS.format("openshift-monitoring")
    names = [("deployments", "prometheus-operator"), ("statefulsets", "prometheus-user-workload")]
    paths = [f"{APPS.format('openshift-user-workload-monitoring', kind)}/{name}" for kind, name in names]
    seen: list[Document | None] = []

    async def run() -> MemoryApi:
        api = MemoryApi()
        metadata = {"name": "cluster-monitoring-config"}
        api.put(place, {"metadata": metadata, "data": {"config.yaml": "enableUserWorkload: true"}})
        own = {"name": "user-workload-monitoring-config"}
        text = "prometheus: {retention: 15d, logLevel: warn}"
        api.put(
            CONFIG_MAPS.format("openshift-user-workload-monitoring"), {"metadata": own, "data": {"config.yaml": text}}
        )

        async def disable() -> None:
            seen.extend(map(api.find, paths))
            await api.delete(f"{place}/cluster-monitoring-config")

        await settle(api, "monitoring", tmp_path, disable)
        return api

    api = asyncio.run(run())
    assert all(seen)
    container = (seen[1] or {})["spec"]["template"]["spec"]["containers"][0]
    assert container["args"] == ["--storage.tsdb.retention.time=15d", "--log.level=warn"]
    assert not any(map(api.find, paths))


@pytest.mark.parametrize(
    "text", ["enableUserWorkload: false", 'enableUserWorkload: "true"', "enableUserWorkload: [", "words", ""]
)
def test_user_workloads_are_monitored_only_if_configured(text: str, tmp_path: Path) -> None:
    api = MemoryApi()
    place = CONFIG_MAPS.format("openshift-monitoring")
    api.put(place, {"metadata": {"name": "cluster-monitoring-config"}, "data": {"config.yaml": text}})
    asyncio.run(settle(api, "monitoring", tmp_path))
    assert not [key for key in api.objects if key[3] == "prometheus-user-workload"]


def rhoai_cluster(*, mesh: bool = False, **components: str) -> MemoryApi:
    api = MemoryApi()
    with_kind(api, "dscinitializations.dscinitialization.opendatahub.io/v1", "imagestreams.image.openshift.io/v1")
    with_kind(api, "datascienceclusters.datasciencecluster.opendatahub.io/v1")
    with_kind(api, *(["servicemeshcontrolplanes.maistra.io/v2"] if mesh else []))
    run_operator(api, "rhods-operator", "redhat-ods-operator", **{"olm.owner": "rhods-operator.2.19.1"})
    spec = {name: {"managementState": state} for name, state in components.items()}
    api.put(DSC, {"metadata": {"name": "dsc"}, "spec": {"components": spec}})
    return api


def test_operator_initializes_once_and_deploys_managed_components(tmp_path: Path) -> None:
    async def run() -> MemoryApi:
        api = rhoai_cluster(ray="Managed", workbenches="Managed", kueue="Removed")

        async def ready() -> None:
            assert found(api, f"{DSC}/dsc")["status"]["phase"] == "Not Ready"
            rolled_out(api, "redhat-ods-applications", "deployments")

        await settle(api, "rhoai", tmp_path, ready)
        return api

    api = asyncio.run(run())
    assert found(api, f"{DSCI}/default-dsci")["status"]["phase"] == "Ready"
    for name in ("redhat-ods-applications", "redhat-ods-monitoring", "rhods-notebooks"):
        assert found(api, f"{NAMESPACES}/{name}")["metadata"]["labels"] == {
            "opendatahub.io/generated-namespace": "true"
        }
    cluster = found(api, f"{DSC}/dsc")
    assert cluster["status"]["phase"] == "Ready"
    assert cluster["status"]["release"] == {"name": "OpenShift AI Self-Managed", "version": "2.19.1"}
    assert conditions(cluster) | {"RayReady": "True", "KueueReady": "False", "Ready": "True"} == conditions(cluster)
    assert cluster["status"]["installedComponents"]["ray"] is True
    assert cluster["status"]["installedComponents"]["kueue"] is False
    assert found(api, f"{CRDS}/notebooks.kubeflow.org")["spec"]["versions"][0]["subresources"] == {"status": {}}
    assert api.find(f"{APPS.format('redhat-ods-applications', 'deployments')}/kueue-controller-manager") is None


def test_component_is_removed_and_cluster_deletion_removes_all(tmp_path: Path) -> None:
    place = APPS.format("redhat-ods-applications", "deployments")

    async def run() -> tuple[Document | None, MemoryApi]:
        api = rhoai_cluster(ray="Managed", codeflare="Managed")
        removed: list[Document | None] = []

        async def remove() -> None:
            await api.patch(f"{DSC}/dsc", {"spec": {"components": {"ray": {"managementState": "Removed"}}}})

        async def delete() -> None:
            removed.append(api.find(f"{place}/kuberay-operator"))
            assert found(api, f"{place}/codeflare-operator-manager")
            await api.delete(f"{DSC}/dsc")

        await settle(api, "rhoai", tmp_path, remove)
        await settle(api, "rhoai", tmp_path, delete)
        return removed[0], api

    removed, api = asyncio.run(run())
    assert removed is None
    assert api.find(f"{DSC}/dsc") is None
    assert api.find(f"{place}/codeflare-operator-manager") is None
    assert found(api, f"{CRDS}/appwrappers.workload.codeflare.dev")


@pytest.mark.parametrize(
    ("mesh", "step", "message"),
    [
        (False, "", "kserve: the operator servicemeshoperator is missing; spec.components.kserve.serving needs it"),
        (True, "fail: no room", "kserve: no room"),
        (True, "", ""),
    ],
)
def test_failing_component_is_named_with_its_reason(mesh: bool, step: str, message: str, tmp_path: Path) -> None:
    async def run() -> Document:
        api = rhoai_cluster(mesh=mesh, kserve="Managed")
        steps(api, **({"rhoai__component__kserve": step} if step else {}))

        async def ready() -> None:
            rolled_out(api, "redhat-ods-applications", "deployments")

        await settle(api, "rhoai", tmp_path, ready)
        return found(api, f"{DSC}/dsc")

    cluster = asyncio.run(run())
    by_type = {each["type"]: each["message"] for each in cluster["status"]["conditions"]}
    assert by_type["ProvisioningSucceeded"] == message
    assert by_type["Ready"] == ("Some components are not ready: kserve" if message else "")


def test_changed_deployment_is_reverted(tmp_path: Path) -> None:
    path = f"{APPS.format('redhat-ods-applications', 'deployments')}/kuberay-operator"

    async def run() -> MemoryApi:
        api = rhoai_cluster(ray="Managed")

        async def change() -> None:
            await api.patch(path, {"spec": {"replicas": 0}})

        await settle(api, "rhoai", tmp_path, change)
        return api

    assert found(asyncio.run(run()), path)["spec"]["replicas"] == 1


def test_uninstallation_deletes_everything_in_order(tmp_path: Path) -> None:
    async def run() -> MemoryApi:
        api = rhoai_cluster(ray="Managed")
        group = "operators.coreos.com"
        with_kind(api, f"subscriptions.{group}/v1alpha1", f"clusterserviceversions.{group}/v1alpha1")
        place = f"/apis/{group}/v1alpha1/namespaces/redhat-ods-operator"
        api.put(f"{place}/subscriptions", {"metadata": {"name": "rhods"}, "spec": {"name": "rhods-operator"}})
        api.put(f"{place}/subscriptions", {"metadata": {"name": "other"}, "spec": {"name": "other"}})
        api.put(f"{place}/clusterserviceversions", {"metadata": {"name": "rhods-operator.2.19.1"}, "spec": {}})

        async def ask() -> None:
            labels = {"api.openshift.com/addon-managed-odh-delete": "true"}
            api.put(CONFIG_MAPS.format("redhat-ods-operator"), {"metadata": {"name": "delete", "labels": labels}})

        await settle(api, "rhoai", tmp_path, ask)
        return api

    api = asyncio.run(run())
    deleted = [write.rpartition("/")[2] for write in api.writes if write.startswith("DELETE")]
    order = ["dsc", "default-dsci", "redhat-ods-applications", "rhods", "rhods-operator.2.19.1"]
    assert [name for name in dict.fromkeys(deleted) if name in order] == order
    assert "other" not in deleted


def gpu_cluster(**sections: Any) -> MemoryApi:
    api = MemoryApi()
    with_kind(api, "clusterpolicies.nvidia.com/v1")
    run_operator(api, "gpu-operator-certified", "nvidia-gpu-operator")
    api.put(POLICIES, {"metadata": {"name": "policy"}, "spec": sections})
    node(api, "n", gpus=8, **{FEATURE: "true"})
    return api


def gpu_daemon_set(api: MemoryApi, name: str) -> Document:
    return found(api, f"{APPS.format('nvidia-gpu-operator', 'daemonsets')}/{name}")


def test_operands_follow_the_policy(tmp_path: Path) -> None:
    api = gpu_cluster(
        driver={"repository": "registry.invalid/nvidia", "version": "sha256:12ab"},
        dcgm={"enabled": False},
        devicePlugin={"config": {"name": "slices", "default": "four"}},
        dcgmExporter={"config": {"name": "mine"}, "env": [{"name": "A", "value": "1"}]},
        daemonsets={
            "tolerations": [{"key": "dedicated", "operator": "Exists"}],
            "rollingUpdate": {"maxUnavailable": "10%"},
        },
    )
    asyncio.run(settle(api, "gpu_operator", tmp_path))
    names = {key[3] for key in api.objects if key[2] == "daemonsets"}
    assert "nvidia-dcgm" not in names
    assert len(names) == 8
    driver = gpu_daemon_set(api, "nvidia-driver-daemonset")["spec"]
    assert driver["template"]["spec"]["containers"][0]["image"] == "registry.invalid/nvidia/driver@sha256:12ab"
    assert driver["template"]["spec"]["tolerations"] == [{"key": "dedicated", "operator": "Exists"}]
    assert driver["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": "10%"}
    plugin = gpu_daemon_set(api, "nvidia-device-plugin-daemonset")["spec"]["template"]["spec"]
    assert plugin["containers"][1]["env"] == [{"name": "DEFAULT_CONFIG", "value": "four"}]
    assert plugin["volumes"] == [{"name": "configuration", "configMap": {"name": "slices"}}]
    exporter = gpu_daemon_set(api, "nvidia-dcgm-exporter")["spec"]["template"]["spec"]
    assert [each["name"] for each in exporter["containers"][0]["env"]] == ["A", "DCGM_EXPORTER_COLLECTORS"]


def test_policy_is_ready_with_its_operands_and_a_second_is_ignored(tmp_path: Path) -> None:
    async def run() -> MemoryApi:
        api = gpu_cluster()
        api.put(POLICIES, {"metadata": {"name": "second", "creationTimestamp": "2025-01-02T00:00:00Z"}, "spec": {}})

        async def ready() -> None:
            assert found(api, f"{POLICIES}/policy")["status"]["state"] == "notReady"
            rolled_out(api, "nvidia-gpu-operator", "daemonsets")

        await settle(api, "gpu_operator", tmp_path, ready)
        return api

    api = asyncio.run(run())
    policy = found(api, f"{POLICIES}/policy")
    assert policy["status"]["state"] == "ready"
    assert conditions(policy) == {"Ready": "True", "Error": "False"}
    assert found(api, f"{POLICIES}/second")["status"] == {"state": "ignored"}


def test_failed_operand_is_the_error_of_its_policy(tmp_path: Path) -> None:
    api = gpu_cluster()
    steps(api, **{"gpu_operator__daemonsets__nvidia-dcgm": "fail: no such image"})
    asyncio.run(settle(api, "gpu_operator", tmp_path))
    policy = found(api, f"{POLICIES}/policy")
    by_type = {
        each["type"]: (each["status"], each["reason"], each["message"]) for each in policy["status"]["conditions"]
    }
    assert by_type["Error"] == ("True", "ReconcileFailed", "Failed to reconcile state-dcgm: no such image")


SLICES = "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}"


@pytest.mark.parametrize(
    ("text", "product", "resource", "count"),
    [
        ("", "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu", "8"),
        (SLICES, "NVIDIA-H100-80GB-HBM3-SHARED", "nvidia.com/gpu", "32"),
        (
            SLICES.replace("{resources", "{renameByDefault: true, resources"),
            "NVIDIA-H100-80GB-HBM3",
            "nvidia.com/gpu.shared",
            "32",
        ),
    ],
)
def test_node_labels_and_gpus_follow_the_operands(
    text: str, product: str, resource: str, count: str, tmp_path: Path
) -> None:
    async def run() -> tuple[Document, MemoryApi]:
        api = gpu_cluster()
        volumes = [{"name": "configuration", "configMap": {"name": "slices"}}] if text else []
        api.put(CONFIG_MAPS.format("nvidia-gpu-operator"), {"metadata": {"name": "slices"}, "data": {"any": text}})
        pod(api, "nvidia-gpu-operator", "gpu-feature-discovery", "n")
        containers = [{"name": "manager", "env": [{"name": "DEFAULT_CONFIG", "value": "any"}]}]
        pod(api, "nvidia-gpu-operator", "nvidia-device-plugin-daemonset", "n", volumes=volumes, containers=containers)
        seen: list[Document] = []

        async def end() -> None:
            seen.append(found(api, f"{NODES}/n"))
            await api.delete(f"{POLICIES}/policy")

        await settle(api, "gpu_operator", tmp_path, end)
        return seen[0], api

    before, api = asyncio.run(run())
    labels = before["metadata"]["labels"]
    assert labels["nvidia.com/gpu.product"] == product
    assert labels["nvidia.com/gpu.count"] == "8"
    assert labels["nvidia.com/gpu.deploy.mig-manager"] == "true"
    assert before["status"]["allocatable"] == {"cpu": "8", resource: count}
    after = found(api, f"{NODES}/n")
    assert after["metadata"]["labels"] == {FEATURE: "true"}
    assert after["status"]["capacity"] == {"cpu": "8"}


def test_kserve_brings_servers_of_models() -> None:
    assert profiles.requested(["kserve"]) == ("kserve", "models")
    assert profiles.requested(["worker", "kueue"]) == ("kueue", "worker")
    assert profiles.requested(["endpoint-picker"]) == ("kserve", "endpoint-picker", "models")
