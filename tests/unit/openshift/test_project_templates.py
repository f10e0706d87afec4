"""Annotations of new projects: changes of the project template, and test projects."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.openshift import projects
from ansible_collections.psap.perf.plugins.module_utils.openshift.projects import (
    OWN_NAME,
    Change,
    Trial,
    bootstrap,
    change_for,
    try_until,
    with_annotation,
)

OWN = {"app.kubernetes.io/managed-by": "psap.perf"}
KEY = "openshift.io/node-selector"


def with_name(template: Manifest, name: str, labels: dict[str, str] | None = None) -> Manifest:
    return {**template, "metadata": {**template["metadata"], "name": name, "labels": labels or {}}}


def annotations_in(change: Change) -> dict[str, str]:
    assert change.template is not None
    found: dict[str, str] = change.template["objects"][0]["metadata"]["annotations"]
    return found


def test_template_is_derived_from_openshifts_default() -> None:
    change = change_for(None, [], KEY, "gpu=true")
    assert (change.is_own, change.name) == (True, OWN_NAME)
    assert annotations_in(change) == {**annotations_in(Change(bootstrap(), True, "")), KEY: "gpu=true"}


def test_administrators_template_is_changed_and_stays_theirs() -> None:
    theirs = with_name(with_annotation(bootstrap(), "team", "a"), "theirs")
    change = change_for("theirs", [theirs], KEY, "gpu=true")
    assert (change.is_own, change.name) == (False, "theirs")
    assert annotations_in(change)["team"] == "a"
    assert KEY not in theirs["objects"][0]["metadata"]["annotations"]


def test_own_template_goes_with_its_last_annotation() -> None:
    ours = with_name(with_annotation(with_annotation(bootstrap(), KEY, "1"), "other", "2"), OWN_NAME, OWN)
    without = change_for(OWN_NAME, [ours], KEY, None)
    assert annotations_in(without)["other"] == "2"
    assert change_for(OWN_NAME, [with_name(without.template or {}, OWN_NAME, OWN)], "other", None).template is None


def test_administrators_template_is_never_deleted() -> None:
    assert change_for("theirs", [with_name(bootstrap(), "theirs")], KEY, None).template is not None


def test_removal_without_annotations_needs_no_template() -> None:
    assert change_for(None, [], KEY, None) == Change(None, True, OWN_NAME)


def test_configured_template_must_exist() -> None:
    with pytest.raises(ClusterError, match="names the Template theirs, which is not in openshift-config"):
        change_for("theirs", [], KEY, "1")


def test_template_without_a_project_is_refused() -> None:
    with pytest.raises(ClusterError, match="makes 0 Projects instead of one"):
        with_annotation({"metadata": {"name": "odd"}, "objects": []}, KEY, "1")


LABELS = {"psap.perf/temporary": "run"}


class FakeCluster:
    """Create projects whose annotation has one value after the other; `late` reads pass before each exists."""

    def __init__(self, values: list[str | None], late: int = 0) -> None:
        self.values = values
        self.late = late
        self.made: list[str] = []
        self.deleted: list[str | None] = []
        self.labelled: dict[str, dict[str, str]] = {}

    def create(self, manifest: Manifest) -> Manifest:
        self.made.append(manifest["metadata"]["name"])
        return manifest

    def get(self, query: Query) -> Manifest | None:
        if self.late:
            self.late -= 1
            return None
        value = self.values[len(self.made) - 1]
        metadata: dict[str, Any] = {"name": query.name, "annotations": {KEY: value} if value is not None else None}
        return {"metadata": metadata}

    def merge(self, query: Query, patch: Manifest) -> Manifest:
        assert query.name not in self.deleted
        self.labelled[str(query.name)] = patch["metadata"]["labels"]
        return patch

    def delete(self, query: Query) -> bool:
        self.deleted.append(query.name)
        return True


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "_BETWEEN_TRIALS_S", 0)
    monkeypatch.setattr(projects, "_POLL_S", 0)


def test_test_projects_are_created_until_one_is_right_and_deleted() -> None:
    cluster = FakeCluster([None, "old", "new"], late=2)
    assert try_until(cluster, Trial(KEY, "new", 10, LABELS), lambda: None) == 3
    assert len(set(cluster.made)) == 3
    assert cluster.deleted == cluster.made
    assert cluster.labelled == dict.fromkeys(cluster.made, LABELS)


def test_removed_annotation_is_awaited() -> None:
    assert try_until(FakeCluster(["old", None]), Trial(KEY, None, 10, LABELS), lambda: None) == 2


def test_timeout_reports_the_last_state() -> None:
    cluster = FakeCluster(["old"])
    with pytest.raises(WaitTimeoutError, match=rf"within 0 s: {KEY} is 'old' instead of 'new'"):
        try_until(cluster, Trial(KEY, "new", 0, LABELS), lambda: None)
    assert cluster.deleted == cluster.made


def test_late_project_is_reported_and_deleted() -> None:
    cluster = FakeCluster([None], late=10**6)
    with pytest.raises(WaitTimeoutError, match="requested is not there after 0 s: psap-perf-trial-"):
        try_until(cluster, Trial(KEY, "new", 0, LABELS), lambda: None)
    assert cluster.deleted == cluster.made
