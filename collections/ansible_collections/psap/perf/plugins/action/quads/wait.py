# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from datetime import timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.quads.awaiting import wait
from ansible_collections.psap.perf.plugins.module_utils.quads.extending import warning
from ansible_collections.psap.perf.plugins.modules.quads.wait import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.quads import bookings, described, telling
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Wait for the delivery."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """How long it would be waited for."""
        return f"would wait up to {context.args['timeout']} for the hosts of the booking"

    def perform(self, context: VerbContext) -> VerbResult:
        """Look until they are there."""
        args = context.args
        first, *others = bookings(context, writes=False)
        timeout_s = seconds(args["timeout"])
        elsewhere = {name for each in others for name in each.record.hosts}
        wanted = [name for name in args["hosts"] if name not in elsewhere] or first.record.hosts
        parts = [(first.record, wanted), *((each.record, each.record.hosts) for each in others)]
        with telling(context, f"the delivery of {first.record.mark}", timeout_s) as say:
            interval = timedelta(seconds=max(0.1, seconds(args["interval"])))
            deliveries = wait(first.quads, parts, timedelta(seconds=timeout_s), interval, say)
        warn_s = seconds(args["warn_before"])
        warned = tuple(filter(None, (warning(each.lease, warn_s) for each in deliveries)))
        facts = described(deliveries[0].assignment, deliveries[0].lease)
        hosts = [host.name for each in deliveries for host in each.hosts]
        return VerbResult(values={**facts, "hosts": hosts}, warnings=warned)
