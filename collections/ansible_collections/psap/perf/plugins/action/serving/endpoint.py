# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import endpoint_within
from ansible_collections.psap.perf.plugins.modules.serving.endpoint import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import (
    ModelArguments,
    is_simulated,
    model_endpoint,
    model_service,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    within_cluster: bool


class ActionModule(PerfAction):
    """Find the address of a served model."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the name of the model."""
        args = context.arguments(Arguments)
        return f"would find the address of {args.kind} {args.name}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the service."""
        args, cluster = context.arguments(Arguments), context.cluster()
        found = endpoint_within(model_service(cluster, args)) if args.within_cluster else model_endpoint(cluster, args)
        parts = {"scheme": found.scheme, "host": found.host, "port": found.port, "path": found.path}
        return VerbResult(values={"url": found.url, **parts, "simulated": is_simulated(cluster, args)})
