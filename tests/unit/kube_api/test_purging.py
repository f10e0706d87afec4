"""Removing kinds with their objects from a server in memory that honours finalizers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.purging import Patience, definitions, purge
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

Key = tuple[str, str]
DEFINITION = "CustomResourceDefinition"


def crd(name: str, labels: dict[str, str] | None = None) -> Manifest:
    plural, _, group = name.partition(".")
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": DEFINITION,
        "metadata": {"name": name, "uid": f"uid-{name}", **({"labels": labels} if labels else {})},
        "spec": {
            "group": group,
            "names": {"kind": plural},
            "versions": [{"name": "v1alpha1", "served": False}, {"name": "v1", "served": True}],
        },
    }


def thing(kind: str, name: str, *finalizers: str) -> Manifest:
    metadata: dict[str, Any] = {"name": name, "namespace": "n", "uid": f"uid-{name}"}
    if finalizers:
        metadata["finalizers"] = list(finalizers)
    return {"apiVersion": "x.io/v1", "kind": kind, "metadata": metadata}


class Server:
    """Objects by kind and name; one with finalizers remains until they are removed."""

    def __init__(self, *objects: Manifest, stubborn: str = "", remade: str = "") -> None:
        self.objects = {(item["kind"], item["metadata"]["name"]): copy.deepcopy(item) for item in objects}
        self.stubborn = stubborn
        self.remade = remade
        self.calls: list[str] = []
        self.versions: set[str] = set()

    def serves(self, api_version: str, _kind: str) -> bool:
        self.versions.add(api_version)
        return True

    def get(self, query: Query) -> Manifest | None:
        return self.objects.get((query.kind, str(query.name)))

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        items = [item for (kind, name), item in self.objects.items() if kind == query.kind]
        chosen = [item for item in items if query.name in (None, item["metadata"]["name"])]
        return copy.deepcopy(chosen), "1"

    def watch(self, _query: Query, _version: str, _timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        yield from ()

    def delete(self, query: Query) -> bool:
        self.calls.append(f"delete {query.name}")
        item = self.objects[query.kind, str(query.name)]
        item["metadata"]["deletionTimestamp"] = "now"
        self._end(item)
        return True

    def merge(self, query: Query, patch: Manifest) -> Manifest:
        self.calls.append(f"free {query.name}")
        item = self.objects[query.kind, str(query.name)]
        item["metadata"].update(patch["metadata"])
        self._end(item)
        return item

    def _end(self, item: Manifest) -> None:
        name = item["metadata"]["name"]
        if not item["metadata"].get("finalizers") and name != self.stubborn:
            del self.objects[item["kind"], name]
            if name == self.remade:
                self.objects[item["kind"], name] = thing(item["kind"], name)
                self.objects[item["kind"], name]["metadata"]["uid"] = "uid-second"


def purge_kinds(server: Server, *, check_mode: bool = False, controllers_s: float = 0.0, timeout_s: float = 0.2) -> Any:
    cluster = cast(Cluster, server)
    found = definitions(cluster, ["x.io"], ["made-by-x"], ["b.x.io"])
    return purge(cluster, found, Patience(controllers_s, timeout_s, lambda: None), check_mode=check_mode)


def test_foreign_definitions_stay_and_labelled_ones_go() -> None:
    ours = (crd("a.x.io"), crd("c.sub.x.io"), crd("notebooks.kubeflow.org", {"made-by-x": "true"}))
    others = (crd("pytorchjobs.kubeflow.org"), crd("d.notx.io"))
    server = Server(*ours, *others)
    assert [item.definition for item in purge_kinds(server)] == ["a.x.io", "c.sub.x.io", "notebooks.kubeflow.org"]
    assert sorted(name for _kind, name in server.objects) == ["d.notx.io", "pytorchjobs.kubeflow.org"]


def test_objects_go_before_definitions_in_the_given_order() -> None:
    server = Server(crd("a.x.io"), crd("b.x.io"), thing("a", "one"), thing("b", "two"))
    purge_kinds(server)
    assert server.calls == ["delete two", "delete one", "delete b.x.io", "delete a.x.io"]


def test_unhandled_finalizers_are_removed_and_reported() -> None:
    server = Server(crd("a.x.io"), thing("a", "held", "x.io/finalizer"), thing("a", "free"))
    assert [item.freed for item in purge_kinds(server)] == [("a n/held",)]
    assert not server.objects


def test_controllers_get_time_before_finalizers_are_removed() -> None:
    server = Server(crd("a.x.io"), thing("a", "held", "x.io/finalizer"))
    with pytest.raises(WaitTimeoutError, match=r"1 of a objects are still there .*a n/held"):
        purge_kinds(server, controllers_s=60.0)
    assert "free held" not in server.calls


def test_remaining_objects_are_named_at_the_timeout() -> None:
    server = Server(crd("a.x.io"), thing("a", "stays"), stubborn="stays")
    with pytest.raises(WaitTimeoutError, match="a n/stays"):
        purge_kinds(server)


def test_recreated_object_is_not_awaited() -> None:
    server = Server(crd("a.x.io"), thing("a", "config"), remade="config")
    assert [item.objects for item in purge_kinds(server)] == [("a n/config",)]


def test_check_mode_changes_nothing() -> None:
    server = Server(crd("a.x.io"), thing("a", "one"))
    assert [item.objects for item in purge_kinds(server, check_mode=True)] == [("a n/one",)]
    assert not server.calls


def test_objects_are_read_in_the_stored_version() -> None:
    definition = crd("models.x.io")
    definition["spec"]["versions"] = [
        {"name": "v1", "served": True, "storage": False},
        {"name": "v2", "served": True, "storage": True},
    ]
    server = Server(definition)
    purge(cast("Cluster", server), [definition], Patience(1, 1, lambda: None), check_mode=True)
    assert server.versions == {"x.io/v2"}
