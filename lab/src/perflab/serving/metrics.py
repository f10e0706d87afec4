"""vLLM's metrics of a served model, with the names of its version 1 engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
LABEL = ("model_name",)


class Registry:
    """The metrics of a pod's server, or of all pods together."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.running = Gauge("vllm:num_requests_running", "Requests in progress", LABEL, registry=registry)
        self.waiting = Gauge("vllm:num_requests_waiting", "Waiting requests", LABEL, registry=registry)
        self.prompt = Counter("vllm:prompt_tokens", "Tokens of prompts", LABEL, registry=registry)
        self.queried = Counter("vllm:prefix_cache_queries", "Tokens looked up in the cache", LABEL, registry=registry)
        self.hits = Counter("vllm:prefix_cache_hits", "Tokens found in the cache", LABEL, registry=registry)
        self.generated = Counter("vllm:generation_tokens", "Tokens of answers", LABEL, registry=registry)
        self.succeeded = Counter(
            "vllm:request_success", "Completed requests", (*LABEL, "finished_reason"), registry=registry
        )
        self.first, self.next, self.whole = (
            Histogram(f"vllm:{name}_seconds", words, LABEL, buckets=SECONDS, registry=registry)
            for name, words in (
                ("time_to_first_token", "From a request to its first token"),
                ("inter_token_latency", "Between two tokens of an answer"),
                ("e2e_request_latency", "From a request to the end of its answer"),
            )
        )

    @property
    def text(self) -> bytes:
        """Return Prometheus' text format."""
        return generate_latest(self._registry)


@dataclass(frozen=True)
class ModelMetrics:
    """The counters of one model, in each of some registries."""

    registries: tuple[Registry, ...]
    model: str

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count a request while it waits for a slot."""
        with ExitStack() as counted:
            for registry in self.registries:
                counted.enter_context(registry.waiting.labels(self.model).track_inprogress())
            yield

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a request while it is answered."""
        with ExitStack() as counted:
            for registry in self.registries:
                counted.enter_context(registry.running.labels(self.model).track_inprogress())
            yield

    def looked_up(self, tokens: int, cached: int) -> None:
        """Count the tokens of a prompt, and those of them that are cached."""
        for each in self.registries:
            each.queried.labels(self.model).inc(tokens)
            each.hits.labels(self.model).inc(cached)

    def token(self, after_s: float, *, first: bool) -> None:
        """Count a token, and the time since the previous token, or since the request."""
        for registry in self.registries:
            (registry.first if first else registry.next).labels(self.model).observe(after_s)

    def succeeded(self, took_s: float, prompt_tokens: int, tokens: int) -> None:
        """Count an answered request."""
        for registry in self.registries:
            registry.whole.labels(self.model).observe(took_s)
            registry.prompt.labels(self.model).inc(prompt_tokens)
            registry.generated.labels(self.model).inc(tokens)
            registry.succeeded.labels(self.model, "length").inc()

    def failed(self) -> None:
        """Count a request that was answered with an error."""
        for registry in self.registries:
            registry.succeeded.labels(self.model, "error").inc()
