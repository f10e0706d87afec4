"""Conversions and refusals of the emulated webhooks of OpenShift AI's operator, by its version."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.cluster.api import Document
from perflab.emulators.operators.rhoai_webhooks import admission, conversion

GROUP = "datasciencecluster.opendatahub.io"
V3_3, V3_4 = (3, 3, 0), (3, 4, 1)


def state(value: str) -> Document:
    return {"managementState": value}


def cluster(version: str, status: Document | None = None, /, **components: str) -> Document:
    spec = {"components": {name: state(value) for name, value in components.items()}}
    document = {"apiVersion": f"{GROUP}/{version}", "kind": "DataScienceCluster", "metadata": {"name": "dsc"}}
    return {**document, "spec": spec, **({"status": status} if status else {})}


def convert(document: Document, to: str, version: tuple[int, ...] = V3_4) -> Document:
    request = {"uid": "1", "desiredAPIVersion": f"{document['apiVersion'].partition('/')[0]}/{to}"}
    response = conversion.respond({**request, "objects": [document]}, version)
    assert (response["uid"], response["result"]) == ("1", {"status": "Success"})
    (found,) = response["convertedObjects"]
    assert found["metadata"] == document["metadata"]
    return dict(found)


def states(document: Document) -> dict[str, str]:
    return {name: each["managementState"] for name, each in document["spec"]["components"].items()}


def test_conversion_to_v1_drops_v1_fields_and_removes_v2_components() -> None:
    given = cluster(
        "v1", datasciencepipelines="Managed", codeflare="Managed", modelmeshserving="Managed", ray="Managed"
    )
    found = convert(given, "v2")
    assert states(found) == {
        "aipipelines": "Managed",
        "ray": "Managed",
        "trainer": "Removed",
        "mlflowoperator": "Removed",
        "sparkoperator": "Removed",
    }
    assert "sparkoperator" not in states(convert(given, "v2", V3_3))


def test_write_by_v1_disables_components_enabled_by_v2() -> None:
    stored = cluster("v2", trainer="Managed", mlflowoperator="Managed", aipipelines="Managed")
    seen = convert(stored, "v1", V3_3)
    assert states(seen) == {"datasciencepipelines": "Managed"}
    seen["spec"]["components"]["ray"] = state("Managed")
    assert states(convert(seen, "v2", V3_3)) == {
        "aipipelines": "Managed",
        "ray": "Managed",
        "trainer": "Removed",
        "mlflowoperator": "Removed",
    }


def test_v1_status_lists_installed_components() -> None:
    condition = {"type": "AIPipelinesReady", "status": "True"}
    components = {"aipipelines": state("Managed"), "kueue": state("Unmanaged"), "trainer": state("Managed")}
    found = convert(cluster("v2", {"phase": "Ready", "conditions": [condition], "components": components}), "v1")
    assert found["status"]["installedComponents"] == {"data-science-pipelines-operator": True, "kueue": False}
    assert [each["type"] for each in found["status"]["conditions"]] == ["DataSciencePipelinesReady"]
    back = convert(found, "v2")
    assert [each["type"] for each in back["status"]["conditions"]] == ["AIPipelinesReady"]
    assert "installedComponents" not in back["status"]


def test_initialization_loses_its_service_mesh() -> None:
    spec: dict[str, Any] = {"applicationsNamespace": "apps", "monitoring": state("Managed")}
    more = {"serviceMesh": state("Managed"), "devFlags": {"logLevel": "debug", "manifestsUri": "x"}}
    document = {"apiVersion": "dscinitialization.opendatahub.io/v1", "kind": "DSCInitialization", "metadata": {}}
    found = convert({**document, "spec": {**spec, **more}}, "v2")
    assert found["spec"] == {**spec, "devFlags": {"logLevel": "debug"}}


def refusal(version: tuple[int, ...], given: Document, *present: Document, operation: str = "UPDATE") -> str:
    request = {"uid": "1", "operation": operation, "name": "dsc", "object": given}
    kind = {"group": GROUP, "version": given["apiVersion"].rpartition("/")[2], "kind": "DataScienceCluster"}
    response = admission.respond({**request, "kind": kind}, present, version)
    assert response["allowed"] == ("status" not in response)
    return str(response.get("status", {}).get("message", ""))


V1_REFUSED = (
    "cannot modify DataScienceCluster using v1 API: v2-only components are currently Managed: [mlflowoperator]. "
    "Use the v2 API instead, or first disable v2-only components via v2 API."
)


@pytest.mark.parametrize(
    ("version", "api", "present", "message"),
    [
        (V3_3, "v1", {"mlflowoperator": "Managed"}, ""),
        (V3_4, "v1", {"mlflowoperator": "Managed"}, V1_REFUSED),
        (V3_4, "v2", {"mlflowoperator": "Managed"}, ""),
        (V3_4, "v1", {"mlflowoperator": "Removed"}, ""),
    ],
)
def test_3_4_refuses_v1_updates_that_remove_components(
    version: tuple[int, ...], api: str, present: dict[str, str], message: str
) -> None:
    assert refusal(version, cluster(api, ray="Managed"), cluster("v2", **present)) == message


@pytest.mark.parametrize(
    ("version", "message"), [(V3_3, ""), (V3_4, "Managed is no longer supported as a managementState")]
)
def test_3_4_refuses_a_managed_kueue(version: tuple[int, ...], message: str) -> None:
    assert refusal(version, cluster("v2", kueue="Managed"), operation="CREATE") == message
    assert refusal(version, cluster("v2", kueue="Unmanaged"), operation="CREATE") == ""


@pytest.mark.parametrize(("version", "api"), [((2, 25, 4), "v1"), (V3_4, "v2")])
def test_second_cluster_is_refused(version: tuple[int, ...], api: str) -> None:
    message = "Only one instance of DataScienceCluster object is allowed"
    assert refusal(version, cluster(api), cluster(api), operation="CREATE") == message
