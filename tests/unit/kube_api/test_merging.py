"""Patching objects of a server in memory, and values in a YAML text."""

from __future__ import annotations

import copy
from typing import Any, cast

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.merge_patch import merged
from ansible_collections.psap.perf.plugins.module_utils.kube_api.applying import Outcome
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.merging import (
    Change,
    configured,
    patch_all,
    touched,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

THEIRS = "# of the team of the cluster\nprometheusK8s: {retention: 30d}\nenableUserWorkload: false\n"
CONFIGURATION = Query("v1", "ConfigMap", namespace="monitoring", name="c")


class Server:
    """Merges like a real cluster; labels in capitals become lower case, as by a default or a webhook."""

    def __init__(self, *objects: Manifest) -> None:
        self.objects = {item["metadata"]["name"]: item for item in objects}
        self.calls: list[str] = []

    def serves(self, _api_version: str, kind: str) -> bool:
        return kind in ("Node", "Secret", "ConfigMap")

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        found = [item for name, item in self.objects.items() if query.name in (None, name)]
        return copy.deepcopy(found), "1"

    def merge(self, query: Query, patch: Manifest, *, dry_run: bool = False) -> Manifest:
        result = merged(self.objects[str(query.name)], patch)
        if labels := result["metadata"].get("labels"):
            result["metadata"]["labels"] = {name: value.lower() for name, value in labels.items()}
        self._keep("patch", result, dry_run)
        return result

    def apply(self, manifest: Manifest) -> Manifest:
        self._keep("create", manifest, False)
        return manifest

    def _keep(self, verb: str, item: Manifest, dry_run: bool) -> None:
        name = item["metadata"]["name"]
        self.calls.append(f"{verb} {name}{' dry' if dry_run else ''}")
        if not dry_run:
            self.objects[name] = copy.deepcopy(item)


def thing(kind: str, name: str, **fields: Any) -> Manifest:
    labels = fields.pop("labels", None)
    metadata = {"name": name, **({"labels": labels} if labels else {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def nodes() -> Server:
    return Server(thing("Node", "a", labels={"gpu": "yes", "zone": "1"}), thing("Node", "b", labels={"zone": "1"}))


def patch(
    server: Server, query: Query, values: dict[str, Any], key: str | None = None, *, check: bool = False
) -> list[Outcome]:
    return patch_all(cast(Cluster, server), query, Change(values, key), check, lambda: None)


def label(**labels: str | None) -> dict[str, Any]:
    return {"metadata": {"labels": labels}}


def test_only_differing_objects_are_patched() -> None:
    server = nodes()
    outcomes = patch(server, Query("v1", "Node"), label(gpu=None))
    assert [(item.title, item.before, item.after) for item in outcomes] == [
        ("Node a", "metadata:\n  labels:\n    gpu: 'yes'\n", "metadata:\n  labels: {}\n")
    ]
    assert server.objects["a"]["metadata"]["labels"] == {"zone": "1"}
    assert server.calls == ["patch a"]


def test_patch_without_effect_is_no_change() -> None:
    server = nodes()
    assert patch(server, Query("v1", "Node", name="a"), label(gpu="YES")) == []
    assert server.calls == ["patch a"]


def test_check_mode_shows_changes_without_making_them() -> None:
    server = nodes()
    before = copy.deepcopy(server.objects)
    assert len(patch(server, Query("v1", "Node"), label(zone="2"), check=True)) == 2
    assert (server.objects, server.calls) == (before, ["patch a dry", "patch b dry"])


@pytest.mark.parametrize("kind", ["Node", "Unknown"])
def test_missing_object_fails_unless_created_earlier(kind: str) -> None:
    query = Query("v1", kind, name="c")
    with pytest.raises(ClusterError, match=f"found no {kind} c to patch"):
        patch(Server(), query, label(zone="2"))
    (outcome,) = patch(Server(), query, label(zone="2"), check=True)
    assert outcome.after == "metadata:\n  labels:\n    zone: '2'\n"


@pytest.mark.parametrize("server", [Server(), Server(thing("Secret", "s", data={"token": "b2xk"}))])
def test_secret_values_are_hidden(server: Server) -> None:
    (outcome,) = patch(server, Query("v1", "Secret", name="s"), {"data": {"token": "bmV3"}}, check=True)
    assert not any(value in outcome.before + outcome.after for value in ("bmV3", "b2xk"))
    assert "token" in outcome.after


def test_stop_request_ends_patching() -> None:
    def stop() -> None:
        raise Interrupted("interrupted")

    server = nodes()
    with pytest.raises(Interrupted):
        patch_all(cast(Cluster, server), Query("v1", "Node"), Change(label(zone="2")), False, stop)
    assert server.calls == []


def test_text_is_changed_in_its_key() -> None:
    server = Server(thing("ConfigMap", "c", data={"config.yaml": THEIRS, "other": "kept"}))
    assert len(patch(server, CONFIGURATION, {"enableUserWorkload": True}, "config.yaml")) == 1
    data = server.objects["c"]["data"]
    assert yaml.safe_load(data["config.yaml"]) == {"prometheusK8s": {"retention": "30d"}, "enableUserWorkload": True}
    assert data["other"] == "kept"
    assert patch(server, CONFIGURATION, {"enableUserWorkload": True}, "config.yaml") == []


def test_missing_config_map_is_created() -> None:
    server = Server()
    assert len(patch(server, CONFIGURATION, {"a": 1}, "config.yaml", check=True)) == 1
    assert server.calls == []
    assert len(patch(server, CONFIGURATION, {"a": 1}, "config.yaml")) == 1
    assert server.calls == ["create c"]
    assert patch(server, CONFIGURATION, {"a": 1}, "config.yaml") == []


def test_only_patched_fields_are_shown() -> None:
    item = {"spec": {"replicas": 1, "template": {"spec": {}}}, "status": {}}
    assert touched(item, {"spec": {"replicas": {"a": 1}, "paused": True}}) == {"spec": {"replicas": 1}}


def test_foreign_values_are_kept() -> None:
    text = configured(THEIRS, {"enableUserWorkload": True, "prometheusK8s": {"logLevel": "warn"}}, "config.yaml")
    assert yaml.safe_load(text) == {
        "prometheusK8s": {"retention": "30d", "logLevel": "warn"},
        "enableUserWorkload": True,
    }


@pytest.mark.parametrize(
    "values", [{"enableUserWorkload": False}, {"prometheusK8s": {"retention": "30d"}}, {"nothing": None}]
)
def test_unchanged_text_keeps_its_comments(values: dict[str, Any]) -> None:
    assert configured(THEIRS, values, "config.yaml") == THEIRS


def test_null_removes_a_key() -> None:
    assert yaml.safe_load(configured(THEIRS, {"prometheusK8s": None}, "config.yaml")) == {"enableUserWorkload": False}


def test_written_text_is_stable() -> None:
    text = configured("", {"prometheus": {"retention": "15d"}}, "config.yaml")
    assert configured(text, {"prometheus": {"retention": "15d"}}, "config.yaml") == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "is not YAML"),
        ("- a\n", "must be a dictionary, not a list"),
        ("just words", "must be a dictionary, not a str"),
    ],
)
def test_invalid_text_is_refused_and_kept(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=rf"^config\.yaml of ConfigMap c {why}"):
        configured(text, {"a": 1}, "config.yaml of ConfigMap c")
