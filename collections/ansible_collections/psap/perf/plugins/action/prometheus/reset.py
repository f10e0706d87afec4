# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus
from ansible_collections.psap.perf.plugins.module_utils.prometheus.querying import await_scrape, late_scrape, targets_of
from ansible_collections.psap.perf.plugins.modules.prometheus.reset import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import address_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Empty a Prometheus."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be deleted."""
        return f"would delete all series of Prometheus {context.args['url']}".rstrip()

    def perform(self, context: VerbContext) -> VerbResult:
        """Delete all series."""
        timeout_s = seconds(context.args["timeout"])
        with Prometheus(address_of(context)) as prometheus:
            targets = targets_of(prometheus)
            prometheus.delete_series()
            prometheus.clean_tombstones()
            scraped = await_scrape(prometheus, time.time(), timeout_s, context.check_interrupted, targets)
            return VerbResult(
                changed=True,
                values={"url": prometheus.address.url, "scraped": scraped},
                warnings=() if scraped else (late_scrape(timeout_s),),
            )
