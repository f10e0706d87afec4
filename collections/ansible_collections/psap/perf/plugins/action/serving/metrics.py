# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.evaluating import Page
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import read_queries, shipped_files
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraped import Sampling, answer_queries, sample
from ansible_collections.psap.perf.plugins.module_utils.serving.scraping import FILE, SCHEMA, parse_metrics, scrape
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready
from ansible_collections.psap.perf.plugins.modules.serving.metrics import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.serving import (
    ModelArguments,
    is_simulated,
    pod_endpoint,
    ready_pods,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_BEFORE, _DURING = "before", "during"
_FOLDER = "server_metrics"
_ENDED = ("Succeeded", "Failed")
_COLLECTION = Path(__file__).parents[3]
_LAYER = "model_server"


@dataclass(frozen=True, slots=True)
class Arguments(ModelArguments):
    port: int
    moment: str
    facts: Mapping[str, Any]
    until: str
    interval: Seconds
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
        if args.moment == _DURING:
            return _record(context, args, cluster)
        artifacts = context.directory / "artifacts"
        recorded = [] if args.moment == _BEFORE else read_json(artifacts / FILE)["scrapes"]
        series = 0
        for pod in ready_pods(cluster, args):
            context.check_interrupted()
            at, text = utc_now(), _page(cluster, args, pod)
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


def _page(cluster: Cluster, args: Arguments, pod: str) -> str:
    with pod_endpoint(cluster, args.namespace, pod, args.port) as endpoint:
        return scrape(endpoint)


def _record(context: VerbContext, args: Arguments, cluster: Cluster) -> VerbResult:
    queries = read_queries(shipped_files(_COLLECTION)[_LAYER], args.namespace)
    missed: list[str] = []

    def pages() -> Iterator[Page]:
        try:
            for pod in ready_pods(cluster, args):
                # a scrape has the time of its begin
                at_s = time.time()
                yield Page(at_s, {"namespace": args.namespace, "pod": pod}, _page(cluster, args, pod))
        except ClusterError as error:
            missed.append(str(error))

    def ended() -> bool:
        pods, _version = cluster.list(Query("v1", "Pod", args.namespace, label_selector=args.until))
        return any(pod_ready(pod).reached or pod["status"].get("phase") in _ENDED for pod in pods)

    sampling = Sampling(args.interval, args.timeout, ended, context.check_interrupted)
    scrapes = sample(queries, pages, sampling)
    if not scrapes.times:
        raise ClusterError(f"the metrics of {args.kind} {args.namespace}/{args.name} were never read: {missed[-1]}")
    folder = context.directory / "artifacts" / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    origin = f"scraped from the pods of {args.kind} {args.namespace}/{args.name}"
    outcome = answer_queries(folder, queries, scrapes, origin, args.interval)
    late = (f"{len(missed)} scrapes failed, the last one: {missed[-1]}",) if missed else ()
    return VerbResult(values={"series": outcome.samples}, warnings=late)
