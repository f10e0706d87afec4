# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.openshift.login import Logins
from ansible_collections.psap.perf.plugins.modules.openshift.log_in import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of the command, and *user*, which its task passes."""

    user: str
    user_password: str
    login_timeout: Seconds


class ActionModule(CommandAction):
    """Wait until a user can log in."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return which user would log in."""
        return f"would wait until {context.arguments(Arguments).user} can log in"

    def perform(self, context: VerbContext) -> VerbResult:
        """Try to log in until it succeeds."""
        args = context.arguments(Arguments)
        password, logins = context.secret(args.user_password), Logins(context.cluster().access)
        with shown_wait(context.command_directory(), f"the login of {args.user}", args.login_timeout) as show:
            logins.wait(args.user, password, args.login_timeout, context.check_interrupted, show, context.redactor.add)
        return VerbResult()
