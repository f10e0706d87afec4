"""Concurrent work of the flow kserve."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods
from ansible_collections.psap.perf.plugins.module_utils.serving.plan import KservePlan, kserve_plan

CATALOGUE = {
    "phi-2": {"source": "hf://phi-2", "vllm": {"gpus": 1, "cpu": 2, "memory": "16Gi"}},
    "granite": {"source": "hf://granite", "vllm": {"gpus": 4, "cpu": "500m", "memory": "20Gi"}},
}
CELL = {"index": 0, "name": "", "values": {"kserve_model_name": "phi-2", "kserve_min_replicas": 2}}


def make_plan(mode: str, *, cells: int = 1, forks: int = 5, users: list[int] | None = None, **other: Any) -> KservePlan:
    settings = {
        "kserve_mode": mode,
        "kserve_namespace": "models",
        "kserve_served_models": ["phi-2", "granite", "phi-2"],
        "kserve_users": 2,
        "kserve_users_as": "lanes",
        "kserve_concurrency": [1, 4, 16],
        "kserve_max_concurrency": {"granite": 4},
        "kserve_duration": 60,
        "kserve_sleep_interval": 20,
        "kserve_total_duration": 1000,
        "kserve_models_per_user": 3,
        "kserve_model_name": "granite",
        "kserve_runtime": "vllm",
        "kserve_min_replicas": -1,
        "kserve_load_generator": "aiperf",
        "kserve_requests": 0,
        "kserve_streaming": True,
        **other,
    }
    return kserve_plan(settings, [CELL] * cells, forks, CATALOGUE, users)


def test_single_model_has_the_matrix_cells_and_no_lanes() -> None:
    plan = make_plan("single", cells=3)
    assert (len(plan.cells), plan.lanes, plan.models, plan.namespaces) == (3, {}, {}, ("models",))


def test_several_models_are_lanes_without_unserved_models() -> None:
    plan = make_plan("multi")
    assert plan.models == {"m0": "phi-2", "m1": "granite", "m2": "phi-2"}
    assert plan.lanes == {"deploy": ["m0", "m1", "m2"], "load": ["m0", "m1", "m2"], "alone": ["models"]}
    assert plan.rounds == 1
    assert [cell["values"] for cell in plan.cells] == [{"kserve_min_replicas": 2}]


def test_load_that_a_generator_cannot_create_is_refused() -> None:
    with pytest.raises(UsageError, match="kserve_load_generator: inference-perf cannot use duration with concurrency"):
        make_plan("single", kserve_load_generator="inference-perf")
    assert make_plan("single", kserve_load_generator="inference-perf", kserve_requests=20).cells
    with pytest.raises(UsageError, match="guidellm cannot use streaming"):
        make_plan("multi", kserve_load_generator="guidellm", kserve_streaming=False)
    # this mode has no load
    assert make_plan("scale", kserve_load_generator="inference-perf").namespaces


def test_rounds_begin_by_the_clock_and_once_more_at_the_end() -> None:
    plan = make_plan("longevity")
    assert (plan.round_s, plan.rounds) == (200, 6)
    assert "alone" not in plan.lanes
    assert plan.loads == {"m0": 3, "m1": 2, "m2": 3}
    assert make_plan("longevity", kserve_total_duration=1001).rounds == 7


def test_users_have_a_lane_and_namespace_and_the_cells_model() -> None:
    plan = make_plan("scale")
    assert plan.lanes == {"user": ["u0", "u1"]}
    assert plan.namespaces == ("models-u0", "models-u1")
    assert plan.cells[0]["values"]["kserve_model_name"] == "phi-2"


def test_users_as_pods_have_namespaces_but_no_lanes() -> None:
    plan = make_plan("scale", kserve_users_as="pods", kserve_users=8)
    assert plan.lanes == {"user": []}
    assert len(plan.namespaces) == 8


def test_pod_of_a_user_runs_only_this_user() -> None:
    plan = make_plan("scale", users=[1])
    assert (plan.lanes, plan.namespaces) == ({"user": ["u1"]}, ("models-u1",))


@pytest.mark.parametrize(
    ("cells", "forks", "message"),
    [
        (2, 5, "kserve_mode: multi has one cell, but the settings make 2"),
        (1, 2, "3, but has 2 forks; .* ANSIBLE_FORKS"),
    ],
)
def test_concurrent_work_is_one_cell_with_forks(cells: int, forks: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_plan("multi", cells=cells, forks=forks)


PHI, GRANITE = ("2", "16Gi", 1), ("500m", "20Gi", 4)


@pytest.mark.parametrize(
    ("mode", "pods", "gpus"),
    [
        ("single", [Pods(2, *PHI)], 1),
        ("multi", [Pods(2, *PHI), Pods(2, *GRANITE), Pods(2, *PHI)], 4),
        ("longevity", [Pods(2, *PHI), Pods(2, *GRANITE), Pods(2, *PHI)], 4),
        ("scale", [Pods(12, *PHI)], 1),
    ],
)
def test_concurrent_pods_include_all_replicas_models_and_users(mode: str, pods: list[Pods], gpus: int) -> None:
    plan = make_plan(mode)
    assert (plan.pods, plan.gpus) == ((tuple(pods),), gpus)


def test_cell_defaults_to_the_settings_model_and_one_replica() -> None:
    plan = kserve_plan(
        {
            "kserve_mode": "single",
            "kserve_namespace": "models",
            "kserve_model_name": "granite",
            "kserve_runtime": "vllm",
            "kserve_min_replicas": 0,
            "kserve_load_generator": "llm-load-test",
        },
        [{"index": 0, "name": "", "values": {}}],
        5,
        CATALOGUE,
    )
    assert plan.pods == ((Pods(1, *GRANITE),),)


def test_model_unserved_by_the_runtime_is_refused_with_valid_ones() -> None:
    with pytest.raises(UsageError, match="unknown model gpt-9 for vllm; it serves phi-2, granite"):
        make_plan("multi", kserve_served_models=["phi-2", "gpt-9"])
