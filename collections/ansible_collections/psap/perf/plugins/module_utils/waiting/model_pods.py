"""Label selectors of the pods that belong to a model, by the kind of KServe that serves it.

The labels are those of KServe 0.15 to 0.20. Each pod of an LLMInferenceService has a component: workload,
workload-prefill, workload-leader, workload-worker, those of a prefill's leader and worker, router-scheduler, tokenizer.
"""

from __future__ import annotations

from collections.abc import Mapping

LLM_INFERENCE_SERVICE = "LLMInferenceService"
_PODS: Mapping[str, str] = {
    "InferenceService": "serving.kserve.io/inferenceservice={name}",
    LLM_INFERENCE_SERVICE: "app.kubernetes.io/part-of=llminferenceservice,app.kubernetes.io/name={name}",
}
_SCHEDULER = "llminferenceservice-router-scheduler"
_LOADING = f",app.kubernetes.io/component notin ({_SCHEDULER},tokenizer)"
# neither workers below a leader nor the scheduler have the first label
_ANSWERING = ",kserve.io/component=workload,llm-d.ai/role!=prefill"


def selects_pods(kind: str) -> bool:
    """Return whether *kind* serves models, so that its pods are found by its name."""
    return kind in _PODS


def all_pods(kind: str, name: str) -> str:
    """Return the selector of all pods of a model."""
    return _PODS[kind].format(name=name)


def loading_pods(kind: str, name: str) -> str:
    """Return the selector of the pods that load a model: those that decode, prefill, lead, and work below a leader."""
    return all_pods(kind, name) + (_LOADING if kind == LLM_INFERENCE_SERVICE else "")


def answering_pods(kind: str, name: str) -> str:
    """Return the selector of the pods of a model that answer requests: those that decode."""
    return all_pods(kind, name) + (_ANSWERING if kind == LLM_INFERENCE_SERVICE else "")


def picking_pods(name: str) -> str:
    """Return the selector of the pods with the endpoint picker of an LLMInferenceService."""
    return f"{all_pods(LLM_INFERENCE_SERVICE, name)},app.kubernetes.io/component={_SCHEDULER}"
