"""Envoy's calls of endpoint pickers: a request for an InferencePool goes to the pod that the pool's picker chooses."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.store import Key

# the name of the filter, and of the cluster with the program that runs the pickers
FILTER = "endpoint-picker"
_EXTENSIONS = "type.googleapis.com/envoy.extensions"
_FILTER = f"{_EXTENSIONS}.filters.http.ext_proc.v3"
# a header of the Gateway API inference extension, which the picker sets
_DESTINATION = "x-gateway-destination-endpoint"
# the metadata by which the lab's program recognizes the pool; see server.go
_POOL = "x-lab-inference-pool"
_FAIL_OPEN = "FailOpen"


def filter_of_requests() -> Document:
    """Return the filter that calls a picker, in the mode that it requires; only the routes to a pool enable it."""
    bodies = dict.fromkeys(("request_body_mode", "response_body_mode"), "FULL_DUPLEX_STREAMED")
    headers = [f"{direction}_{part}_mode" for direction in ("request", "response") for part in ("header", "trailer")]
    return {
        "name": FILTER,
        "disabled": True,
        "typed_config": {
            "@type": f"{_FILTER}.ExternalProcessor",
            "grpc_service": {"envoy_grpc": {"cluster_name": FILTER}},
            "processing_mode": {**dict.fromkeys(headers, "SEND"), **bodies},
            # the status of a backend without an endpoint
            "status_on_error": {"code": "ServiceUnavailable"},
            # a model may take long for an answer, during which the picker has nothing to send
            "message_timeout": "0s",
        },
    }


def filter_of_pool(key: Key, pool: Document) -> Document:
    """Return the settings of a route that let the picker of a pool choose."""
    overrides: Document = {"grpc_initial_metadata": [{"key": _POOL, "value": "/".join(key)}]}
    if pool["spec"]["endpointPickerRef"].get("failureMode") == _FAIL_OPEN:
        overrides["failure_mode_allow"] = True
    return {FILTER: {"@type": f"{_FILTER}.ExtProcPerRoute", "overrides": overrides}}


def chosen_or(policy: Document) -> Document:
    """Return the policy of a cluster that uses the picker's choice; *policy* if the picker chose no endpoint of it."""
    return {
        "name": "envoy.load_balancing_policies.override_host",
        "typed_config": {
            "@type": f"{_EXTENSIONS}.load_balancing_policies.override_host.v3.OverrideHost",
            "override_host_sources": [{"header": _DESTINATION}],
            "fallback_policy": {"policies": [{"typed_extension_config": policy}]},
        },
    }
