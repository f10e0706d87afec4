"""What the configuration of OpenShift's monitoring asks for."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.emulators.openshift.monitoring.settings import UserWorkload, is_enabled, user_workload
from perflab.emulators.openshift.monitoring.workloads import documents


def config(text: str) -> dict[str, Any]:
    return {"data": {"config.yaml": text}}


@pytest.mark.parametrize(
    ("text", "enabled"),
    [
        ("enableUserWorkload: true", True),
        ("prometheusK8s: {retention: 1d}\nenableUserWorkload: true", True),
        ("enableUserWorkload: false", False),
        ('enableUserWorkload: "true"', False),
        ("enableUserWorkload: [", False),
        ("just words", False),
        ("", False),
    ],
)
def test_users_workloads_are_monitored_when_that_is_said_in_yaml(text: str, enabled: bool) -> None:
    assert is_enabled(config(text)) is enabled


def test_a_configuration_that_is_not_there_asks_for_nothing() -> None:
    assert not is_enabled(None)
    assert user_workload(None) == UserWorkload("24h", "info")


def test_the_prometheus_is_as_its_configuration_says() -> None:
    settings = user_workload(config("prometheus: {retention: 15d, logLevel: warn}"))
    made = {document["metadata"]["name"]: document for _resource, document in documents(settings, fails=False)}
    assert set(made) == {"prometheus-operator", "prometheus-user-workload", "thanos-ruler-user-workload"}
    containers = made["prometheus-user-workload"]["spec"]["template"]["spec"]["containers"]
    assert containers[0]["args"] == ["--storage.tsdb.retention.time=15d", "--log.level=warn"]
    for document in made.values():
        labels = document["spec"]["template"]["metadata"]["labels"]
        assert document["spec"]["selector"]["matchLabels"].items() <= labels.items()


def test_when_it_fails_no_pod_gets_its_image() -> None:
    for _resource, document in documents(UserWorkload(), fails=True):
        images = {container["image"] for container in document["spec"]["template"]["spec"]["containers"]}
        assert all(image.split("/")[0].endswith(".invalid") for image in images)
