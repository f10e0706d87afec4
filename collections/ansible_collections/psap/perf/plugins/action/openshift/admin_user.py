# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.htpasswd import add_admin, check_user, remove_admin
from ansible_collections.psap.perf.plugins.module_utils.openshift.login import Logins
from ansible_collections.psap.perf.plugins.modules.openshift.admin_user import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


class ActionModule(PerfAction):
    """Add or remove an administrator."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Change what differs, then log in, if that is wanted."""
        args, cluster = context.args, context.cluster()
        user = check_user(args["user"])
        if args["state"] == "absent":
            return VerbResult(remove_admin(cluster, user, dry=context.check_mode))
        if not args["password"]:
            raise UsageError("a user who is to be present needs a password, a reference to a secret")
        password, timeout_s = context.secret(args["password"]), seconds(args["login_timeout"])
        changed = add_admin(cluster, user, password, dry=context.check_mode)
        if timeout_s and not context.check_mode:
            logins = Logins(cluster.access)
            with shown_wait(context.command_directory(), f"the login of {user}", timeout_s) as show:
                logins.wait(user, password, timeout_s, context.check_interrupted, show, context.redactor.add)
        return VerbResult(changed)
