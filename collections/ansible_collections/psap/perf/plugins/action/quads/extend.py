# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds, utc_text
from ansible_collections.psap.perf.plugins.module_utils.quads.extending import extend
from ansible_collections.psap.perf.plugins.modules.quads.extend import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.quads import bookings, show_summary
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Extend a lease."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """What it would last."""
        return f"would let the lease last {context.args['lasting']} at least"

    def perform(self, context: VerbContext) -> VerbResult:
        """Set the ends that are earlier."""
        until = datetime.now(UTC) + timedelta(seconds=seconds(context.args["lasting"]))
        ends, hosts = [], []
        owner = context.args["owner"]
        for one in bookings(context, owner=owner):
            lease, rows = extend(one.quads, one.record, until, owner)
            # only what this run booked has a record here
            one.journal.records.note_end(one.record.mark, utc_text(lease.end))
            ends.append(lease.end)
            hosts += [row.host.name for row in rows]
        names = ", ".join(hosts) or "nothing, since it lasts that long already"
        show_summary(context, f"the lease lasts until {utc_text(min(ends))[:16]}Z; extended: {names}")
        return VerbResult(changed=bool(hosts), values={"lease_end": utc_text(min(ends)), "hosts": hosts})
