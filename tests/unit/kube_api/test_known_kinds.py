"""API versions of kinds that a task names without one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api import known_kinds
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import (
    API_VERSIONS,
    api_version_of,
    group_of,
    is_group,
    versions_of,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query, query_from

_LAB = Path(__file__).parents[3] / "lab/src"


def test_version_of_a_known_kind_is_optional() -> None:
    assert query_from({"kind": "Deployment", "name": "a"}) == Query("apps", "Deployment", name="a")
    knative = {"kind": "Service", "api_version": "serving.knative.dev/v1", "namespace": "models"}
    assert query_from(knative) == Query("serving.knative.dev/v1", "Service", namespace="models")
    assert api_version_of("Unheard", "example.com/v1") == "example.com/v1"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Deploymnt", "pass the api_version of Deploymnt, which is not a known kind; did you mean Deployment?"),
        ("Unheard", "pass the api_version of Unheard, which is not a known kind"),
    ],
)
def test_unknown_kind_requires_a_version(kind: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        query_from({"kind": kind, "api_version": None})
    assert str(caught.value) == message


def test_no_kind_has_two_versions() -> None:
    kinds = [kind for names in known_kinds._KINDS.values() for kind in names.split()]
    assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize(
    ("api_version", "group"),
    [
        ("v1", None),
        ("v1beta2", None),
        ("batch/v1", None),
        ("batch", "batch"),
        ("kueue.x-k8s.io", "kueue.x-k8s.io"),
        ("kueue.x-k8s.io/v1beta1", None),
    ],
)
def test_group_is_distinguished_from_a_version(api_version: str, group: str | None) -> None:
    assert is_group(api_version) == (group is not None)
    assert group_of(api_version) == (group or api_version.rpartition("/")[0])


def test_preferred_version_comes_first() -> None:
    listed = [{"groupVersion": f"ray.io/{version}"} for version in ("v1alpha1", "v1", "v1beta1")]
    group = {"versions": listed, "preferredVersion": {"groupVersion": "ray.io/v1"}}
    assert versions_of(group) == ["ray.io/v1", "ray.io/v1alpha1", "ray.io/v1beta1"]
    assert versions_of({}) == []


def _definitions() -> dict[str, set[str]]:
    """Return the kinds in the lab's definitions, by API version and by group."""
    served: dict[str, set[str]] = {}
    for path in sorted(_LAB.rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                spec: Any = document["spec"]
                for version in spec["versions"]:
                    for name in (spec["group"], f"{spec['group']}/{version['name']}"):
                        served.setdefault(name, set()).add(spec["names"]["kind"])
    return served


def test_lab_serves_its_kinds_in_their_known_groups() -> None:
    served = _definitions()
    # one contains a kind for every operator of OpenShift, the other also kinds that the training operator brings
    groups = {group_of(name) for name in served} - {"operator.openshift.io", "kubeflow.org"}
    wrong = {
        kind: version
        for kind, version in API_VERSIONS.items()
        # which OpenShift derives from ImageStreams, without a definition
        if kind != "ImageStreamTag" and group_of(version) in groups and kind not in served.get(version, set())
    }
    assert len(groups) > 10
    assert not wrong
