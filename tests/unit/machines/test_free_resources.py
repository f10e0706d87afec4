"""Free resources of a node, computed as the scheduler does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.machines.free_resources import free_of, is_usable, requests_of

MARGIN = {"cpu": "10m", "memory": "200Mi"}
RESOURCES = ["cpu", "memory", "nvidia.com/gpu"]


def node(ready: str = "True", **allocatable: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "n"},
        "spec": {},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": ready}]},
    }


def container(
    requests: dict[str, str] | None = None, limits: dict[str, str] | None = None, **more: str
) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def pod(*containers: dict[str, Any], phase: str = "Running", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"containers": list(containers), **spec}, "status": {"phase": phase}}


def test_whole_cores_and_kibibytes_are_parsed() -> None:
    empty = node(cpu="4", memory="16Gi", **{"nvidia.com/gpu": "8"})
    assert free_of(empty, [], RESOURCES, MARGIN) == {"cpu": "3990m", "memory": "16184Mi", "nvidia.com/gpu": "8"}


def test_requests_of_ended_pods_are_free_again() -> None:
    pods = [
        pod(container({"cpu": "1"})),
        pod(container({"cpu": "500m"}), phase="Pending"),
        pod(container({"cpu": "1"}), phase="Succeeded"),
        pod(container({"cpu": "1"}), phase="Failed"),
    ]
    assert free_of(node(cpu="4"), pods, ["cpu"], {}) == {"cpu": "2500m"}


@pytest.mark.parametrize("taken", ["4", "5", "3999999u"])
def test_used_or_small_remainders_are_left_out(taken: str) -> None:
    assert free_of(node(cpu="4", memory="1Gi"), [pod(container({"cpu": taken}))], ["cpu", "memory"], {}) == {
        "memory": "1024Mi"
    }


def test_node_without_the_resource_has_none_free() -> None:
    assert free_of(node(cpu="4"), [], ["nvidia.com/gpu"], {}) == {}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        (pod(container({"cpu": "1"}), container({"cpu": "2"})), 3),
        # A limit without a request is a request.
        (pod(container(limits={"cpu": "2"})), 2),
        # The largest init container counts if it requests more than all later containers together.
        (pod(container({"cpu": "1"}), initContainers=[container({"cpu": "5"}), container({"cpu": "2"})]), 5),
        # A sidecar runs beside them, and beside the init containers after it.
        (pod(container({"cpu": "1"}), initContainers=[container({"cpu": "1"}, restartPolicy="Always")]), 2),
        (
            pod(
                container({"cpu": "1"}),
                initContainers=[container({"cpu": "1"}, restartPolicy="Always"), container({"cpu": "3"})],
            ),
            4,
        ),
        (pod(container({"cpu": "1"}), overhead={"cpu": "250m"}), Fraction(5, 4)),
        (pod(container({"cpu": "1"}), resources={"requests": {"cpu": "3"}}), 3),
        (pod(container()), 0),
    ],
)
def test_pod_reserves_the_sum_or_the_largest_init_container(spec: dict[str, Any], cpu: Fraction | int) -> None:
    assert requests_of(spec).get("cpu", 0) == cpu


def test_unschedulable_nodes_are_not_usable() -> None:
    assert is_usable(node())
    assert not is_usable(node(ready="Unknown"))
    assert not is_usable({"metadata": {"name": "n"}, "status": {}})
    cordoned = node()
    cordoned["spec"] = {"unschedulable": True}
    assert not is_usable(cordoned)
