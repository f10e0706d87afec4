# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus
from ansible_collections.psap.perf.plugins.module_utils.prometheus.querying import await_scrape, late_scrape, targets_of
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import PrometheusArguments, address_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(PrometheusArguments):
    timeout: Seconds


class ActionModule(CommandAction):
    """Empty a Prometheus."""

    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return what would be deleted."""
        return f"would delete all series of Prometheus {context.arguments(Arguments).url}".rstrip()

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete all series."""
        args = context.arguments(Arguments)
        with Prometheus(address_of(context, args)) as prometheus:
            targets = targets_of(prometheus)
            prometheus.delete_series()
            prometheus.clean_tombstones()
            scraped = await_scrape(prometheus, time.time(), args.timeout, context.check_interrupted, targets)
            return VerbResult(
                changed=True,
                values={"url": prometheus.address.url, "scraped": scraped},
                warnings=() if scraped else (late_scrape(args.timeout),),
            )
