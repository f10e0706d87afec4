# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.openshift.node_certificates import approve_until_ready
from ansible_collections.psap.perf.plugins.modules.openshift.approve_node_certificates import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Approve the certificates of nodes."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be done."""
        return f"would approve what nodes ask for until all are ready, for up to {context.args['timeout']}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Approve until the nodes are ready."""
        timeout_s = seconds(context.args["timeout"])
        approved, refused = approve_until_ready(context.cluster(), timeout_s, context.check_interrupted)
        return VerbResult(changed=bool(approved), values={"approved": approved, "refused": refused})
