# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain, write_json
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.serving.model_start import FILE, Observed, document
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import answering_pods
from ansible_collections.psap.perf.plugins.modules.serving.model_start import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.serving import find_model_service
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Record the steps of a model's start."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be written."""
        return f"would write {FILE} of {context.args['kind']} {context.args['name']}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Look at the service, its pods and their events as they are now."""
        args, cluster = context.args, context.cluster()
        namespace = args["namespace"]
        service = find_model_service(cluster, args["kind"], namespace, args["name"])
        if service is None:
            return VerbResult(skipped=f"there is no {args['kind']} {args['name']}, so nothing started")
        selector = answering_pods(args["kind"], args["name"])
        pods, _version = cluster.list(Query("v1", "Pod", namespace, label_selector=selector))
        events, _version = cluster.list(Query("v1", "Event", namespace))
        told = document(plain(args["asked"]), Observed(service, pods, events, plain(args["seen"])))
        write_json(context.directory / "artifacts" / FILE, told)
        return VerbResult(values={name: told[name] for name in ("steps", "seen")})
