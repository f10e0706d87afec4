# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.openshift.login import Logins
from ansible_collections.psap.perf.plugins.modules.openshift.log_in import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


class ActionModule(PerfAction):
    """Wait until a user can log in."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say who would log in."""
        return f"would wait until {context.args['user']} can log in"

    def perform(self, context: VerbContext) -> VerbResult:
        """Log in until it goes."""
        user, timeout_s = context.args["user"], seconds(context.args["timeout"])
        password, logins = context.secret(context.args["password"]), Logins(context.cluster().access)
        with shown_wait(context.command_directory(), f"the login of {user}", timeout_s) as show:
            logins.wait(user, password, timeout_s, context.check_interrupted, show, context.redactor.add)
        return VerbResult()
