# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import FILE, PipelineRun
from ansible_collections.psap.perf.plugins.module_utils.pipelines.notebook import requested_runs
from ansible_collections.psap.perf.plugins.module_utils.pipelines.runs import failures, pipeline_runs, progress
from ansible_collections.psap.perf.plugins.module_utils.pipelines.waiting import wait_for_runs
from ansible_collections.psap.perf.plugins.modules.pipelines.wait_runs import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.pipelines import RunArguments, write_runs
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments(RunArguments):
    timeout: Seconds
    submitted: tuple[Mapping[str, str | float], ...]


class ActionModule(CommandAction):
    """Wait until runs of pipelines have ended."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the number of runs."""
        return f"would wait until {len(context.arguments(Arguments).runs)} runs have ended"

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait, and write the document regardless of the result."""
        args = context.arguments(Arguments)
        requested = requested_runs(args.runs, args.submitted)
        workflows: dict[str, Manifest] = {}
        with shown_wait(context.directory, "the runs have ended", args.timeout) as show:

            def evaluate(seen: Mapping[str, Manifest]) -> tuple[PipelineRun, ...]:
                # a Workflow may be deleted after its end
                workflows.update(seen)
                runs = pipeline_runs(requested, workflows, args.user, args.namespace, args.first_run_number)
                show(progress(runs))
                return runs

            query = Query("argoproj.io", "Workflow", args.namespace)
            try:
                wait_for_runs(context.cluster(), query, args.runs, evaluate, args.timeout, context.check_interrupted)
            finally:
                runs = write_runs(context, args, requested, workflows)
        problem = failures(runs)
        if problem:
            raise PerfError(f"{problem}; see {FILE}")
        return VerbResult(values={"runs": len(runs)})
