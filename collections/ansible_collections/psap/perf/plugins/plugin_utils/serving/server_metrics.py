"""Record the metrics that the servers of a model state: before, during and after a load."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.prometheus.evaluating import Page
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import read_files, shipped_files
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraped import Sampling, answer_queries, sample
from ansible_collections.psap.perf.plugins.module_utils.serving.scraping import (
    FILE,
    SCHEMA,
    parse_metrics,
    scrape,
    serves_tls,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import LLM_INFERENCE_SERVICE, picking_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready
from ansible_collections.psap.perf.plugins.plugin_utils.serving.models import (
    ModelArguments,
    is_simulated,
    pod_endpoint,
    ready_pods,
    selects_real_node,
)
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

BEFORE, DURING, AFTER = "before", "during", "after"
_FOLDER = "server_metrics"
_COLLECTION = Path(__file__).parents[3]
_SERVER, _PICKER = "model_server", "endpoint_picker"
# the name of a lab's real picker, and of the port of its pods
_REAL_PICKER, _PICKER_PORT = "endpoint-picker", "metrics"
_TOKEN_S = 3600


@dataclass(frozen=True, slots=True)
class ScrapedModel(ModelArguments):
    """A model, the port of its pods with the metrics, and the time between two readings.

    `picker_account` is the ServiceAccount by which the metrics of the model's endpoint picker are read; empty if they
    need no token.
    """

    port: int
    interval: Seconds
    picker_account: str


@dataclass(frozen=True, slots=True)
class ServerMetrics:
    """The metrics of a model's servers, recorded in the folder *artifacts*."""

    cluster: Cluster
    model: ScrapedModel
    lab: Lab | None
    artifacts: Path

    def record(self, moment: str, facts: Mapping[str, Any]) -> int:
        """Record the values of each pod at this moment; return their number.

        Values that were recorded before an earlier load are discarded.

        Raises:
            ClusterError: If no pod is Ready, or one states no metrics.
        """
        recorded = [] if moment == BEFORE else read_json(self.artifacts / FILE)["scrapes"]
        series = 0
        for pod in ready_pods(self.cluster, self.model):
            at, text = utc_now(), self._page(pod)
            place = self.artifacts / "model_metrics" / f"{pod['metadata']['name']}_{moment}.txt"
            place.parent.mkdir(parents=True, exist_ok=True)
            write_text(place, text)
            samples = [asdict(sample) for sample in parse_metrics(text)]
            recorded = [
                *recorded,
                {"moment": moment, "at": at, "pod": pod["metadata"]["name"], "samples": samples},
            ]
            series += len(samples)
        shown = self.lab.serving(is_real=not is_simulated(self.cluster, self.model)) if self.lab else None
        document = {
            "schema": SCHEMA,
            "model": self.model.name,
            "facts": {name: str(value) for name, value in facts.items() if value},
            "lab": shown and shown.document(),
        }
        write_json(self.artifacts / FILE, {**document, "scrapes": recorded})
        return series

    def sample(self, sampling: Sampling) -> tuple[int, tuple[str, ...]]:
        """Read the values until the load has ended, and answer the shipped queries from them.

        Returns:
            The number of values in the answers, and warnings.

        Raises:
            ClusterError: If the values were never read.
        """
        picks = bool(self._picker_pods())
        shipped = shipped_files(_COLLECTION)
        layers = (_SERVER, _PICKER) if picks else (_SERVER,)
        queries = read_files((shipped[layer] for layer in layers), self.model.namespace)
        missed, unpicked = list[str](), list[str]()
        token = cache(partial(self._picker_token, max(_TOKEN_S, round(sampling.timeout_s))))

        def pages() -> Iterator[Page]:
            try:
                yield from self._pages(ready_pods(self.cluster, self.model), self._page)
            except ClusterError as error:
                missed.append(str(error))
                return
            try:
                pickers = self._picker_pods() if picks else ()
                yield from self._pages(pickers, lambda pod: self._picker_page(pod, token()))
            except ClusterError as error:
                unpicked.append(str(error))

        shown = f"{self.model.kind} {self.model.namespace}/{self.model.name}"
        scrapes = sample(queries, pages, sampling)
        if not scrapes.times:
            raise ClusterError(f"the metrics of {shown} were never read: {missed[-1]}")
        folder = self.artifacts / _FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        origin = f"scraped from the pods of {shown}"
        outcome = answer_queries(folder, queries, scrapes, origin, sampling.interval_s)
        late = (
            f"{len(errors)} scrapes{whose} failed, the last one: {errors[-1]}"
            for whose, errors in (("", missed), (" of the endpoint picker", unpicked))
            if errors
        )
        return outcome.samples, tuple(late)

    def _picker_pods(self) -> list[Manifest]:
        """Return the pods with the model's endpoint picker; none if no picker runs in a lab."""
        if self.model.kind != LLM_INFERENCE_SERVICE or (self.lab and _REAL_PICKER not in self.lab.real):
            return []
        selector = picking_pods(self.model.name)
        pods, _version = self.cluster.list(Query("v1", "Pod", self.model.namespace, label_selector=selector))
        return [pod for pod in pods if _metrics_port(pod) and pod_ready(pod).reached]

    def _pages(self, pods: Iterable[Manifest], read: Callable[[Manifest], str]) -> Iterator[Page]:
        for pod in pods:
            labels = {"namespace": self.model.namespace, "pod": pod["metadata"]["name"]}
            # a scrape has the time of its begin
            yield Page(time.time(), labels, read(pod))

    def _picker_token(self, lasting_s: int) -> str:
        account = self.model.picker_account
        return self.cluster.service_account_token(self.model.namespace, account, lasting_s) if account else ""

    def _picker_page(self, pod: Manifest, token: str) -> str:
        name = str(pod["metadata"]["name"])
        with pod_endpoint(self.cluster, self.model.namespace, name, _metrics_port(pod)) as endpoint:
            return scrape(endpoint, token)

    def _page(self, pod: Manifest) -> str:
        port, name = self.model.port, str(pod["metadata"]["name"])
        simulated = self.lab is not None and not selects_real_node(pod)
        # the servers of simulated pods have no TLS
        server_name = name if serves_tls(pod, port) and not simulated else ""
        with pod_endpoint(self.cluster, self.model.namespace, name, port, server_name) as endpoint:
            return scrape(endpoint)


