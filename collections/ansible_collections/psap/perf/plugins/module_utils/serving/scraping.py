"""The metrics that a model server states in the text format of Prometheus."""

from __future__ import annotations

import http.client
import math
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

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


def scrape(endpoint: Endpoint, token: str = "") -> str:
    """Return the text that a server states; *token* is the bearer token of the request, if it needs one.

    Raises:
        ClusterError: If it does not respond, or has no metrics.
    """
    try:
        with closing(_connection(endpoint)) as client:
            client.request("GET", _PATH, headers={"Authorization": f"Bearer {token}"} if token else {})
            response = client.getresponse()
            text = response.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        raise ClusterError(f"{endpoint.shown} does not respond: {error or type(error).__name__}") from error
    if response.status != _OK:
        raise ClusterError(
            f"{endpoint.shown} has no {_PATH}: it responds with {response.status} {response.reason}: {text[:_SHOWN]}"
        )
    return text


def _connection(endpoint: Endpoint) -> http.client.HTTPConnection:
    if endpoint.scheme == "http":
        return http.client.HTTPConnection(endpoint.host, endpoint.port, timeout=_TIMEOUT_S)
    # the port-forward connects with the pod itself, whose certificate KServe signs with a private authority
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(endpoint.host, endpoint.port, timeout=_TIMEOUT_S, context=context)


def serves_tls(pod: Mapping[str, Any], port: int) -> bool:
    """Return whether a probe of the pod uses HTTPS at *port*, as KServe's templates of LLMInferenceServices do."""
    probes = (
        container[kind].get("httpGet") or {}
        for container in pod["spec"]["containers"]
        for kind in ("startupProbe", "readinessProbe", "livenessProbe")
        if container.get(kind)
    )
    return any(probe.get("scheme") == "HTTPS" and probe.get("port") == port for probe in probes)


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
