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
