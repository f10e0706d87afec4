"""When a model is loaded, and when waiting for it cannot succeed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_states import llm_service_ready, model_loaded

READY = [{"type": "Ready", "status": "True"}]


def service(conditions: list[dict[str, str]], state: str, failure: str = "", observed: int = 2) -> dict[str, Any]:
    model_status: dict[str, Any] = {"states": {"targetModelState": state}}
    if failure:
        model_status["lastFailureInfo"] = {"reason": failure, "message": "because"}
    status = {"conditions": conditions, "observedGeneration": observed, "modelStatus": model_status}
    return {"metadata": {"name": "granite", "generation": 2}, "status": status}


@pytest.mark.parametrize(
    ("found", "reached", "hopeless", "note"),
    [
        (service(READY, "Loaded"), True, False, ""),
        (service(READY, "Loaded", observed=1), False, False, "has not seen the newest generation"),
        (service(READY, "Loading"), False, False, "model Loading"),
        (service([], "Loaded"), False, False, "model Loaded"),
        (service([], "FailedToLoad"), False, True, "not loaded: FailedToLoad"),
        (service([], "Pending", "NoSupportingRuntime"), False, True, "not loaded: NoSupportingRuntime because"),
        (service([], "Pending", "RuntimeUnhealthy"), False, False, "model Pending"),
        (service(READY, "Loaded", "ModelLoadFailed"), True, False, ""),
        ({"metadata": {"name": "granite", "generation": 1}}, False, False, "model Pending"),
    ],
)
def test_model_is_loaded_or_will_never_be(found: dict[str, Any], reached: bool, hopeless: bool, note: str) -> None:
    verdict = model_loaded(found)
    assert (verdict.reached, verdict.hopeless) == (reached, hopeless)
    assert note in verdict.note


@pytest.mark.parametrize(
    ("reason", "hopeless"), [("GatewayPreconditionNotMet", True), ("HTTPRouteReconcileError", False)]
)
def test_llm_d_without_token_checks_is_given_up(reason: str, hopeless: bool) -> None:
    routes = {"type": "HTTPRoutesReady", "status": "False", "reason": reason, "message": "precondition not met"}
    ready = {"type": "Ready", "status": "False", "reason": reason}
    verdict = llm_service_ready({"metadata": {"name": "opt"}, "status": {"conditions": [routes, ready]}})
    assert (verdict.reached, verdict.hopeless) == (False, hopeless)
    assert ("install Red Hat Connectivity Link" in verdict.note) == hopeless


def test_llm_d_readiness_follows_its_condition() -> None:
    assert llm_service_ready({"metadata": {"name": "opt"}, "status": {"conditions": READY}}).reached
