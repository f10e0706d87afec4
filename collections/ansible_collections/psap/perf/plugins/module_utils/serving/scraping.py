"""The metrics that a model server states in the text format of Prometheus."""

from __future__ import annotations

import http.client
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.exposition import read_sample
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import Endpoint

SCHEMA = "psap.perf/model-metrics/1"
FILE = "model_metrics.json"
_PATH = "/metrics"
_OK = 200
_TIMEOUT_S = 30.0
_SHOWN = 300
_TYPE = re.compile(r"#\s*TYPE\s+(\S+)\s+(\S+)")
# the parts of a histogram or summary that only grow
_PARTS = ("_sum", "_count")
_DISTRIBUTIONS = ("histogram", "summary")


@dataclass(frozen=True, slots=True)
class MetricSample:
    """A value of a server: its metric, its labels as they were written, and whether it only grows."""

    metric: str
    labels: str
    counter: bool
    value: float


def scrape(endpoint: Endpoint) -> str:
    """Return the text that a server states.

    Raises:
        ClusterError: If it does not respond, or has no metrics.
    """
    try:
        with closing(http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=_TIMEOUT_S)) as client:
            client.request("GET", _PATH)
            response = client.getresponse()
            text = response.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        raise ClusterError(f"{endpoint.shown} does not respond: {error or type(error).__name__}") from error
    if response.status != _OK:
        raise ClusterError(
            f"{endpoint.shown} has no {_PATH}: it responds with {response.status} {response.reason}: {text[:_SHOWN]}"
        )
    return text


def parse_metrics(text: str) -> tuple[MetricSample, ...]:
    """Return the values of *text* that are numbers, without the buckets and quantiles of distributions."""
    return tuple(_samples(text))


def _samples(text: str) -> Iterator[MetricSample]:
    kinds: dict[str, str] = {}
    for line in text.splitlines():
        if found := _TYPE.match(line):
            kinds[found[1]] = found[2]
        elif sample := read_sample(line):
            counter = _is_counter(sample.metric, kinds)
            if counter is not None and math.isfinite(sample.value):
                yield MetricSample(sample.metric, sample.labels, counter, sample.value)


def _is_counter(metric: str, kinds: Mapping[str, str]) -> bool | None:
    """Return whether the metric only grows; None for a bucket or quantile."""
    base = next((metric.removesuffix(part) for part in _PARTS if metric.endswith(part)), "")
    if kinds.get(base) in _DISTRIBUTIONS:
        return True
    if metric.endswith("_bucket") or kinds.get(metric) in _DISTRIBUTIONS:
        return None
    return kinds.get(metric) == "counter"
