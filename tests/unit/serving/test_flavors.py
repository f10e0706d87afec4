"""Flavors of an LLMInferenceService: their grammar, and their changes of a manifest."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.flavors import (
    AUTH,
    Flavor,
    Shape,
    apply_shape,
    in_flavor,
    parse_flavor,
    requires_token,
)


def container(gpus: str, name: str = "main") -> dict[str, Any]:
    limits = {"nvidia.com/gpu": gpus, "memory": "64Gi"}
    return {"name": name, "resources": {"limits": limits, "requests": dict(limits)}}


def service(**spec: Any) -> dict[str, Any]:
    template = {"containers": [container("1", "sidecar"), container("1")]}
    return {"kind": "LLMInferenceService", "spec": {"replicas": 3, "template": template, **spec}}


@pytest.mark.parametrize(
    ("text", "flavor"),
    [
        ("simple", Flavor("simple")),
        ("simple-x4", Flavor("simple", replicas=4)),
        ("intelligentrouting-tp2-x8", Flavor("intelligentrouting", tensor=2, replicas=8)),
        ("pd-px2-ptp1-x1-dtp4", Flavor("pd", tensor=4, replicas=1, prefill_tensor=1, prefill_replicas=2)),
    ],
)
def test_flavor_parts_may_be_in_any_order(text: str, flavor: Flavor) -> None:
    assert parse_flavor(text) == flavor


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "begins with none of simple, intelligentrouting, pd"),
        ("inteligentrouting", "did you mean intelligentrouting"),
        ("simple-y2", "'y2' is not a valid part"),
        ("simple-x0", "'x0' is not a valid part"),
        ("simple-x", "'x' is not a valid part"),
        ("simple-tp2-dtp4", "repeats the part of 'dtp4'"),
        ("simple-px2", "'px2' is for a separate prefill stage, which only pd has"),
    ],
)
def test_invalid_flavor_is_refused_by_its_part(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_flavor(text)


def test_omitted_parts_keep_the_manifest() -> None:
    given = service(router={"gateway": {"refs": [{"name": "mine"}]}})
    before = deepcopy(given)

    shaped = in_flavor(given, parse_flavor("simple"))["spec"]

    assert shaped["replicas"] == 3
    assert shaped["template"] == before["spec"]["template"]
    assert shaped["router"] == {"route": {}, "gateway": {"refs": [{"name": "mine"}]}}
    assert given == before


def test_replica_gets_as_many_gpus_as_its_parallelism() -> None:
    shaped = in_flavor(service(parallelism={"pipeline": 2}), parse_flavor("intelligentrouting-tp4-x2"))["spec"]

    assert (shaped["replicas"], shaped["parallelism"]) == (2, {"pipeline": 2, "tensor": 4})
    assert shaped["template"]["containers"] == [container("1", "sidecar"), container("4")]
    assert shaped["router"]["scheduler"] == {}


def test_prefill_stage_copies_the_other_unless_overridden() -> None:
    shaped = in_flavor(service(), parse_flavor("pd-tp2-x1-ptp4-px3"))["spec"]

    assert shaped["template"]["containers"][1] == container("2")
    assert shaped["prefill"]["template"]["containers"][1] == container("4")
    assert (shaped["prefill"]["replicas"], shaped["prefill"]["parallelism"]) == (3, {"tensor": 4})


def test_prefill_and_scheduler_require_their_flavor() -> None:
    given = service(prefill={"replicas": 2}, router={"scheduler": {"replicas": 2}})

    assert "prefill" not in in_flavor(given, parse_flavor("simple"))["spec"]
    assert "scheduler" not in in_flavor(given, parse_flavor("simple"))["spec"]["router"]
    assert in_flavor(given, parse_flavor("intelligentrouting"))["spec"]["router"]["scheduler"] == {"replicas": 2}


@pytest.mark.parametrize(("flavor", "decode", "prefill"), [("pd-x2-px4", 2, 8), ("pd-px4", 3, 4), ("pd-x2", 2, None)])
def test_prefill_replicas_are_per_decode_replica(flavor: str, decode: int, prefill: int | None) -> None:
    spec = in_flavor(service(), parse_flavor(flavor))["spec"]
    assert (spec["replicas"], spec["prefill"].get("replicas")) == (decode, prefill)


def test_empty_manifest_gets_a_container() -> None:
    shaped = in_flavor({"kind": "LLMInferenceService"}, parse_flavor("simple-tp2"))["spec"]

    (main,) = shaped["template"]["containers"]
    assert main == {"name": "main", "resources": {kind: {"nvidia.com/gpu": "2"} for kind in ("limits", "requests")}}


def test_pod_fields_apply_to_every_existing_stage_only() -> None:
    pod = {"nodeSelector": {"gpu": "yes"}}
    given = service()
    before = deepcopy(given)

    simple = apply_shape(given, Shape(pod=pod))["spec"]
    apart = apply_shape(given, Shape(flavor="pd", pod=pod))["spec"]

    assert simple["template"] == {**before["spec"]["template"], **pod}
    assert "prefill" not in simple
    assert apart["template"]["nodeSelector"] == apart["prefill"]["template"]["nodeSelector"] == {"gpu": "yes"}
    assert given == before


def test_annotations_reach_the_service_and_pods_of_every_stage() -> None:
    given = {**service(annotations={"c": "d"}), "metadata": {"annotations": {"e": "f"}}}
    found = apply_shape(given, Shape(flavor="pd", annotations={"a": True, "n": 8000, "t": "text"}))
    asked = {"a": "true", "n": "8000", "t": "text"}
    assert found["metadata"]["annotations"] == {"e": "f", **asked, AUTH: "false"}
    assert found["spec"]["annotations"] == {"c": "d", **asked}
    assert found["spec"]["prefill"]["annotations"] == asked


def test_pod_fields_reach_workers_below_a_leader() -> None:
    worker = {"containers": [container("8")]}
    found = apply_shape(service(worker=worker), Shape(pod={"nodeSelector": {"gpu": "yes"}}))["spec"]
    assert found["worker"] == {**worker, "nodeSelector": {"gpu": "yes"}}


@pytest.mark.parametrize(
    ("of_manifest", "annotations", "auth", "required"),
    [
        ({}, {}, False, False),
        ({}, {}, True, True),
        ({AUTH: "true"}, {}, False, True),
        ({AUTH: "false"}, {}, True, True),
        ({AUTH: "true"}, {AUTH: "false"}, False, False),
        ({}, {AUTH: True}, False, True),
        ({}, {AUTH: False}, False, False),
    ],
)
def test_annotation_decides_whether_requests_need_a_token(
    of_manifest: dict[str, str], annotations: dict[str, Any], auth: bool, required: bool
) -> None:
    given = {**service(), "metadata": {"annotations": of_manifest}}
    found = apply_shape(given, Shape(annotations=annotations, auth=auth))
    assert requires_token(found) == required
    assert found["metadata"]["annotations"][AUTH] == ("true" if required else "false")


def test_open_data_hub_requires_a_token_by_default() -> None:
    assert requires_token(service())


def test_shape_names_the_service_and_keeps_its_labels() -> None:
    given = {**service(), "metadata": {"name": "a", "labels": {"b": "c"}}}

    metadata = apply_shape(given, Shape(name="d", namespace="e"))["metadata"]

    assert (metadata["name"], metadata["namespace"], metadata["labels"]) == ("d", "e", {"b": "c"})


def test_vllm_reads_its_arguments_from_the_environment_of_each_stage() -> None:
    given = service()
    given["spec"]["template"]["containers"][1]["env"] = [{"name": "VLLM_ADDITIONAL_ARGS", "value": "--seed=1"}]
    shape = Shape("pd", vllm_args=["--kv-transfer-config", '{"a": 1}'], max_model_len=4096)
    spec = apply_shape(given, shape)["spec"]
    for stage in (spec, spec["prefill"]):
        sidecar, main = stage["template"]["containers"]
        (variable,) = main["env"]
        assert variable["value"] == """--seed=1 --kv-transfer-config '{"a": 1}' --max-model-len=4096"""
        assert "env" not in sidecar


def test_vllm_reads_its_arguments_from_the_container_and_its_workers() -> None:
    given = service(worker={"containers": [{"name": "main", "args": ["--seed=1"]}]})
    spec = apply_shape(given, Shape(vllm_args=["--enforce-eager"], vllm_args_in="arguments"))["spec"]
    assert spec["template"]["containers"][1]["args"] == ["--enforce-eager"]
    assert spec["worker"]["containers"][0]["args"] == ["--seed=1", "--enforce-eager"]


def test_all_pods_have_the_pull_secrets() -> None:
    spec = apply_shape(service(), Shape("pd", pull_secrets=["mine"]))["spec"]
    for template in (spec["template"], spec["prefill"]["template"], spec["router"]["scheduler"]["template"]):
        assert template["imagePullSecrets"] == [{"name": "mine"}]
    # without it, KServe refuses the template
    assert spec["router"]["scheduler"]["template"]["containers"] == []


def test_scheduler_has_its_configuration_and_the_service_its_labels() -> None:
    shape = Shape("intelligentrouting", labels={"queue": 1}, scheduler_config={"kind": "EndpointPickerConfig"})
    changed = apply_shape(service(), shape)
    assert changed["spec"]["router"]["scheduler"] == {"config": {"inline": {"kind": "EndpointPickerConfig"}}}
    assert changed["metadata"]["labels"] == {"queue": "1"}


def test_configuration_of_a_missing_scheduler_is_refused() -> None:
    with pytest.raises(UsageError, match="flavor 'simple' has no scheduler to configure"):
        apply_shape(service(), Shape("simple", scheduler_config={"kind": "EndpointPickerConfig"}))
