# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, parse_utc, seconds_text
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import pass_time
from ansible_collections.psap.perf.plugins.modules.pause import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    duration: Seconds
    since: str


class ActionModule(PerfAction):
    """Pause."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the duration."""
        return f"would pause {seconds_text(context.arguments(Arguments).duration)} s"

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait until the time, by the clock of the documents' times."""
        args, now_s = context.arguments(Arguments), time.time()
        until_s = (parse_utc(args.since).timestamp() if args.since else now_s) + args.duration
        pass_time(until_s - now_s, context.check_interrupted)
        return VerbResult(values={"late_s": round(time.time() - until_s, 3)})
