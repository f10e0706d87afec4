# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.prometheus.awaiting import Expected, await_series
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus
from ansible_collections.psap.perf.plugins.modules.prometheus.wait import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import address_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Wait for series of Prometheus."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say what would be awaited."""
        names = ", ".join(item["what"] for item in context.args["series"])
        return f"would wait up to {context.args['timeout']} until Prometheus has: {names}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Ask until all of them are there."""
        expected = [Expected(item["what"], item["query"], item["count"]) for item in context.args["series"]]
        timeout_s = seconds(context.args["timeout"])
        with Prometheus(address_of(context)) as prometheus:
            answers = await_series(prometheus, expected, timeout_s, context.check_interrupted)
        found = [
            {"what": one.what, "labels": [dict(series.labels) for series in answer.series]}
            for one, answer in zip(expected, answers, strict=True)
        ]
        return VerbResult(values={"series": found})
