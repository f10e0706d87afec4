"""The pods of a model that the selectors match, with the labels of KServe 0.15 to 0.20."""

from __future__ import annotations

import re

import pytest
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import (
    LLM_INFERENCE_SERVICE,
    all_pods,
    answering_pods,
    loading_pods,
)

WORKLOAD = "llminferenceservice-workload"


def labels(component: str, role: str = "", name: str = "opt") -> dict[str, str]:
    """Return a pod's labels in KServe's pkg/controller/v1alpha2/llmisvc; only InferencePool endpoints have a role."""
    endpoint = {"kserve.io/component": "workload", "llm-d.ai/role": role} if role else {}
    return {
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/part-of": "llminferenceservice",
        **endpoint,
    }


def matches(selector: str, pod: dict[str, str]) -> bool:
    """Return whether a label selector matches, like in Kubernetes."""
    for part in re.split(r",(?![^(]*\))", selector):
        found = re.fullmatch(r"(\S+?)(!?=| notin )\(?(.*?)\)?", part)
        assert found, part
        key, operator, values = found.groups()
        if (pod.get(key) in values.split(",")) != (operator == "="):
            return False
    return True


@pytest.mark.parametrize(
    ("pod", "loads", "answers"),
    [
        (labels(WORKLOAD, "both"), True, True),
        (labels(WORKLOAD, "decode"), True, True),
        (labels(f"{WORKLOAD}-prefill", "prefill"), True, False),
        (labels(f"{WORKLOAD}-leader", "decode"), True, True),
        (labels(f"{WORKLOAD}-worker"), True, False),
        # without a leader
        (labels(f"{WORKLOAD}-worker", "decode"), True, True),
        (labels(f"{WORKLOAD}-leader-prefill", "prefill"), True, False),
        (labels(f"{WORKLOAD}-worker-prefill"), True, False),
        (labels("llminferenceservice-router-scheduler"), False, False),
        (labels("tokenizer"), False, False),
    ],
)
def test_selectors_match_each_component(pod: dict[str, str], loads: bool, answers: bool) -> None:
    kind = LLM_INFERENCE_SERVICE
    assert matches(all_pods(kind, "opt"), pod)
    assert matches(loading_pods(kind, "opt"), pod) == loads
    assert matches(answering_pods(kind, "opt"), pod) == answers
    assert not matches(all_pods(kind, "other"), pod)
