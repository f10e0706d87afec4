# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.modules.locks.renew import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.locks import LockAction, LockArguments
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(LockArguments):
    required: bool


class ActionModule(LockAction):
    """Extend the lock of an owner, which is not reported as a change."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Extend the lock on the host; if not required, only read it."""
        args = context.arguments(Arguments)
        state = "renewed" if args.required else "read"
        found = self.on_host(context, state=state, who={"owner": args.owner})
        duration_s = found["lock"]["holder"]["duration_s"] if found["locked"] else 0.0
        return VerbResult(values={"locked": found["locked"], "duration_s": duration_s})
