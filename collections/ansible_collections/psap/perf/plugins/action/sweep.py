# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.cluster import temporary
from ansible_collections.psap.perf.plugins.modules.sweep import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Delete the temporary objects of this run."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Find them by their label; a run that made none asks no cluster."""
        wanted = temporary.queries(context.run_directory)
        if not wanted:
            return VerbResult(values={"objects": []})
        timeout = seconds(context.args["timeout"])
        gone = temporary.sweep(context.cluster(), wanted, context.check_mode, timeout, context.check_interrupted)
        return VerbResult(
            changed=bool(gone),
            values={"objects": [outcome.title for outcome in gone]},
            diff=[outcome.difference for outcome in gone],
        )
