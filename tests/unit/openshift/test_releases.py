"""The generation of OpenShift AI that a cluster has or gets, and the generation that a flow requires."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_packages import PackageRequest
from ansible_collections.psap.perf.plugins.module_utils.openshift.releases import (
    Needs,
    Release,
    check_release,
    installed_release,
    offered_release,
)

CHANNELS = {"stable": "2.19.1", "stable-2.25": "2.25.4", "stable-3.x": "3.4.1"}
PACKAGE: dict[str, Any] = {
    "metadata": {"name": "rhods-operator"},
    "status": {
        "defaultChannel": "stable",
        "channels": [
            {
                "name": name,
                "currentCSV": f"rhods-operator.{version}",
                "currentCSVDesc": {"version": version},
                "entries": [{"name": "rhods-operator.3.3.0", "version": "3.3.0"}] if "3" in name else [],
            }
            for name, version in CHANNELS.items()
        ],
    },
}


def subscription(name: str, **status: str) -> dict[str, Any]:
    return {"spec": {"name": name}, "status": status}


@pytest.mark.parametrize(
    ("status", "version", "generation"),
    [
        ({"installedCSV": "rhods-operator.2.25.4", "currentCSV": "rhods-operator.3.3.0"}, "2.25.4", 2),
        ({"currentCSV": "rhods-operator.v3.4.1"}, "3.4.1", 3),
        ({}, "", 0),
    ],
)
def test_installed_release_is_read_from_its_subscription(status: dict[str, str], version: str, generation: int) -> None:
    found = installed_release([subscription("nfd"), subscription("rhods-operator", **status)])
    assert found is not None
    assert (found.version, found.generation, found.installed) == (version, generation, True)
    assert installed_release([subscription("nfd")]) is None


@pytest.mark.parametrize(
    ("package_request", "tag", "version"),
    [
        (PackageRequest(), "", "2.19.1"),
        (PackageRequest(channel="stable-3.x"), "", "3.4.1"),
        (PackageRequest(channel="stable-3.x", version="3.3.0"), "", "3.3.0"),
        (PackageRequest(), "rhoai-3.4", "3.4"),
        (PackageRequest(), "nightly", ""),
    ],
)
def test_future_release_follows_from_the_settings(package_request: PackageRequest, tag: str, version: str) -> None:
    assert offered_release("rhods-operator", PACKAGE, package_request, tag).version == version


def test_catalog_without_the_package_keeps_the_settings_version() -> None:
    found = offered_release("opendatahub-operator", None, PackageRequest(version="3.4.0", channel="fast"), "")
    assert (found.product, found.generation) == ("Open Data Hub", 3)
    assert offered_release("rhods-operator", None, PackageRequest(), "").generation == 0


def release_of(channel: str) -> Release:
    return offered_release("rhods-operator", PACKAGE, PackageRequest(channel=channel), "")


INSTALLED = Release(version="3.4.1", installed=True, origin="is installed on the cluster")


@pytest.mark.parametrize(
    ("release", "needs", "error", "message"),
    [
        (
            release_of("stable-3.x"),
            Needs(components=["kserve", "modelmeshserving", "codeflare"]),
            UsageError,
            "OpenShift AI 3.4.1 is what channel stable-3.x of rhods-operator installs: generation 3 has no component "
            "modelmeshserving, codeflare; install generation 2 (set rhoai_channel to stable or stable-2.25), or use "
            "settings for generation 3",
        ),
        (
            INSTALLED,
            Needs([2], "it serves models by ModelMesh"),
            ClusterError,
            "OpenShift AI 3.4.1 is installed on the cluster: the flow supports generation 2, since it serves models by "
            "ModelMesh; use a cluster with generation 2, or settings for generation 3",
        ),
        (
            INSTALLED,
            Needs(components=["datasciencepipelines"]),
            ClusterError,
            "OpenShift AI 3.4.1 is installed on the cluster: datasciencepipelines is called aipipelines there; use a "
            "cluster with generation 2, or settings for generation 3",
        ),
        (
            release_of(""),
            Needs(components=["trainer"]),
            UsageError,
            "OpenShift AI 2.19.1 is what channel stable of rhods-operator installs: generation 2 has no component "
            "trainer; install generation 3 (set rhoai_channel to stable-3.x), or use settings for generation 2",
        ),
    ],
)
def test_missing_features_of_a_generation_are_refused(
    release: Release, needs: Needs, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        check_release(release, needs)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("release", "needs"),
    [
        (Release(), Needs([2], "it does")),
        (Release(version="2.25.4"), Needs([2, 3], components=["codeflare", "datasciencepipelines"])),
        (INSTALLED, Needs(components=["kueue", "trainer", "aipipelines"])),
    ],
)
def test_features_of_a_generation_are_accepted(release: Release, needs: Needs) -> None:
    check_release(release, needs)
