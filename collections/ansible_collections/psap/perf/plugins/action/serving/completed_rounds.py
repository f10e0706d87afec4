# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generators
from ansible_collections.psap.perf.plugins.module_utils.serving.rounds import completed_rounds
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell
from ansible_collections.psap.perf.plugins.modules.serving.completed_rounds import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    cell: Cell
    loads: Mapping[str, int]


class ActionModule(PerfAction):
    """Count the rounds of loads that earlier attempts completed."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Count them."""
        args = context.arguments(Arguments)
        markers = [generator.marker for generator in generators().values()]
        completed = completed_rounds(RunEnvironment.read().root, args.cell.index, args.loads, markers)
        return VerbResult(values={"completed": completed})
