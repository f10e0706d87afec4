"""The machines to delete when a MachineSet is scaled down."""

from __future__ import annotations

from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.machines.leaving import (
    Departures,
    departures,
    failed_machine,
    members,
    pods_of_users,
)

from .sets import aws, machine


def pod(node: str | None, phase: str = "Running", owner: str | None = None) -> dict[str, Any]:
    metadata = {"ownerReferences": [{"kind": owner}]} if owner else {}
    return {"metadata": metadata, "spec": {"nodeName": node} if node else {}, "status": {"phase": phase}}


def test_failed_machines_go_first_then_idle_ones() -> None:
    machines = [machine(name, of="a") for name in ("m1", "m2", "m3")] + [machine("m4", of="a", phase="Failed")]
    pods = {"m1": 2, "m3": 1}
    assert departures({"uid-of-a": 3}, machines, pods) == Departures(("m4",), ())
    assert departures({"uid-of-a": 1}, machines, pods).first == ("m2", "m3", "m4")


def test_failed_machines_that_stay_are_reported() -> None:
    machines = [machine("m1", of="a"), machine("m2", of="a", phase="Failed"), machine("m3", of="b", phase="Failed")]
    assert departures({"uid-of-a": 2}, machines, {}) == Departures((), ("m2",))


def test_no_machine_is_chosen_if_none_stays() -> None:
    assert departures({"uid-of-a": 0}, [machine("m1", of="a")], {}) == Departures((), ())


def test_machine_being_deleted_is_no_member() -> None:
    going = machine("m1", of="a")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert members([going, machine("m2", of="a")], "uid-of-a") == [machine("m2", of="a")]


def test_daemon_set_and_ended_pods_do_not_count() -> None:
    pods = [pod("n1"), pod("n1", "Pending", "ReplicaSet"), pod("n2", owner="DaemonSet"), pod("n2", "Succeeded")]
    assert pods_of_users([*pods, pod("n3", owner="Node"), pod(None, "Pending")]) == {"n1": 2}


class OneList:
    """A cluster with these Machines."""

    def __init__(self, machines: list[dict[str, Any]]) -> None:
        self.machines = machines

    def list(self, query: Query) -> tuple[list[dict[str, Any]], str]:
        assert query.label_selector is not None
        assert "cluster-api-machineset=gpus" in query.label_selector
        return self.machines, "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Any:
        raise AssertionError((query, resource_version, timeout_s))


def test_set_with_a_failed_machine_is_given_up() -> None:
    machines = [machine("m1", of="gpus"), machine("m2", of="gpus", phase="Failed")]
    assert failed_machine(OneList(machines), aws("gpus")) == "Machine m2 failed: InsufficientResources no capacity"
    assert failed_machine(OneList(machines[:1]), aws("gpus")) == ""
