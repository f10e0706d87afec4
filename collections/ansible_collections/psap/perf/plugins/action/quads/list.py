# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import listing, reservation_of, running
from ansible_collections.psap.perf.plugins.module_utils.quads.times import parse_offset
from ansible_collections.psap.perf.plugins.plugin_utils.quads import described, server, show_summary
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    owner: str
    utc_offset: str


class ActionModule(CommandAction):
    """List assignments."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the assignments and the free clouds."""
        args = context.arguments(Arguments)
        clock, now = parse_offset(args.utc_offset), datetime.now(UTC)
        quads = server(context)
        found = []
        for each in quads.assignments(args.owner):
            rows = running(quads.rows(each.id), clock, now)
            hosts = sorted(row.host.name for row in rows)
            found.append({**described(each, reservation_of(rows, clock, now)), "hosts": hosts})
        free = quads.free_clouds()
        show_summary(
            context, f"{len(found)} active assignments; free clouds: {', '.join(free) or 'none'}", listing(found)
        )
        return VerbResult(values={"assignments": found, "free_clouds": free})
