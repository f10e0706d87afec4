"""Which port of the lab a port of a simulated pod stands for."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.kubelet.port_forward import PORTS, lab_port


def pod(annotation: str | None) -> dict[str, Any]:
    return {"metadata": {"annotations": None if annotation is None else {PORTS: annotation}}}


def test_the_annotation_names_the_port() -> None:
    assert lab_port(pod('{"80": "etcd"}'), 80, {"etcd": 2381}) == 2381


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (None, "no program listens on port 80"),
        ('{"81": "etcd"}', "no program listens on port 80"),
        ('{"80": "ssh"}', "the lab has no port 'ssh'; it has etcd"),
        ("etcd", "is no JSON object: etcd"),
        ("[]", "is no JSON object"),
    ],
)
def test_any_other_port_is_refused(annotation: str | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        lab_port(pod(annotation), 80, {"etcd": 2381})
