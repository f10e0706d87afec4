# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.pipelines.collecting import collected_runs
from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import FILE, PipelinesResult
from ansible_collections.psap.perf.plugins.module_utils.pipelines.runs import failures, states
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_cell
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell
from ansible_collections.psap.perf.plugins.modules.pipelines.collect import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    cell: Cell
    projects: tuple[str, ...]
    runs_per_user: int


class ActionModule(PerfAction):
    """Collect the runs of all users."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the number of users."""
        return f"would write {FILE} of {len(context.arguments(Arguments).projects)} users"

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the document of the cell."""
        args, lab = context.arguments(Arguments), context.lab()
        directory = open_cell(RunEnvironment.read(), args.cell.index)
        runs = collected_runs(directory, args.projects, args.runs_per_user)
        result = PipelinesResult(runs, states(runs), lab.document() if lab else None)
        write_json(directory / FILE, result.document())
        return VerbResult(values={"runs": len(runs), "failures": failures(runs)})
