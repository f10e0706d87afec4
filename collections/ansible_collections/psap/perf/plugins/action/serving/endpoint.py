# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import endpoint_of
from ansible_collections.psap.perf.plugins.modules.serving.endpoint import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving import ModelArguments, model_service
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


class ActionModule(PerfAction):
    """Find the address of a served model."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the name of the model."""
        args = context.arguments(ModelArguments)
        return f"would find the address of {args.kind} {args.name}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the service."""
        args, cluster = context.arguments(ModelArguments), context.cluster()
        found = endpoint_of(model_service(cluster, args), cluster.lab(), args.protocol)
        parts = {"scheme": found.scheme, "host": found.host, "port": found.port, "path": found.path}
        return VerbResult(values={"url": found.url, **parts})
