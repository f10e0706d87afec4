# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_cell
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import AnswerError, Caller, complete
from ansible_collections.psap.perf.plugins.module_utils.serving.model_start import seen_steps
from ansible_collections.psap.perf.plugins.module_utils.serving.start_watching import FirstSeen, watch_start
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import answering_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import poll_until
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready
from ansible_collections.psap.perf.plugins.module_utils.waiting.stuck_pods import stuck_pod
from ansible_collections.psap.perf.plugins.modules.serving.cold_starts import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import (
    ModelArguments,
    ServiceArguments,
    lab_parts,
    model_endpoint,
    model_service,
    ready_pods,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

_FILE = "cold_starts.json"
# the resolution of the first answer's time
_AGAIN_S = 0.2
_ANSWER_S = 30.0


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    cell: Cell
    count: int
    timeout: Seconds
    first_answer: bool
    authority: str
    asked: ServiceArguments


class ActionModule(PerfAction):
    """Measure cold starts of a model."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the model and the number of starts."""
        args = context.arguments(Arguments)
        return f"would delete the pods of {args.kind} {args.name} {args.count} times"

    def perform(self, context: VerbContext) -> VerbResult:
        """Measure each start, and keep those that ended if a later one fails."""
        args, cluster = context.arguments(Arguments), context.cluster()
        path = open_cell(RunEnvironment.read(), args.cell.index) / _FILE
        identity = {"schema": "psap.perf/cold-starts/1", "service": args.name, **asdict(args.asked)}
        document = {**identity, "lab": lab_parts(cluster, args)}
        starts: list[dict[str, Any]] = []
        for number in range(1, args.count + 1):
            steps = _measure(context, args, f"start {number} of {args.count}")
            starts.append({"number": number, "steps": steps})
            write_json(path, {**document, "requested": args.count, "starts": starts})
        return VerbResult(changed=True, values={"starts": len(starts)})


def _measure(context: VerbContext, args: Arguments, what: str) -> list[dict[str, Any]]:
    """Return the steps of one start."""
    cluster = context.cluster()
    pods = Query("v1", "Pod", args.namespace, label_selector=answering_pods(args.kind, args.name))
    replaced = {str(pod["metadata"]["uid"]) for pod in ready_pods(cluster, args)}
    # a pod that still ends since the previous start
    replaced |= {str(pod["metadata"]["uid"]) for pod in cluster.list(pods)[0]}
    first_seen = FirstSeen(ignored=replaced)
    answered = ""
    with watch_start(first_seen, cluster, pods, Query("v1", "Event", args.namespace)):
        deleted = utc_now()
        cluster.delete_collection(pods)
        with shown_wait(context.command_directory(), what, args.timeout) as show:

            def read() -> tuple[bool, str]:
                return _new_pod(cluster, args, pods, replaced)

            otherwise = f"{args.kind} {args.namespace}/{args.name}: {what}: no new pod was Ready"
            poll_until(
                read, otherwise, args.timeout, context.check_interrupted, show, pause_s=_AGAIN_S, longest_pause_s=1.0
            )
        if args.first_answer:
            answered = _first_answer(context, args)
    moments = {"deleted": deleted, **first_seen.seen(), "first answer": answered}
    return [asdict(step) for step in seen_steps(moments)]


def _new_pod(cluster: Cluster, args: Arguments, pods: Query, replaced: set[str]) -> tuple[bool, str]:
    """Return whether a new pod is Ready, and the number of new pods.

    Raises:
        PerfError: If a new pod cannot start.
    """
    found, _version = cluster.list(pods)
    new = [pod for pod in found if pod["metadata"]["uid"] not in replaced]
    if any(pod_ready(pod).reached for pod in new):
        return True, ""
    if reason := stuck_pod(cluster, model_service(cluster, args)):
        raise PerfError(f"{args.kind} {args.namespace}/{args.name} cannot start again: {reason}")
    return False, f"{len(new)} new pods, none of them Ready"


def _first_answer(context: VerbContext, args: Arguments) -> str:
    """Return when the model answered, as UTC text."""
    endpoint, caller = model_endpoint(context.cluster(), args), Caller(_ANSWER_S, args.authority)

    def ask() -> tuple[bool, str]:
        try:
            complete(endpoint, args.name, "Hello", 1, caller)
        except AnswerError as error:
            return False, str(error)
        return True, ""

    with shown_wait(context.command_directory(), "the first answer", args.timeout) as show:
        poll_until(
            ask,
            f"there was no answer of {args.kind} {args.name} after its start",
            args.timeout,
            context.check_interrupted,
            show,
            pause_s=_AGAIN_S,
            longest_pause_s=_AGAIN_S,
        )
    return utc_now()
