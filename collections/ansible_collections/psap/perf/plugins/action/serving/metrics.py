# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import forwarded
from ansible_collections.psap.perf.plugins.module_utils.serving.forwarding import forwarding
from ansible_collections.psap.perf.plugins.module_utils.serving.scraping import FILE, SCHEMA, parse_metrics, scrape
from ansible_collections.psap.perf.plugins.modules.serving.metrics import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving import ModelArguments, is_simulated, ready_pods
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    port: int
    moment: str
    facts: Mapping[str, Any]


class ActionModule(PerfAction):
    """Record the metrics of a model server."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the model."""
        args = context.arguments(Arguments)
        return f"would read the metrics of {args.kind} {args.name}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the metrics of each pod, and add them to the recording."""
        args, cluster = context.arguments(Arguments), context.cluster()
        artifacts = context.directory / "artifacts"
        recorded = [] if args.moment == _BEFORE else read_json(artifacts / FILE)["scrapes"]
        series = 0
        for pod in ready_pods(cluster, args):
            context.check_interrupted()
            connect = functools.partial(forwarded, cluster.access, args.namespace, pod, args.port)
            at = utc_now()
            with forwarding(connect) as here:
                text = scrape(here.endpoint("", f"port {args.port} of pod {args.namespace}/{pod}"))
            place = artifacts / "model_metrics" / f"{pod}_{args.moment}.txt"
            place.parent.mkdir(parents=True, exist_ok=True)
            write_text(place, text)
            samples = [asdict(sample) for sample in parse_metrics(text)]
            recorded = [*recorded, {"moment": args.moment, "at": at, "pod": pod, "samples": samples}]
            series += len(samples)
        simulated, lab = is_simulated(cluster, args), context.lab()
        shown = lab.serving(is_real=not simulated) if lab else None
        facts = {name: str(value) for name, value in args.facts.items() if value}
        document = {"schema": SCHEMA, "model": args.name, "facts": facts, "lab": shown and shown.document()}
        write_json(artifacts / FILE, {**document, "scrapes": recorded})
        return VerbResult(values={"series": series})
