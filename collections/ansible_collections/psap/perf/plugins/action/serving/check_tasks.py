# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, capture
from ansible_collections.psap.perf.plugins.module_utils.serving.evaluation import LM_EVAL, task_options
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import program_of
from ansible_collections.psap.perf.plugins.modules.serving.check_tasks import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    tasks: tuple[str, ...]
    tasks_path: str
    program: str
    timeout: Seconds


class ActionModule(PerfAction):
    """Check the tasks of an evaluation."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the tasks."""
        return f"would check that lm_eval has {', '.join(context.arguments(Arguments).tasks)}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Let lm_eval validate the tasks."""
        args = context.arguments(Arguments)
        words = (program_of(LM_EVAL, args.program), "validate", *task_options(args.tasks, args.tasks_path))
        ran = capture(Program(words, Path.cwd(), {}), args.timeout, context.check_interrupted)
        if ran.exit_code:
            lines = [*ran.output.decode("utf-8", "replace").splitlines(), *ran.errors.splitlines()]
            last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
            raise UsageError(f"lm_eval refuses the tasks {', '.join(args.tasks)}: {last}")
        return VerbResult()
