# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraped import Sampling
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready
from ansible_collections.psap.perf.plugins.modules.serving.metrics import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving.server_metrics import (
    DURING,
    ScrapedModel,
    ServerMetrics,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Arguments(ScrapedModel):
    moment: str
    facts: Mapping[str, Any]
    folder: str
    until: str
    until_namespace: str
    timeout: Seconds


class ActionModule(PerfAction):
    """Record the metrics of a model server."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the model."""
        args = context.arguments(Arguments)
        return f"would read the metrics of {args.kind} {args.name}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the metrics of each pod at this moment, or until the load has ended."""
        args, cluster = context.arguments(Arguments), context.cluster()
        metrics = ServerMetrics(cluster, args, context.lab(), context.directory / "artifacts" / args.folder)
        if args.moment != DURING:
            return VerbResult(values={"series": metrics.record(args.moment, args.facts)})

        load = Query("v1", "Pod", args.until_namespace or args.namespace, label_selector=args.until)

        def ended() -> bool:
            pods, _version = cluster.list(load)
            return any(pod_ready(pod).reached or pod["status"].get("phase") in _ENDED for pod in pods)

        values, late = metrics.sample(Sampling(args.interval, args.timeout, ended, context.check_interrupted))
        return VerbResult(values={"series": values}, warnings=late)
