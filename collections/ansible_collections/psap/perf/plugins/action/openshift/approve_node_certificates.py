# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds_text
from ansible_collections.psap.perf.plugins.module_utils.openshift.node_certificates import approve_until_ready
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    timeout: Seconds


class ActionModule(CommandAction):
    """Approve the certificates of nodes."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return what would be approved, and for how long."""
        timeout = seconds_text(context.arguments(Arguments).timeout)
        return f"would approve the requests of nodes until all are ready, for up to {timeout} s"

    def perform(self, context: VerbContext) -> VerbResult:
        """Approve until the nodes are ready."""
        timeout_s = context.arguments(Arguments).timeout
        approved, refused = approve_until_ready(context.cluster(), timeout_s, context.check_interrupted)
        return VerbResult(changed=bool(approved), values={"approved": approved, "refused": refused})
