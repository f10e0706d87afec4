"""What is awaited of a model's start: its pods have nodes, then it is ready."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.stuck_pods import pod_without_node, stuck_pod
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal


def start_goals(pods: Query, model: Query, timeouts_s: tuple[float, float], patience_s: float) -> tuple[Goal, Goal]:
    """Both goals, one to be reached after the other.

    :param timeouts_s: how long each may take.
    :param patience_s: how long the model may say that it cannot get ready before that is believed.
    """
    schedule_s, ready_s = timeouts_s
    scheduled = Goal(pods, f"{pods}: scheduled", (predicate_for(pods.kind, "scheduled"),), schedule_s)
    ready = Goal(
        model,
        f"{model}: ready",
        (predicate_for(model.kind, "ready"),),
        ready_s,
        patience_s=patience_s,
        # pods may come after the others have their nodes
        late=pod_without_node,
        surrender=stuck_pod,
    )
    return scheduled, ready
