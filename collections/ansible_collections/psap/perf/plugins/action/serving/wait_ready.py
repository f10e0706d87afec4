# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.serving.start_goals import start_goals
from ansible_collections.psap.perf.plugins.module_utils.serving.start_watching import FirstSeen, watch_start
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import answering_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, NotReachedError
from ansible_collections.psap.perf.plugins.modules.serving.wait_ready import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import ModelArguments
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_for import shown_wait_for


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    schedule_timeout: Seconds
    timeout: Seconds
    patience: Seconds


class ActionModule(PerfAction):
    """Wait until a model is ready."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the goals of the wait."""
        return f"would wait until {' and '.join(goal.described for goal in _goals(context.arguments(Arguments)))}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait for a node, then for the model, and watch its pods meanwhile."""
        args = context.arguments(Arguments)
        pods = Query("v1", "Pod", args.namespace, label_selector=answering_pods(args.kind, args.name))
        events = Query("v1", "Event", args.namespace)
        first_seen = FirstSeen()
        try:
            with watch_start(first_seen, context.cluster(), pods, events):
                for goal in _goals(args):
                    shown_wait_for(context, goal)
                ready = utc_now()
        except NotReachedError as error:
            error.result = {"seen": first_seen.seen()}
            raise
        return VerbResult(values={"seen": {**first_seen.seen(), "ready": ready}})


def _goals(args: Arguments) -> tuple[Goal, Goal]:
    model = Query(api_version_of(args.kind), args.kind, args.namespace, args.name)
    return start_goals(model, (args.schedule_timeout, args.timeout), args.patience)
