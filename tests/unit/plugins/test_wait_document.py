"""waiting.json describes what a command waits for, only while it waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ansible_collections.psap.perf.plugins.action.wait import ActionModule
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import Redactor
from ansible_collections.psap.perf.plugins.plugin_utils.verb import OPENED, VerbContext

from tests.schemas import check

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
ARGUMENTS = {
    "api_version": "v1",
    "kind": "Pod",
    "namespace": "x",
    "name": None,
    "label_selector": "app=redis",
    "field_selector": None,
    "conditions": ["ready"],
    "timeout": "5s",
    "count": None,
    "give_up_on": [],
    "patience": "0",
    "stable_for": "0",
}


class _Pods:
    """One pod, ready at the second read; keeps the content of the file before that read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.document: dict[str, Any] = {}

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        return [_pod({"phase": "Pending"})] if query.kind == "Pod" else [], "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        # The waiting thread reports the list asynchronously.
        never = threading.Event()
        for _look in range(400):
            if self._path.exists() or never.wait(0.01):
                break
        self.document = read_json(self._path)
        yield "MODIFIED", _pod(READY)


def _pod(status: dict[str, Any]) -> Manifest:
    return {"metadata": {"name": "redis-0", "namespace": "x", "uid": "1"}, "status": status}


def test_waiting_json_follows_its_schema_and_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "waiting.json"
    pods = _Pods(path)
    context = VerbContext(
        args=ARGUMENTS,
        check_mode=False,
        diff_mode=False,
        host="sutest",
        roles=("server_deploy_redis_server",),
        variables={OPENED: {"directories": {"server_deploy_redis_server": str(tmp_path)}}},
        run="toolbox-1",
        run_directory=tmp_path,
        interrupted=threading.Event(),
        finalizing=False,
        redactor=Redactor([]),
        _cluster=cast(Cluster, pods),
    )
    result = object.__new__(ActionModule).perform(context)
    assert check(pods.document) == "psap.perf/waiting/1"
    assert pods.document["last"].startswith("0 of 1; redis-0: ")
    assert not path.exists()
    assert [item["metadata"]["name"] for item in result.values["objects"]] == ["redis-0"]
