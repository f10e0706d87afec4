"""The lab's address for a port of a simulated pod."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.cluster.model_pods import MODEL
from perflab.kubelet.port_forward import PORTS, lab_address


def pod(annotation: str | None) -> dict[str, Any]:
    return {"metadata": {"annotations": None if annotation is None else {PORTS: annotation}}}


def test_annotation_names_the_port() -> None:
    assert lab_address(pod('{"80": "etcd"}'), 80, {"etcd": 2381}) == ("127.0.0.1", 2381)


def test_model_server_listens_at_a_dedicated_address() -> None:
    serving = {"metadata": {"annotations": {MODEL: "{ttft: 0.1}"}}, "status": {"podIP": "10.128.0.7"}}
    assert {lab_address(serving, port, {"models": 5000}) for port in (8080, 8000)} == {("127.128.0.7", 5000)}
    with pytest.raises(ValueError, match="no program listens on port 8081"):
        lab_address(serving, 8081, {"models": 5000})


def test_metrics_of_a_picker_are_those_of_the_program() -> None:
    labels = {"app.kubernetes.io/component": "llminferenceservice-router-scheduler"}
    picking = {"metadata": {"labels": labels}}
    assert lab_address(picking, 9090, {"endpoint-picker-metrics": 5001}) == ("127.0.0.1", 5001)
    with pytest.raises(ValueError, match="no program listens on port 9090"):
        lab_address(picking, 9090, {})


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (None, "no program listens on port 80"),
        ('{"81": "etcd"}', "no program listens on port 80"),
        ('{"80": "ssh"}', "the lab has no port 'ssh'; known: etcd"),
        ("etcd", "is not a JSON object: etcd"),
        ("[]", "is not a JSON object"),
    ],
)
def test_other_port_is_refused(annotation: str | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        lab_address(pod(annotation), 80, {"etcd": 2381})
