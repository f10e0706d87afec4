# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.modules.locks.renew import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.locks import LockAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(LockAction):
    """Extend the lock of an owner, which is nothing to report as a change."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Have the host do it."""
        state = "renewed" if context.args["required"] else "read"
        found = self.on_host(context, state=state, who={"owner": context.args["owner"]})
        duration_s = found["lock"]["holder"]["duration_s"] if found["locked"] else 0.0
        return VerbResult(values={"locked": found["locked"], "duration_s": duration_s})
