# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.replacing_pods import replace_pods
from ansible_collections.psap.perf.plugins.modules.replace_pods import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Replace pods."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say which would be deleted."""
        return f"would delete the pods with {context.args['label_selector']} in {context.args['namespace']}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete them, and wait for others."""
        args = context.args
        cluster = context.cluster()
        query = Query("v1", "Pod", args["namespace"], label_selector=args["label_selector"])
        pods, _version = cluster.list(query)
        if not pods:
            raise ClusterError(f"there are no {query}; say with namespace and label which pods are meant")
        replace_pods(cluster, query, pods, seconds(args["timeout"]), context.check_interrupted)
        return VerbResult(changed=True, values={"replaced": [pod["metadata"]["name"] for pod in pods]})
