"""The downloads and the cells' pods of the flow llm_d."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods
from ansible_collections.psap.perf.plugins.module_utils.serving.flavors import AUTH
from ansible_collections.psap.perf.plugins.module_utils.serving.llm_d_plan import Download, LlmDPlan, llm_d_plan

MAIN = {
    "name": "main",
    "resources": {"limits": {"cpu": "4", "memory": "64Gi", "nvidia.com/gpu": "1"}, "requests": {"cpu": "1500m"}},
}
SIDECAR = {"name": "sidecar", "resources": {"requests": {"cpu": "500m"}}}
SERVICE: dict[str, Any] = {
    "kind": "LLMInferenceService",
    "spec": {"model": {"uri": "hf://openai/gpt-oss-20b"}, "replicas": 2, "template": {"containers": [MAIN, SIDECAR]}},
}


def make_plan(*flavors: str, manifest: dict[str, Any] = SERVICE, **other: Any) -> LlmDPlan:
    settings = {
        "llm_d_annotations": {},
        "llm_d_api_key": "",
        "llm_d_auth": False,
        "llm_d_claim": "",
        "llm_d_deploy": True,
        "llm_d_flavor": "simple",
        "llm_d_load_generator": "guidellm",
        "llm_d_trace": "",
        "llm_d_trace_format": "mooncake",
        "llm_d_max_model_len": 0,
        "llm_d_model_uri": "",
        "llm_d_patch": {},
        "llm_d_scheduler_config": "",
        **other,
    }
    cells = [{"index": place, "name": "", "values": {"llm_d_flavor": each}} for place, each in enumerate(flavors)]
    return llm_d_plan(settings, cells or [{"index": 0, "name": "", "values": {}}], manifest)


def test_each_flavor_has_its_pods_with_container_requests() -> None:
    plan = make_plan("simple", "intelligentrouting-tp4-x3", "pd-tp2-x1-ptp8-px2")
    assert plan.pods == (
        (Pods(2, "2000m", "65536Mi", 1),),
        (Pods(3, "2000m", "65536Mi", 4),),
        (Pods(1, "2000m", "65536Mi", 2), Pods(2, "2000m", "65536Mi", 8)),
    )
    assert plan.gpus == 8


@pytest.mark.parametrize(
    ("parallelism", "workers"), [({"data": 16, "dataLocal": 4}, 6), ({"pipeline": 2}, 2), ({"tensor": 8}, 0)]
)
def test_workers_below_each_leader_count(parallelism: dict[str, int], workers: int) -> None:
    several = {**SERVICE["spec"], "parallelism": parallelism, "worker": {"containers": [MAIN]}}
    ((leaders, *others),) = make_plan(manifest={**SERVICE, "spec": several}).pods
    assert leaders == Pods(2, "2000m", "65536Mi", 1)
    assert others == ([Pods(workers, "1500m", "65536Mi", 1)] if workers else [])


def test_patch_changes_the_pods_last() -> None:
    assert make_plan(llm_d_patch={"spec": {"replicas": 5}}).pods[0][0].count == 5


def test_manifest_without_pods_has_one_without_requests() -> None:
    assert make_plan(manifest={"kind": "LLMInferenceService", "spec": {}}).pods == ((Pods(1, "0m", "0Mi", 0),),)


@pytest.mark.parametrize(
    ("uri", "source", "folder"),
    [
        ("", "hf://openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        ("s3://mine/llama", "s3://mine/llama", "mine/llama"),
    ],
)
def test_model_is_downloaded_from_its_source_with_a_claim(uri: str, source: str, folder: str) -> None:
    before = deepcopy(SERVICE)
    plan = make_plan(llm_d_claim="models", llm_d_model_uri=uri)
    assert plan.downloads == (Download(source, folder),)
    assert before == SERVICE


def test_nothing_is_downloaded_without_a_claim() -> None:
    assert make_plan().downloads == ()


def test_each_model_is_downloaded_once() -> None:
    plan = make_plan("simple", "simple-tp2", llm_d_claim="models")
    assert plan.downloads == (Download("hf://openai/gpt-oss-20b", "openai/gpt-oss-20b"),)


def test_deployed_model_needs_no_pods_or_downloads() -> None:
    plan = make_plan("simple-tp8", llm_d_deploy=False, llm_d_claim="models")
    assert (plan.downloads, plan.gpus, plan.pods) == ((), 0, ((),))


def test_cells_that_differ_in_a_deployed_model_are_refused() -> None:
    with pytest.raises(UsageError, match="llm_d_deploy is false, but the cells"):
        make_plan("simple", "simple-x3", llm_d_deploy=False)


def test_configuration_of_a_missing_scheduler_is_refused() -> None:
    with pytest.raises(UsageError, match="flavor 'simple' has no scheduler to configure"):
        make_plan("intelligentrouting", "simple", llm_d_scheduler_config="precise-prefix-cache")


def test_invalid_flavor_is_refused() -> None:
    with pytest.raises(UsageError, match="'y2' is not a valid part"):
        make_plan("simple", "simple-y2")


@pytest.mark.parametrize(
    ("settings", "required"),
    [
        ({}, False),
        ({"llm_d_auth": True}, True),
        ({"llm_d_annotations": {AUTH: "true"}}, True),
        ({"llm_d_auth": True, "llm_d_patch": {"metadata": {"annotations": {AUTH: "false"}}}}, False),
    ],
)
def test_token_requirement_follows_settings_and_patch(settings: dict[str, Any], required: bool) -> None:
    assert make_plan(**settings, llm_d_api_key="file:token").auth == required


def test_missing_token_is_refused() -> None:
    with pytest.raises(UsageError, match=r"llm_d_api_key: requests need a token, .*; pass a secret"):
        make_plan(llm_d_auth=True)
    assert not make_plan().auth
