"""The predicates for models that KServe serves: loaded, not yet, or hopeless."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import (
    Object,
    Verdict,
    condition,
    condition_true,
)

# KServe's reasons that do not go away by waiting
_HOPELESS = frozenset(
    ("ModelLoadFailed", "NoSupportingRuntime", "RuntimeNotRecognized", "RuntimeDisabled", "InvalidPredictorSpec")
)
# Open Data Hub's reason for an LLMInferenceService whose requests need a token that no component can check; it then
# deletes the HTTPRoute, and does not check again
_NO_AUTH_POLICY = "GatewayPreconditionNotMet"


def llm_service_ready(obj: Object) -> Verdict:
    """Return whether the LLMInferenceService is Ready; hopeless if Open Data Hub cannot check tokens of requests."""
    routes = condition(obj, "HTTPRoutesReady") or {}
    if routes.get("status") == "False" and routes.get("reason") == _NO_AUTH_POLICY:
        note = (
            "requests need a token, but the cluster serves no AuthPolicy (kuadrant.io/v1) to check it; install Red Hat "
            'Connectivity Link, or set the annotation security.opendatahub.io/enable-auth to "false"'
        )
        return Verdict(False, f"{_NO_AUTH_POLICY}: {note}", True)
    return condition_true("Ready")(obj)


def model_loaded(obj: Object) -> Verdict:
    """Return whether the controller has seen the newest generation, the service is Ready, and its model is loaded."""
    status = obj.get("status", {})
    generation = obj["metadata"].get("generation", 0)
    if status.get("observedGeneration", generation) < generation:
        return Verdict(False, "the controller has not seen the newest generation yet")
    model = status.get("modelStatus") or {}
    failure = model.get("lastFailureInfo") or {}
    state = (model.get("states") or {}).get("targetModelState") or "Pending"
    ready = condition_true("Ready")(obj)
    if ready.reached and state == "Loaded":
        return Verdict(True)
    if failure.get("reason") in _HOPELESS or state == "FailedToLoad":
        words = (failure.get("reason", ""), failure.get("message", ""))
        return Verdict(False, f"the model is not loaded: {' '.join(filter(None, words)) or state}", True)
    return Verdict(False, f"model {state}, {ready.note or 'Ready'}")
