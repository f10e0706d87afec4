# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.kube_api import temporary
from ansible_collections.psap.perf.plugins.modules.delete_temporary import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    timeout: Seconds


class ActionModule(PerfAction):
    """Delete the temporary objects of this run."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Find them by their label; a run that created none connects to no cluster."""
        wanted = temporary.queries(context.run_directory)
        if not wanted:
            return VerbResult(values={"objects": []})
        timeout = context.arguments(Arguments).timeout
        gone = temporary.delete(context.cluster(), wanted, context.check_mode, timeout, context.check_interrupted)
        return VerbResult(
            changed=bool(gone),
            values={"objects": [outcome.title for outcome in gone]},
            diff=[outcome.difference for outcome in gone],
        )
