# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds_text
from ansible_collections.psap.perf.plugins.module_utils.quads.awaiting import wait
from ansible_collections.psap.perf.plugins.module_utils.quads.extending import warning
from ansible_collections.psap.perf.plugins.plugin_utils.quads import bookings, described, show_progress
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    hosts: tuple[str, ...]
    timeout: Seconds
    interval: Seconds
    warn_before: Seconds


class ActionModule(CommandAction):
    """Wait for the delivery."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return how long it would wait."""
        return f"would wait up to {seconds_text(context.arguments(Arguments).timeout)} s for the hosts of the booking"

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait until all hosts are delivered."""
        args = context.arguments(Arguments)
        first, *others = bookings(context, writes=False)
        elsewhere = {name for each in others for name in each.record.hosts}
        wanted = [name for name in args.hosts if name not in elsewhere] or first.record.hosts
        parts = [(first.record, wanted), *((each.record, each.record.hosts) for each in others)]
        with show_progress(context, f"the delivery of {first.record.mark}", args.timeout) as report:
            interval = timedelta(seconds=max(0.1, args.interval))
            deliveries = wait(first.quads, parts, timedelta(seconds=args.timeout), interval, report)
        warned = tuple(filter(None, (warning(each.reservation, args.warn_before) for each in deliveries)))
        facts = described(deliveries[0].assignment, deliveries[0].reservation)
        hosts = [host.name for each in deliveries for host in each.hosts]
        return VerbResult(values={**facts, "hosts": hosts}, warnings=warned)
