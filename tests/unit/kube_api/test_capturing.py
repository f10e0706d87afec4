"""Capture whole logs of a cluster of a few pods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.capturing import (
    Capture,
    CapturedObjects,
    capture_objects,
    capture_whole_logs,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query


def pod(name: str, *containers: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": container} for container in containers]}}


class Pods:
    """Serve pods and the pieces of their logs; raise an error that is among the pieces."""

    def __init__(self, *pods: dict[str, Any], **logs: list[bytes | ClusterError]) -> None:
        self.pods = pods
        self.chunks = logs

    def list(self, query: Query) -> tuple[list[dict[str, Any]], str]:
        if not self.pods:
            raise ClusterError("it does not answer")
        return list(self.pods), "1"

    def log_chunks(self, namespace: str, name: str, container: str) -> Iterator[bytes]:
        for chunk in self.chunks[container]:
            if isinstance(chunk, ClusterError):
                raise chunk
            yield chunk


@pytest.fixture(name="capture")
def _capture(tmp_path: Path) -> Capture:
    return Capture(tmp_path / "artifacts")


def captured_logs(capture: Capture, pods: Pods, *, init: bool = False) -> dict[str, bytes]:
    capture.folder.mkdir(exist_ok=True)
    capture_whole_logs(capture, cast(Cluster, pods), "x", "job=a", init=init)
    return {path.name: path.read_bytes() for path in (capture.folder / "logs").glob("*")}


def test_each_container_has_a_log_file(capture: Capture) -> None:
    pods = Pods(pod("a-0", "main"), pod("a-1", "left", "right"), main=[b"one\n", b"\xfftwo"], left=[b"l"], right=[])
    assert captured_logs(capture, pods) == {"a-0.log": b"one\n\xfftwo", "a-1_left.log": b"l", "a-1_right.log": b""}
    assert capture.files == ["artifacts/logs/a-0.log", "artifacts/logs/a-1_left.log", "artifacts/logs/a-1_right.log"]
    assert capture.missing == []


def test_init_container_has_its_log_on_request(capture: Capture) -> None:
    started = pod("a-0", "main")
    started["spec"]["initContainers"] = [{"name": "first"}]
    pods = Pods(started, main=[b"m"], first=[b"f"])
    assert captured_logs(capture, pods) == {"a-0.log": b"m"}
    assert captured_logs(capture, pods, init=True) == {"a-0.log": b"m", "a-0_first.log": b"f"}


def test_received_part_of_a_broken_log_is_kept(capture: Capture) -> None:
    broken, refused = ClusterError("reset by peer"), ClusterError("waiting to start")
    pods = Pods(pod("a-0", "main"), pod("a-1", "other"), main=[b"one\n", broken], other=[refused])
    assert captured_logs(capture, pods) == {"a-0.log": b"one\n"}
    assert capture.missing == ["log of a-0/main: reset by peer", "log of a-1/other: waiting to start"]


def test_unreachable_cluster_is_not_a_failure(capture: Capture) -> None:
    assert captured_logs(capture, Pods()) == {}
    assert capture.missing == ["logs of Pod objects in x with job=a: it does not answer"]


def test_unknown_kind_is_not_a_failure(capture: Capture) -> None:
    wanted = CapturedObjects("Deploymnt", None, None, None, None, None, ("yaml",), show_labels=False, when_served=False)
    capture_objects(capture, cast(Cluster, Pods()), wanted)
    assert capture.missing == ["pass the api_version of Deploymnt, which is not a known kind; did you mean Deployment?"]
