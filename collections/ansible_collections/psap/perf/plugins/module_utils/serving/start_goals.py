"""The goals of a model's start: the pods that load it have nodes, then it is ready."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import loading_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.stuck_pods import pod_without_node, stuck_pod
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal

# KServe's controller ignores the model after this event, without an entry in its status
_REJECTED = "ServerlessModeRejected"


def start_goals(model: Query, timeouts_s: tuple[float, float], patience_s: float) -> tuple[Goal, Goal]:
    """Return both goals, in the order in which they are reached.

    Args:
        model: The InferenceService or LLMInferenceService, by name.
        timeouts_s: The timeout of each goal.
        patience_s: How long the model's status may be failed before the wait fails.
    """
    schedule_s, ready_s = timeouts_s
    pods = Query("v1", "Pod", model.namespace, label_selector=loading_pods(model.kind, model.name or ""))
    scheduled = Goal(
        pods,
        f"{pods}: scheduled",
        (predicate_for(pods.kind, "scheduled"),),
        schedule_s,
        patience_s=patience_s,
        # a model that cannot be served never gets a pod
        blocked=lambda source: unservable(source, model),
    )
    ready = Goal(
        model,
        f"{model}: ready",
        (predicate_for(model.kind, "ready"),),
        ready_s,
        patience_s=patience_s,
        # pods may be created after the others have their nodes
        late=pod_without_node,
        surrender=stuck_pod,
    )
    return scheduled, ready


def unservable(source: Source, model: Query) -> str:
    """Return why KServe does not serve a model at all; empty if it does, or has not reported a reason yet.

    Raises:
        ClusterError: If the cluster does not respond.
    """
    for item in source.list(model)[0]:
        verdict = predicate_for(model.kind, "ready")(item)
        if verdict.hopeless:
            return f"{model.kind} {item['metadata']['name']}: {verdict.note}"
        selector = f"involvedObject.uid={item['metadata']['uid']},reason={_REJECTED}"
        for event in source.list(Query("v1", "Event", model.namespace, field_selector=selector))[0]:
            return (
                f"{model.kind} {item['metadata']['name']}: {event['message']}; install Knative, or deploy the model "
                "with raw_deployment"
            )
    return ""
