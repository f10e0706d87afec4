# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.htpasswd import add_admin, check_user, remove_admin
from ansible_collections.psap.perf.plugins.module_utils.openshift.login import Logins
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait


@dataclass(frozen=True, slots=True)
class Arguments:
    username: str
    password: str
    state: Literal["present", "absent"]
    wait: bool
    timeout: Seconds


class ActionModule(CommandAction):
    """Add or remove an administrator."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Change what differs, then wait for a login if the command waits."""
        args, cluster = context.arguments(Arguments), context.cluster()
        user = check_user(args.username)
        if args.state == "absent":
            return VerbResult(remove_admin(cluster, user, dry=context.check_mode))
        if not args.password:
            raise UsageError("state present needs a password, a reference to a secret")
        password = context.secret(args.password)
        changed = add_admin(cluster, user, password, dry=context.check_mode)
        if args.wait and args.timeout and not context.check_mode:
            logins = Logins(cluster.access)
            with shown_wait(context.command_directory(), f"the login of {user}", args.timeout) as show:
                logins.wait(user, password, args.timeout, context.check_interrupted, show, context.redactor.add)
        return VerbResult(changed)
