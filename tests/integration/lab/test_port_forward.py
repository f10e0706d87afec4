"""Models that are queried by a port-forward through the API server and the lab's kubelet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from perflab.cluster.model_pods import address_of

from tests.integration.conftest import Lab as RunLab
from tests.unit.serving.test_grpc_client import ANSWER, METHOD, PROTO, REQUEST, generate, serving

from .labs import Cluster, Labs, wait_for
from .serving import NAME, NAMESPACE, SERVICE, create, is_ready, predictor, remove


@pytest.fixture(autouse=True)
def _kubeconfig(labs: Labs, kserve: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(labs.get(NAME).kubeconfig))


@pytest.fixture
def served(kserve: Cluster) -> Iterator[Cluster]:
    create(kserve, SERVICE, "inside", predictor(), model="{ttft: 0.01, itl: 0.001}")
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "inside"))
    yield kserve
    remove(kserve, SERVICE, "inside")


def validate(labs: Labs, runs: Path, name: str, **more: Any) -> tuple[int, str]:
    arguments = {
        "namespace": NAMESPACE,
        "inference-service-names": json.dumps([name]),
        "query-count": 2,
        "timeout": "5s",
        **more,
    }
    words = [word for option, value in arguments.items() for word in (f"--{option}", str(value))]
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    ran = lab.run(runs, "perfdrv", "toolbox", "kserve", "validate-model", *words)
    return ran.returncode, ran.stdout + ran.stderr


def answers(runs: Path) -> dict[str, Any]:
    (path,) = runs.rglob("answers.json")
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_model_answers_at_a_port_of_its_pod(labs: Labs, served: Cluster, tmp_path: Path) -> None:
    code, output = validate(labs, tmp_path / "runs", "inside", **{"port-forward": 8080})
    assert code == 0, output
    told = answers(tmp_path / "runs")
    assert told["url"].startswith(f"port 8080 of pod {NAMESPACE}/inside-predictor-")
    assert [each["completion_tokens"] > 0 for each in told["answers"]] == [True, True]
    code, output = validate(labs, tmp_path / "wrong", "inside", **{"port-forward": 8081})
    assert code == 1, output
    assert "does not respond: Remote end closed connection without response: no program listens on port 8081" in output


def test_model_without_a_ready_pod_is_reported(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    create(kserve, SERVICE, "waits", predictor("unknown"))
    code, output = validate(labs, tmp_path, "waits", **{"port-forward": 8080})
    assert code == 3, output
    assert f"no pod of InferenceService {NAMESPACE}/waits is Ready; it has 0" in output
    remove(kserve, SERVICE, "waits")


@pytest.mark.deep
def test_model_answers_by_grpc_at_a_port_of_its_pod(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The lab's model server has no gRPC: a server of the tests listens at the address of a pod without one."""
    create(kserve, SERVICE, "called", predictor(), model="{no model}")
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "called"))
    selector = "serving.kserve.io/inferenceservice=called"
    (pod,) = kserve.core.list_namespaced_pod(NAMESPACE, label_selector=selector).items
    address = f"{address_of({'status': {'podIP': pod.status.pod_ip}})}:{labs.get(NAME).ports['models']}"
    call = {"method": METHOD, "proto": PROTO, "request": json.dumps(REQUEST), "answer": ANSWER}
    with serving(generate, address=address):
        code, output = validate(labs, tmp_path, "called", **{"port-forward": 8080, "protocol": "grpc", **call})
    assert code == 0, output
    assert [each["text"].startswith("called: ") for each in answers(tmp_path)["answers"]] == [True, True]
    remove(kserve, SERVICE, "called")
