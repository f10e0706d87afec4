# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc, seconds
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import pass_time
from ansible_collections.psap.perf.plugins.modules.pause import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Let time pass."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say how long."""
        return f"would pause {seconds(context.args['duration']):g} s"

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait for the moment, by the clock that stamps documents."""
        since, now_s = context.args["since"], time.time()
        until_s = (parse_utc(since).timestamp() if since else now_s) + seconds(context.args["duration"])
        pass_time(until_s - now_s, context.check_interrupted)
        return VerbResult(values={"late_s": round(time.time() - until_s, 3)})
