# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.quads.record import (
    RELEASED,
    REQUESTING,
    Records,
    whole_mark,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import own, release
from ansible_collections.psap.perf.plugins.modules.quads.release import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.quads import bookings, described, noted
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Release what is ours."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """End it; in check mode it is looked for."""
        if context.args["unfinished"]:
            found = [each for mark in sorted(_unfinished(context)) for each in _released(_about(context, mark))]
        elif "/" not in context.args["mark"] and noted(context) is None:
            # a booking is noted before the first call
            return VerbResult(values={"released": []}, skipped="this run has booked nothing")
        else:
            found = _released(context)
        return VerbResult(changed=bool(found), values={"released": found})


def _unfinished(context: VerbContext) -> set[str]:
    """Wishes of which a part was not booked yet."""
    return {whole_mark(each.mark) for each in Records(context.run_directory).all() if each.phase == REQUESTING}


def _about(context: VerbContext, mark: str) -> VerbContext:
    return replace(context, args={**context.args, "mark": mark})


def _released(context: VerbContext) -> list[dict[str, Any]]:
    found = []
    for one in bookings(context):
        if context.check_mode:
            found += own(one.quads, one.record)
            continue
        found += release(one.quads, one.record)
        if Records(context.run_directory).read(one.record.mark) is not None:
            one.journal.note(phase=RELEASED)
    return [described(each, None) for each in found]
