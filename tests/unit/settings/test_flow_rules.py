"""Values that flows refuse by their rules; without them, a step would fail after the preparation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.rules import broken_rules
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective
from ansible_collections.psap.perf.plugins.plugin_utils.settings.site_reader import read_site

PROJECT = Project(Path(__file__).parents[3])
LAB = read_site(PROJECT.root, str(PROJECT.root / "inventories/lab")).layers_of()
CLOUD = {"clusters_sutest_compute_machineset_type": "g5.2xlarge"}
BENCHMARK = {"fine_tuning_workload": "ray", "fine_tuning_ray_workload": "ray-benchmark"}


def refusals(settings: dict[str, Any], flow: str = "fine_tuning") -> list[str]:
    """Return the rules' messages for the defaults with *settings* over them."""
    known = {name: entry.value for name, entry in effective(PROJECT, flow, LAB).items()}
    shared = PROJECT.shared
    assert shared is not None
    rules = (*PROJECT.flow(flow).rules, *shared.rules)
    return [message for _rule, message in broken_rules(rules, PROJECT.settings_of(flow), known | settings)]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"fine_tuning_timeout": "12 hours"}, "fine_tuning_timeout is not a duration"),
        ({"fine_tuning_start_timeout": "-1s"}, "fine_tuning_start_timeout is not a duration"),
        ({"fine_tuning_many_model_timespan": "abc"}, "fine_tuning_many_model_timespan is not a duration"),
        ({"rhoai_timeout": "x"}, "rhoai_timeout is not a duration"),
        ({"gpu_operator_timeout": "soon"}, "gpu_operator_timeout is not a duration"),
        ({"prometheus_step": "15 s"}, "prometheus_step is not a duration"),
        ({"fine_tuning_pvc_size": "12x"}, "fine_tuning_pvc_size is not a size"),
        ({"fine_tuning_pvc_size": ""}, "fine_tuning_pvc_size is not a size"),
        ({"fine_tuning_ephemeral_output_pvc_size": "-1Gi"}, "fine_tuning_ephemeral_output_pvc_size is not a size"),
        ({"nfs_provisioner_storage_size": "much"}, "nfs_provisioner_storage_size is not a size"),
        ({"fine_tuning_namespace": "Bad_NS"}, "fine_tuning_namespace is not a valid name"),
        ({"fine_tuning_memory": [10, 0]}, "a pod needs cores and memory"),
        ({"fine_tuning_cpu": 0}, "a pod needs cores and memory"),
        ({"fine_tuning_shared_memory": -1}, "fine_tuning_shared_memory cannot be negative"),
        ({**BENCHMARK, "fine_tuning_pod_count": [2, 1]}, "ray-benchmark measures between pods"),
        (
            {"fine_tuning_use_host_network": True, "fine_tuning_secondary_nics": ["network-port-1"]},
            "secondary networks and fine_tuning_use_host_network exclude each other",
        ),
        ({"fine_tuning_rdma_resource": "nvidia.com/roce"}, "fine_tuning_rdma_resource is given for each"),
        ({"fine_tuning_use_primary_nic": False}, "without fine_tuning_use_primary_nic the pods need"),
        ({"rhoai_catalog_image": "quay.io/rhoai/catalog"}, "rhoai_catalog_image and rhoai_catalog_tag belong together"),
        ({"rhoai_managed": True}, "the managed flavour comes from a separate catalog"),
        ({"rhoai_version": "2.19.0"}, "rhoai_version needs rhoai_channel"),
        ({"gpu_operator_version": "25.3.4"}, "gpu_operator_version needs gpu_operator_channel"),
        ({"gpu_operator_time_sharing_replicas": -3}, "gpu_operator_time_sharing_replicas cannot be negative"),
        ({"clusters_sutest_compute_machineset_count": 2}, "clusters_sutest_compute_machineset_count needs"),
        ({"clusters_sutest_compute_machineset_fit": True}, "clusters_sutest_compute_machineset_fit needs"),
        (
            {
                **CLOUD,
                "clusters_sutest_compute_machineset_fit": True,
                "clusters_sutest_compute_machineset_count": 1,
            },
            "clusters_sutest_compute_machineset_fit computes",
        ),
        (
            {"fine_tuning_node_count_equal_pod_count": True},
            "fine_tuning_node_count_equal_pod_count needs clusters_sutest_compute_machineset_type",
        ),
        (
            {**CLOUD, "fine_tuning_node_count_equal_pod_count": True, "fine_tuning_mode": "multi_model"},
            "fine_tuning_node_count_equal_pod_count is for cells whose jobs differ",
        ),
    ],
)
def test_unusable_value_is_refused_early(settings: dict[str, Any], why: str) -> None:
    (message,) = refusals(settings)
    assert message.startswith(why)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fine_tuning_timeout": "1h30m", "fine_tuning_start_timeout": "90", "rhoai_timeout": "500ms"},
        {"fine_tuning_pvc_size": "1.5Ti", "fine_tuning_ephemeral_output_pvc_size": "100G"},
        {"fine_tuning_use_primary_nic": False, "fine_tuning_use_host_network": True},
        {**BENCHMARK, "fine_tuning_pod_count": 2},
        {"fine_tuning_rdma_resource": "nvidia.com/roce", "fine_tuning_secondary_nics": ["network-port-1"]},
        {"clusters_sutest_compute_machineset_count": 0},
        {**CLOUD, "fine_tuning_node_count_equal_pod_count": True},
        {"fine_tuning_timeout": "{{ later }}"},
    ],
)
def test_usable_value_is_accepted(settings: dict[str, Any]) -> None:
    assert refusals(settings) == []


@pytest.mark.parametrize("minimum", [-0.1, 1.5, "high"])
def test_accuracy_outside_its_range_is_refused(minimum: object) -> None:
    (message,) = refusals({"kserve_accuracy_tasks": {"words": minimum}}, "kserve")
    assert message.startswith("the minimum of each task in kserve_accuracy_tasks must be a number from 0 to 1")


def test_accuracy_within_its_range_is_accepted() -> None:
    assert refusals({"kserve_accuracy_tasks": {"words": 0.9, "numbers": 0}}, "kserve") == []


@pytest.mark.parametrize("autoscaler", ["keda", ["hpa", "keda"]])
def test_keda_accepts_a_cpu_usage_of_at_most_the_request(autoscaler: object) -> None:
    given = {"kserve_mode": "autoscale", "kserve_raw_deployment": True, "kserve_autoscaler": autoscaler}
    assert refusals({**given, "kserve_autoscale_cpu_percent": 100}, "kserve") == []
    (message,) = refusals({**given, "kserve_autoscale_cpu_percent": 101}, "kserve")
    assert message.startswith("KServe accepts at most 100 for kserve_autoscale_cpu_percent")


@pytest.mark.parametrize("flow", PROJECT.flows)
def test_rules_of_every_flow_can_be_evaluated_for_its_defaults(flow: str) -> None:
    refusals({}, flow)
