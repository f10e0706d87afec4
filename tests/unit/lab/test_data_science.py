"""Data Science Pipelines and notebooks, described in YAML, on an API server in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from .memory_api import APPS, MemoryApi, conditions, found, rolled_out, settle, with_kind

GROUP = "/apis/datasciencepipelinesapplications.opendatahub.io/v1/namespaces/project"
APPLICATIONS = f"{GROUP}/datasciencepipelinesapplications"
NOTEBOOKS = "/apis/kubeflow.org/v1/namespaces/project/notebooks"
ROUTE = "/apis/route.openshift.io/v1/namespaces/project/routes/ds-pipeline-sample"


def served() -> MemoryApi:
    api = MemoryApi()
    with_kind(api, "datasciencepipelinesapplications.datasciencepipelinesapplications.opendatahub.io/v1")
    with_kind(api, "notebooks.kubeflow.org/v1")
    return api


def application(**spec: Any) -> dict[str, Any]:
    parts = {
        "apiServer": {"deploy": True, "enableOauth": True},
        "persistenceAgent": {"deploy": True},
        "scheduledWorkflow": {"deploy": True},
        "database": {"mariaDB": {"deploy": True, "pvcSize": "10Gi"}},
        "objectStorage": {"minio": {"deploy": True, "image": "minio", "pvcSize": "2Gi"}},
    }
    return {"metadata": {"name": "sample"}, "spec": {**parts, **spec}}


def test_application_is_ready_after_all_its_deployments(tmp_path: Path) -> None:
    api = served()
    api.put(APPLICATIONS, application())

    async def roll_out() -> None:
        before = api.find(f"{APPLICATIONS}/sample")
        assert conditions(before)["Ready"] == "False"
        rolled_out(api, "project", "deployments")

    asyncio.run(settle(api, "data_science", tmp_path, roll_out))
    assert set(conditions(found(api, f"{APPLICATIONS}/sample")).values()) == {"True"}
    deployed = sorted(
        name for base, _, plural, name in api.objects if (base, plural) == ("/apis/apps/v1", "deployments")
    )
    prefixes = ("ds-pipeline", "ds-pipeline-persistenceagent", "ds-pipeline-scheduledworkflow", "mariadb", "minio")
    assert deployed == sorted(f"{prefix}-sample" for prefix in prefixes)
    claim = found(api, "/api/v1/namespaces/project/persistentvolumeclaims/minio-sample")
    assert claim["spec"]["resources"] == {"requests": {"storage": "2Gi"}}
    service = found(api, "/api/v1/namespaces/project/services/ds-pipeline-sample")
    assert service["spec"]["ports"][0]["port"] == 8888
    assert api.find(ROUTE) is None


def test_application_has_a_route_on_openshift(tmp_path: Path) -> None:
    api = served()
    with_kind(api, "routes.route.openshift.io/v1")
    api.put(APPLICATIONS, application())
    asyncio.run(settle(api, "data_science", tmp_path))
    assert found(api, ROUTE)["spec"]["to"]["name"] == "ds-pipeline-sample"


def test_external_database_is_not_deployed(tmp_path: Path) -> None:
    api = served()
    api.put(APPLICATIONS, application(database={"externalDB": {"host": "db"}}))
    asyncio.run(settle(api, "data_science", tmp_path))
    assert api.find(f"{APPS.format('project', 'deployments')}/mariadb-sample") is None
    (available,) = (
        each
        for each in found(api, f"{APPLICATIONS}/sample")["status"]["conditions"]
        if each["type"] == "DatabaseAvailable"
    )
    assert (available["status"], available["reason"]) == ("True", "NotApplicable")


def test_notebook_is_a_stateful_set_until_it_is_stopped(tmp_path: Path) -> None:
    api = served()
    template = {"spec": {"containers": [{"name": "workbench", "image": "notebook"}]}}
    api.put(NOTEBOOKS, {"metadata": {"name": "workbench"}, "spec": {"template": template}})
    path = f"{APPS.format('project', 'statefulsets')}/workbench"

    async def stop() -> None:
        spec = found(api, path)["spec"]
        assert spec["replicas"] == 1
        assert spec["template"]["spec"] == template["spec"]
        assert spec["template"]["metadata"]["labels"]["notebook-name"] == "workbench"
        stopped = {"metadata": {"annotations": {"kubeflow-resource-stopped": "now"}}}
        await api.patch(f"{NOTEBOOKS}/workbench", stopped)

    asyncio.run(settle(api, "data_science", tmp_path, stop))
    assert found(api, path)["spec"]["replicas"] == 0


def test_pods_reach_the_api_only_with_a_real_node(tmp_path: Path) -> None:
    api = served()
    slices = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices"
    path = f"{slices.format('project')}/ds-pipeline-sample"
    mark = {"metadata": {"name": "perflab"}, "data": {"pipelines-url": "http://127.0.0.1:4000"}}
    api.put("/api/v1/namespaces/kube-system/configmaps", mark)
    api.put(APPLICATIONS, application())

    async def add_node() -> None:
        assert api.find(path) is None
        endpoints = [{"addresses": ["198.18.0.1"]}]
        api.put(slices.format("default"), {"metadata": {"name": "kubernetes"}, "endpoints": endpoints})

    asyncio.run(settle(api, "data_science", tmp_path, add_node))
    made = found(api, path)
    assert made["endpoints"][0]["addresses"] == ["198.18.0.1"]
    assert made["ports"][0]["port"] == 4000
