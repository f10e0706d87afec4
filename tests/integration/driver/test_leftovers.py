"""Temporary objects of a killed command are deleted when the run is finalized."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes import client, config

from tests.integration.conftest import Lab
from tests.polling import PATIENCE_S

COMMAND = ("toolbox", "cluster", "preload-image", "--name", "left", "--image", "registry.k8s.io/pause:3.10")
FLOW = ("run", "scale_test", "-p", "scale_test_smoke", "-s", "scale_test_clean_after=false")


@pytest.fixture(name="namespace")
def _namespace(shared_lab: Lab) -> Iterator[str]:
    """Create a namespace that permits no pod, so that preloading an image lasts until it is killed."""
    name = f"left-{uuid.uuid4().hex[:8]}"
    config.load_kube_config(str(shared_lab.kubeconfig))
    core = client.CoreV1Api()
    core.create_namespace({"metadata": {"name": name}})
    quota = {"metadata": {"name": "no-pods"}, "spec": {"hard": {"pods": "0"}}}
    core.create_namespaced_resource_quota(name, quota)
    yield name
    core.delete_namespace(name)


@pytest.mark.parametrize("words", [COMMAND, pytest.param(FLOW, marks=pytest.mark.deep)], ids=["command", "flow"])
def test_daemonset_of_a_killed_preload_is_deleted(
    shared_lab: Lab, namespace: str, tmp_path: Path, words: tuple[str, ...]
) -> None:
    apps = client.AppsV1Api()

    def left() -> list[str]:
        return [item.metadata.name for item in apps.list_namespaced_daemon_set(namespace).items]

    # a DaemonSet of another owner stays
    others = {"metadata": {"name": "others"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "registry.k8s.io/pause"}]}
    }}}  # fmt: skip
    apps.create_namespaced_daemon_set(namespace, others)
    settings = json.dumps({"cluster_preload_image_namespace": namespace})
    process = shared_lab.start(tmp_path, "perfdrv", *words, "-i", "lab", "-e", settings)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while len(left()) < 2 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        process.kill()
        output, _ = process.communicate()
    assert len(left()) == 2, output
    finalized = shared_lab.run(tmp_path, "perfdrv", "runs", "finalize", "latest")
    assert finalized.returncode == 0, finalized.stdout + finalized.stderr
    assert left() == ["others"]
