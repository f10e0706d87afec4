# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds_text, utc_text
from ansible_collections.psap.perf.plugins.module_utils.quads.extending import extend
from ansible_collections.psap.perf.plugins.plugin_utils.quads import bookings, show_summary
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    lasting: Seconds
    owner: str


class ActionModule(CommandAction):
    """Extend a reservation."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the minimum remaining lease."""
        return f"would extend the lease to at least {seconds_text(context.arguments(Arguments).lasting)} s from now"

    def perform(self, context: VerbContext) -> VerbResult:
        """Extend the schedules that end earlier."""
        args = context.arguments(Arguments)
        until = datetime.now(UTC) + timedelta(seconds=args.lasting)
        ends, hosts = [], []
        for one in bookings(context, owner=args.owner):
            reservation, rows = extend(one.quads, one.record, until, args.owner)
            # only a booking of this run has a record here
            one.journal.records.note_end(one.record.mark, utc_text(reservation.end))
            ends.append(reservation.end)
            hosts += [row.host.name for row in rows]
        names = ", ".join(hosts) or "nothing, since it lasts that long already"
        show_summary(context, f"the lease lasts until {utc_text(min(ends))[:16]}Z; extended: {names}")
        return VerbResult(changed=bool(hosts), values={"lease_end": utc_text(min(ends)), "hosts": hosts})
