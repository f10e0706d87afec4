"""The controller of LeaderWorkerSets, described in YAML, on an API server in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from .memory_api import APPS, MemoryApi, conditions, found, rolled_out, settle, with_kind

SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/models/leaderworkersets"
LABEL = "leaderworkerset.sigs.k8s.io"


def template(component: str) -> dict[str, Any]:
    metadata = {"labels": {"app.kubernetes.io/component": component}, "annotations": {"a": component}}
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": component}]}}


@pytest.mark.parametrize("led", [True, False])
def test_each_group_has_a_leader_and_workers(tmp_path: Path, led: bool) -> None:
    api = MemoryApi()
    with_kind(api, "leaderworkersets.leaderworkerset.x-k8s.io/v1")
    parts = {"size": 2, "workerTemplate": template("worker"), **({"leaderTemplate": template("leader")} if led else {})}
    api.put(SETS, {"metadata": {"name": "opt"}, "spec": {"replicas": 1, "leaderWorkerTemplate": parts}})

    async def roll_out() -> None:
        assert conditions(api.find(f"{SETS}/opt"))["Available"] == "False"
        rolled_out(api, "models", "statefulsets")

    asyncio.run(settle(api, "leader_worker_sets", tmp_path, roll_out))
    path = APPS.format("models", "statefulsets")
    made = {name: found(api, f"{path}/{name}")["spec"] for name in ("opt", "opt-0")}
    assert {name: spec["replicas"] for name, spec in made.items()} == {"opt": 1, "opt-0": 1}
    leader = made["opt"]["template"]
    assert leader["spec"] == template("leader" if led else "worker")["spec"]
    assert leader["metadata"]["labels"] == {
        "app.kubernetes.io/component": "leader" if led else "worker",
        f"{LABEL}/name": "opt",
        f"{LABEL}/worker-index": "0",
    }
    worker = made["opt-0"]["template"]
    assert worker["metadata"]["annotations"]["a"] == "worker"
    assert made["opt-0"]["selector"]["matchLabels"] == {f"{LABEL}/name": "opt", f"{LABEL}/group-index": "0"}
    assert made["opt-0"]["selector"]["matchLabels"].items() <= worker["metadata"]["labels"].items()
    assert conditions(found(api, f"{SETS}/opt")) == {"Available": "True", "Progressing": "False"}
