"""When a pool of nodes has its whole configuration, and the message until then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.machine_configs import behind
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, NotReachedError, wait_for

GROUP = "machineconfiguration.openshift.io"
WORKERS = {"matchLabels": {f"{GROUP}/role": "worker"}}


def pool(target: str = "rendered-worker-1", has: str = "rendered-worker-1", **changes: Any) -> Manifest:
    names = ["00-worker", "50-file"]
    conditions = [{"type": "Updated", "status": "True" if target == has else "False"}, *changes.pop("conditions", ())]
    spec = {
        "configuration": {"name": target, "source": [{"name": name} for name in names]},
        "machineConfigSelector": WORKERS,
        "nodeSelector": {"matchLabels": {"node-role.kubernetes.io/worker": ""}},
        **changes,
    }
    counts = {"machineCount": 3, "updatedMachineCount": 1}
    status = {"configuration": {"name": has}, "observedGeneration": 1, "conditions": conditions, **counts}
    return {"metadata": {"name": "worker", "uid": "worker", "generation": 1}, "spec": spec, "status": status}


def config(name: str, **files: str) -> Manifest:
    entries = [{"path": f"/{path}", "contents": {"source": text}} for path, text in files.items()]
    return {"metadata": {"name": name}, "spec": {"config": {"storage": {"files": entries}}}}


def node(name: str, desired: str = "rendered-worker-1", current: str = "", state: str = "Done") -> Manifest:
    notes = {"desiredConfig": desired, "currentConfig": current or desired, "state": state}
    return {"metadata": {"name": name, "annotations": {f"{GROUP}/{key}": value for key, value in notes.items()}}}


class Cluster:
    """A cluster with pools, configurations and nodes."""

    def __init__(self, pools: list[Manifest], configs: list[Manifest], nodes: list[Manifest]) -> None:
        self.pools, self.configs, self.nodes = pools, configs, nodes

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        if query.kind == "Node":
            assert query.label_selector == "node-role.kubernetes.io/worker="
            return self.nodes, "1"
        if query.kind == "MachineConfigPool":
            return self.pools, "1"
        names = [query.name] if query.name else ["00-worker", "50-file", "60-other"]
        return [each for each in self.configs if each["metadata"]["name"] in names], "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        return iter(())


BASE = [config("00-worker", a="1"), config("50-file", b="2")]


@pytest.mark.parametrize(
    ("configs", "reason"),
    [
        ([*BASE, config("rendered-worker-1", a="1", b="2")], ""),
        # the later file of a path counts
        ([config("00-worker", b="0"), config("50-file", b="2"), config("rendered-worker-1", b="2")], ""),
        ([*BASE, config("60-other"), config("rendered-worker-1", a="1", b="2")], "60-other"),
        ([BASE[0], config("rendered-worker-1", a="1", b="2")], "50-file"),
        ([*BASE, config("rendered-worker-1", a="1", b="the former")], "/b"),
    ],
)
def test_pool_status_older_than_its_config_is_not_updated(configs: list[Manifest], reason: str) -> None:
    text = behind(Cluster([], configs, [node("a")]), pool())
    assert text == (f"its configuration does not have the changes yet: {reason}" if reason else "")


def test_late_nodes_of_the_pool_only_are_named() -> None:
    configs = [*BASE, config("rendered-worker-1", a="1", b="2")]
    late = [node(f"late-{number}", current="rendered-worker-0", state="Working") for number in range(4)]
    others = [node("other", desired="rendered-infra-1", current="rendered-infra-0"), node("done")]
    text = behind(Cluster([], configs, [*others, *late]), pool())
    assert text == "late-0 is Working, late-1 is Working, late-2 is Working and 1 more"


def goal(timeout_s: float) -> Goal:
    query = Query(f"{GROUP}/v1", "MachineConfigPool")
    return Goal(query, "the pool", (predicate_for("MachineConfigPool", "ready"),), timeout_s, pending=behind)


def test_wait_ignores_the_former_status_and_reports_the_backlog() -> None:
    configs = [*BASE, config("rendered-worker-1", a="1", b="the former")]
    cluster = Cluster([pool()], configs, [node("a", state="Working")])
    with pytest.raises(NotReachedError, match=r"its configuration does not have the changes yet: /b"):
        wait_for(cluster, goal(0.1), lambda: None, lambda _: None)
    cluster.pools, configs[-1] = [pool(target="rendered-worker-2")], config("rendered-worker-2", a="1", b="2")
    with pytest.raises(NotReachedError, match=r"1 of 3 nodes updated; worker: a is Working"):
        wait_for(cluster, goal(0.1), lambda: None, lambda _: None)
    cluster.pools, configs[-1] = [pool()], config("rendered-worker-1", a="1", b="2")
    cluster.nodes = [node("a")]
    assert wait_for(cluster, goal(5), lambda: None, lambda _: None).reached == 1


@pytest.mark.parametrize(
    ("obj", "reached", "hopeless", "note"),
    [
        (pool(), True, False, ""),
        (pool(has="rendered-worker-0"), False, False, "1 of 3 nodes updated"),
        (pool(has="rendered-worker-0", paused=True), False, True, "the pool is paused"),
        (
            pool(conditions=[{"type": "NodeDegraded", "status": "True", "reason": "1 nodes", "message": "Node a"}]),
            False,
            True,
            "NodeDegraded: 1 nodes: Node a",
        ),
    ],
)
def test_pool_state_follows_status_and_conditions(obj: Manifest, reached: bool, hopeless: bool, note: str) -> None:
    verdict = predicate_for("MachineConfigPool", "ready")(obj)
    assert (verdict.reached, verdict.hopeless) == (reached, hopeless)
    assert note in verdict.note


@pytest.mark.parametrize(
    ("generation", "kinds", "reached", "hopeless"),
    [
        (1, [], False, False),
        (1, ["Failure", "Success"], True, False),
        (1, ["Success", "Failure"], False, True),
        (2, ["Success"], False, False),
    ],
)
def test_last_condition_of_a_kubelet_config_counts(
    generation: int, kinds: list[str], reached: bool, hopeless: bool
) -> None:
    status = {"observedGeneration": 1, "conditions": [{"type": kind} for kind in kinds]}
    verdict = predicate_for("KubeletConfig", "ready")({"metadata": {"generation": generation}, "status": status})
    assert (verdict.reached, verdict.hopeless) == (reached, hopeless)


def version(desired: str, state: str, newest: str, **conditions: tuple[str, str]) -> Manifest:
    entries = [
        {"type": kind, "status": text[0], "reason": "R", "message": text[1]} for kind, text in conditions.items()
    ]
    history = [{"state": state, "image": newest}]
    status = {"desired": {"image": desired}, "history": history, "conditions": entries}
    return {"metadata": {}, "spec": {"desiredUpdate": {"image": "new"}}, "status": status}


@pytest.mark.parametrize(
    ("state", "obj", "reached", "hopeless"),
    [
        ("accepted", version("new", "Partial", "new"), True, False),
        ("accepted", version("old", "Completed", "old", ReleaseAccepted=("False", 'image="new" failure')), False, True),
        # messages about another image, and before any
        ("accepted", version("old", "Completed", "old", ReleaseAccepted=("False", 'image="other"')), False, False),
        ("ready", version("new", "Completed", "new"), True, False),
        # the former update is complete, and the new one is not in the history yet
        ("ready", version("new", "Completed", "old"), False, False),
        ("ready", version("new", "Partial", "new", Progressing=("True", "Working towards")), False, False),
        ("ready", version("new", "Partial", "new", Failing=("True", "dns")), False, True),
    ],
)
def test_update_state_follows_history_and_conditions(state: str, obj: Manifest, reached: bool, hopeless: bool) -> None:
    verdict = predicate_for("ClusterVersion", state)(obj)
    assert (verdict.reached, verdict.hopeless) == (reached, hopeless)
