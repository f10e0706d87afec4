# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.users.grants import Account
from ansible_collections.psap.perf.plugins.module_utils.users.objects import UsersJob
from ansible_collections.psap.perf.plugins.module_utils.users.tokens import give_tokens
from ansible_collections.psap.perf.plugins.modules.users.tokens import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    job: str
    namespace: str
    service_account: str
    lasts_s: int


class ActionModule(PerfAction):
    """Give users tokens."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the Job."""
        return f"would request a token for each user of Job {context.arguments(Arguments).job}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Request and store them, and start the Job."""
        args, cluster = context.arguments(Arguments), context.cluster()
        plan = UsersJob(cluster, args.namespace, args.job).plan()
        account = Account(args.namespace, args.service_account)
        secret = give_tokens(cluster, plan, account, args.lasts_s, context.check_interrupted)
        return VerbResult(changed=True, values={"secret": secret})
