# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.serving.profiler import set_profiler, set_profilers
from ansible_collections.psap.perf.plugins.modules.serving.profiler import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import ModelArguments, pod_endpoint, ready_pods
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    port: int
    state: str
    timeout: Seconds


class ActionModule(PerfAction):
    """Start or stop the profiler of a model server."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the model."""
        args = context.arguments(Arguments)
        return f"would send {args.state} to the profiler of {args.kind} {args.name}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Start or stop the profiler of each pod."""
        args, cluster = context.arguments(Arguments), context.cluster()
        pods = [str(pod["metadata"]["name"]) for pod in ready_pods(cluster, args)]

        def set_of(pod: str, state: str) -> None:
            with pod_endpoint(cluster, args.namespace, pod, args.port) as endpoint:
                set_profiler(endpoint, state, args.timeout)

        set_profilers(pods, args.state, set_of)
        return VerbResult(values={"pods": pods})
