"""Deletion of objects while a controller creates new ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.deleting import delete_matching
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

PODS = Query("v1", "Pod", "monitoring", label_selector="app=prometheus")


def _pod(uid: str, **metadata: str) -> Manifest:
    return {"metadata": {"name": "prometheus-0", "uid": uid, **metadata}}


class _Cluster:
    """List the old pod until the pods are deleted, then the objects in `after`."""

    def __init__(self, after: list[Manifest]) -> None:
        self._shown = [_pod("old")]
        self._after = after

    def serves(self, *_kind: str) -> bool:
        return True

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        return self._shown, "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        return iter(())

    def delete_collection(self, query: Query) -> None:
        self._shown = self._after


def _delete(after: list[Manifest]) -> list[str]:
    cluster: Any = _Cluster(after)
    return delete_matching(cast(Cluster, cluster), PODS, check_mode=False, timeout_s=0.1, check=lambda: None)


def test_recreated_object_is_not_awaited() -> None:
    assert _delete([_pod("new")]) == ["prometheus-0"]


def test_objects_still_being_deleted_are_reported() -> None:
    with pytest.raises(WaitTimeoutError, match="1 of Pod objects in monitoring with app=prometheus are still there"):
        _delete([_pod("old", deletionTimestamp="2026-01-01T00:00:00Z"), _pod("new")])


def test_namespaces_are_deleted_one_by_one() -> None:
    deleted = []

    class Namespaces(_Cluster):
        def delete(self, query: Query) -> bool:
            deleted.append((query.name, query.label_selector))
            self._shown = self._after
            return True

        def delete_collection(self, query: Query) -> None:
            raise AssertionError("an API server answers 405")

    cluster: Any = Namespaces([])
    query = Query("v1", "Namespace", label_selector="app=prometheus")
    delete_matching(cast(Cluster, cluster), query, check_mode=False, timeout_s=0.1, check=lambda: None)
    assert deleted == [("prometheus-0", None)]
