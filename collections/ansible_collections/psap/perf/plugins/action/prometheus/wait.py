# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds_text
from ansible_collections.psap.perf.plugins.module_utils.prometheus.awaiting import Expected, await_series
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus
from ansible_collections.psap.perf.plugins.modules.prometheus.wait import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import PrometheusArguments, address_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    series: tuple[Expected, ...]
    prometheus_url: str
    prometheus_token: str
    prometheus_authority: str
    prometheus_service_account: str
    timeout: Seconds

    @property
    def prometheus(self) -> PrometheusArguments:
        """Return the arguments for finding Prometheus."""
        return PrometheusArguments(
            self.prometheus_url, self.prometheus_token, self.prometheus_authority, self.prometheus_service_account
        )


class ActionModule(CommandAction):
    """Wait for series of Prometheus."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the expected series."""
        args = context.arguments(Arguments)
        names = ", ".join(one.what for one in args.series)
        return f"would wait up to {seconds_text(args.timeout)} s until Prometheus has: {names}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Query until all of them exist."""
        args = context.arguments(Arguments)
        with Prometheus(address_of(context, args.prometheus)) as prometheus:
            answers = await_series(prometheus, args.series, args.timeout, context.check_interrupted)
        found = [
            {"what": one.what, "labels": [dict(series.labels) for series in answer.series]}
            for one, answer in zip(args.series, answers, strict=True)
        ]
        return VerbResult(values={"series": found})