def _metrics_port(pod: Manifest) -> int:
    """Return the port of the pod's metrics; 0 if no container names it."""
    ports = (port for container in pod["spec"]["containers"] for port in container.get("ports") or ())
    return next((int(port["containerPort"]) for port in ports if port.get("name") == _PICKER_PORT), 0)


@dataclass(frozen=True, slots=True)
class ScrapeArguments:
    """The arguments of the role shared_server_metrics."""

    scraped_kind: str
    scraped_model: str
    scraped_namespace: str
    scraped_port: int
    scrape_interval: Seconds
    scraped_picker_account: str


@contextmanager
def recorded_metrics(
    context: VerbContext, artifacts: Path, facts: Mapping[str, Any], timeout_s: float
) -> Iterator[list[str]]:
    """Record the metrics of the model that the command scrapes, if any, while the block loads it.

    Yields:
        Warnings; complete after the block. An error after the load's start is a warning, because the load is valid.

    Raises:
        ClusterError: If the metrics cannot be read before the load.
    """
    args, warnings = context.arguments(ScrapeArguments), list[str]()
    if not args.scraped_model:
        yield warnings
        return
    model = ScrapedModel(
        args.scraped_kind,
        args.scraped_model,
        args.scraped_namespace,
        "http",
        args.scraped_port,
        args.scrape_interval,
        args.scraped_picker_account,
    )
    metrics = ServerMetrics(context.cluster(), model, context.lab(), artifacts)
    metrics.record(BEFORE, facts)
    ended = threading.Event()
    sampling = Sampling(model.interval, timeout_s, ended.is_set, context.check_interrupted, ended.wait)
    with ThreadPoolExecutor(max_workers=1) as executor:
        sampled = executor.submit(metrics.sample, sampling)
        try:
            yield warnings
        finally:
            ended.set()
    try:
        _values, late = sampled.result()
        warnings += late
        metrics.record(AFTER, facts)
    except ClusterError as error:
        warnings.append(f"the metrics of the model server are incomplete: {error}")
