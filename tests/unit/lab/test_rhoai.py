"""The emulated operator of OpenShift AI in both generations, and the consistency of its data."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml
from perflab import profiles
from perflab.catalogs.packages import packages
from perflab.cluster.api import Document
from perflab.emulators.framework.resources import DATA_SCIENCE_CLUSTERS, DSC_INITIALIZATIONS

from .memory_api import APPS, CRDS, MemoryApi, conditions, found, rolled_out, run_operator, settle, with_kind

FOLDER = profiles.folder("rhoai")
PRODUCT = yaml.safe_load((FOLDER / "product.yaml").read_text())
COMPONENTS = {
    generation: {component["name"] for component in listed}
    for generation, listed in PRODUCT["vars"]["components"].items()
}
DSC = "/apis/datasciencecluster.opendatahub.io/v2/datascienceclusters"
DSCI = "/apis/dscinitialization.opendatahub.io/v2/dscinitializations"
VERSIONS = "/apis/operators.coreos.com/v1alpha1/namespaces/openshift-kueue-operator/clusterserviceversions"
APPLICATIONS = APPS.format("redhat-ods-applications", "deployments")


@pytest.mark.parametrize(("version", "name"), [("2.25.4", "v1"), ("3.4.1", "v2")])
def test_schema_has_the_emulated_components(version: str, name: str) -> None:
    package = next(each for each in packages() if each.name == "rhods-operator")
    clusters, initializations = package.crds_of(version)
    (schema,) = (each["schema"]["openAPIV3Schema"] for each in clusters["spec"]["versions"] if each["name"] == name)
    components = schema["properties"]["spec"]["properties"]["components"]["properties"]
    assert set(components) == COMPONENTS[int(version[0])]
    for resource, crd in ((DATA_SCIENCE_CLUSTERS, clusters), (DSC_INITIALIZATIONS, initializations)):
        assert crd["metadata"]["name"] == f"{resource.plural}.{resource.group}"
        assert crd["spec"]["names"]["kind"] == resource.kind


def test_product_tables_agree() -> None:
    every = COMPONENTS[2] | COMPONENTS[3]
    for table in ("deployed", "kinds", "images"):
        assert {entry["component"] for entry in PRODUCT["vars"][table]} <= every
    assert {entry["component"] for entry in PRODUCT["vars"]["deployed"]} == every


def run_rhoai(
    tmp_path: Path, *, version: str = "3.4.1", operators: tuple[str, ...] = (), **components: str
) -> MemoryApi:
    """Return a lab with generation 3 once its operator is idle."""

    async def run() -> MemoryApi:
        api = MemoryApi()
        with_kind(api, "dscinitializations.dscinitialization.opendatahub.io/v2", "imagestreams.image.openshift.io/v1")
        with_kind(api, "datascienceclusters.datasciencecluster.opendatahub.io/v2", "kueues.kueue.openshift.io/v1")
        with_kind(api, "clusterserviceversions.operators.coreos.com/v1alpha1")
        run_operator(api, "rhods-operator", "redhat-ods-operator", **{"olm.owner": f"rhods-operator.{version}"})
        for name in operators:
            api.put(VERSIONS, {"metadata": {"name": name}, "spec": {}})
        spec = {name: {"managementState": state} for name, state in components.items()}
        document = {"apiVersion": "datasciencecluster.opendatahub.io/v2", "metadata": {"name": "dsc"}}
        api.put(DSC, {**document, "spec": {"components": spec}})

        async def ready() -> None:
            rolled_out(api, "redhat-ods-applications", "deployments")

        await settle(api, "rhoai", tmp_path, ready)
        return api

    return asyncio.run(run())


def message(cluster: Document, kind: str) -> str:
    return next(str(each["message"]) for each in cluster["status"]["conditions"] if each["type"] == kind)


def test_generation_3_is_ready_with_its_components(tmp_path: Path) -> None:
    api = run_rhoai(tmp_path, ray="Managed", aipipelines="Managed", mlflowoperator="Managed", kserve="Managed")
    cluster = found(api, f"{DSC}/dsc")
    assert cluster["status"]["phase"] == "Ready", cluster["status"]["conditions"]
    assert "installedComponents" not in cluster["status"]
    assert cluster["status"]["release"]["version"] == "3.4.1"
    expected = {
        "AIPipelinesReady": "True",
        "MLflowOperatorReady": "True",
        "KserveReady": "True",
        "TrainerReady": "False",
    }
    assert conditions(cluster) | expected == conditions(cluster)
    assert "serviceMesh" not in found(api, f"{DSCI}/default-dsci")["spec"]
    assert "SparkOperatorReady" in conditions(cluster)
    assert "SparkOperatorReady" not in conditions(found(run_rhoai(tmp_path, version="3.3.0"), f"{DSC}/dsc"))


@pytest.mark.parametrize(
    ("state", "operators", "expected"),
    [
        ("Managed", (), "Kueue managementState Managed is not supported, please use Removed or Unmanaged"),
        (
            "Unmanaged",
            ("other.v1",),
            "Kueue operator not installed, install it or change kueue component state to Removed",
        ),
    ],
)
def test_generation_3_refuses_an_unsupported_kueue(
    state: str, operators: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    api = run_rhoai(tmp_path, operators=operators, kueue=state)
    cluster = found(api, f"{DSC}/dsc")
    assert cluster["status"]["phase"] == "Not Ready"
    assert message(cluster, "KueueReady") == expected
    assert not [key for key in api.objects if key[2] in ("kueues", "deployments") and "kueue" in key[3]]


def test_generation_3_configures_the_kueue_of_its_operator(tmp_path: Path) -> None:
    api = run_rhoai(tmp_path, operators=("kueue-operator.v1.1.0",), kueue="Unmanaged")
    cluster = found(api, f"{DSC}/dsc")
    assert (cluster["status"]["phase"], conditions(cluster)["KueueReady"]) == ("Ready", "True")
    assert cluster["status"]["components"]["kueue"] == {"managementState": "Unmanaged"}
    assert found(api, "/apis/kueue.openshift.io/v1/kueues/cluster")["spec"]["managementState"] == "Managed"
    assert api.find(f"{APPLICATIONS}/kueue-controller-manager") is None
    assert api.find(f"{CRDS}/appwrappers.workload.codeflare.dev") is None
