# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import endpoint_of
from ansible_collections.psap.perf.plugins.modules.serving.endpoint import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.serving import model_service
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Find where a served model is reached."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say of what."""
        return f"would find where {context.args['kind']} {context.args['name']} is reached"

    def perform(self, context: VerbContext) -> VerbResult:
        """Look."""
        args, cluster = context.args, context.cluster()
        service = model_service(cluster, args["kind"], args["namespace"], args["name"])
        found = endpoint_of(service, cluster.lab(), args["protocol"])
        parts = {"scheme": found.scheme, "host": found.host, "port": found.port, "path": found.path}
        return VerbResult(values={"url": found.url, **parts})
