"""Pods that are deleted and whose successors are awaited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster, Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.replacing_pods import replace_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import NotReachedError

PODS = Query("v1", "Pod", "monitoring", label_selector="app=prometheus")


def _pod(uid: str, *, ready: bool = True) -> Manifest:
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {"metadata": {"name": "prometheus-0", "uid": uid}, "status": {"phase": "Running", "conditions": conditions}}


class _Cluster:
    """Shows `before` until the pods are deleted, then `after`."""

    def __init__(self, after: list[Manifest]) -> None:
        self._shown = [_pod("old")]
        self._after = after
        self.deleted: list[Query] = []

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        return self._shown, "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        return iter(())

    def delete_collection(self, query: Query) -> None:
        self.deleted.append(query)
        self._shown = self._after


def _replace(cluster: Any) -> None:
    replace_pods(cast(Cluster, cluster), PODS, [_pod("old")], 0.2, lambda: None)


def test_a_pod_of_the_same_name_counts_by_its_uid() -> None:
    cluster = _Cluster([_pod("new")])
    _replace(cluster)
    assert cluster.deleted == [PODS]


@pytest.mark.parametrize(
    ("after", "says"),
    [
        ([_pod("old")], "prometheus-0: it is still there"),
        ([_pod("new", ready=False)], "prometheus-0: Ready is False"),
        ([], "none there yet"),
    ],
)
def test_what_is_not_replaced_is_told(after: list[Manifest], says: str) -> None:
    with pytest.raises(NotReachedError, match=says):
        _replace(_Cluster(after))
