# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.users.objects import UsersJob
from ansible_collections.psap.perf.plugins.module_utils.users.starting import start_users
from ansible_collections.psap.perf.plugins.modules.users.start import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments:
    job: str
    namespace: str


class ActionModule(PerfAction):
    """Start users together."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the Job."""
        return f"would start the users of Job {context.arguments(Arguments).job}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait for them, and set the instant."""
        args = context.arguments(Arguments)
        job = UsersJob(context.cluster(), args.namespace, args.job)
        plan, started = job.plan(), job.go_at_s()
        if started is not None:
            return VerbResult(values={"go_at_s": started, "lost": {}, "late": []})
        what = f"the users of Job {args.job} are ready"
        with shown_wait(context.command_directory(), what, plan.ready_within_s) as show:
            opening = start_users(job, plan, context.check_interrupted, show)
        values = {"go_at_s": opening.at_s, "lost": opening.lost, "late": opening.late}
        return VerbResult(changed=True, values=values)
