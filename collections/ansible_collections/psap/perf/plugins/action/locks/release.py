# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lock import unlock
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import read_lock
from ansible_collections.psap.perf.plugins.modules.locks.release import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.locks import LockAction, LockArguments
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult


class ActionModule(LockAction):
    """End the lock of an owner."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Release the lock if the owner holds it."""
        args = context.arguments(LockArguments)
        if args.folder:
            done = self.on_host(context, state="absent", who={"owner": args.owner})
            return VerbResult(changed=bool(done["changed"]))
        if context.check_mode:
            locked = read_lock(context.cluster())
            return VerbResult(changed=locked is not None and locked.holder.run == args.owner)
        return VerbResult(changed=unlock(context.cluster(), args.owner))
