"""The connection to MLflow, and its errors as sentences."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from perfanalysis.errors import AnalysisError, UsageError

CREDENTIALS = ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD")
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
ENVIRONMENT = {
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
}
"""Variables of the client, unless they are set: by default it prints an address for each run, and waits for minutes."""
MOST_FOUND = 1000


class MlflowError(AnalysisError):
    """The server cannot be reached, or refuses."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of MLflow that is not deleted."""

    identity: str
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Values:
    """Values of a run, of which one request can store a limited number."""

    metrics: Mapping[str, float]
    params: Mapping[str, str]
    tags: Mapping[str, str]


class Client(Protocol):
    """What an export does with MLflow."""

    def experiment(self, name: str) -> str:
        """Return the ID of an experiment, which is created if missing."""

    def find(self, experiment: str, tag: str, value: str) -> tuple[StoredRun, ...]:
        """Return the runs with that tag."""

    def create(self, experiment: str, name: str, started_ms: int, tags: Mapping[str, str]) -> str:
        """Create a run and return its ID."""

    def log(self, run: str, values: Values, at_ms: int) -> None:
        """Store values of a run."""

    def finish(self, run: str, status: str, ended_ms: int) -> None:
        """End a run."""

    def delete(self, run: str) -> None:
        """Mark a run as deleted."""


@dataclass(frozen=True, slots=True)
class Tracking:
    """A tracking server, and the prefix of the names of its experiments."""

    url: str
    experiment: str = "psap-perf"

    def __post_init__(self) -> None:
        """Raise UsageError for an address that is invalid, contains credentials, or would send them in plain text."""
        parts = urlsplit(self.url)
        if "@" in parts.netloc:
            raise UsageError(
                f"remove the credentials from the address of {parts.hostname}, since every process list shows them; "
                "set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD"
            )
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise UsageError(f"{self.url} is not the address of an MLflow; write it like https://mlflow.example.com")
        secret = next((name for name in CREDENTIALS if os.environ.get(name)), None)
        if parts.scheme == "http" and secret and parts.hostname not in LOOPBACK:
            raise UsageError(f"{self.url} would receive {secret} in plain text: use https")
        if not self.experiment.strip("/ "):
            raise UsageError("the prefix of experiments is empty; write a name such as psap-perf")


class OwnClient:
    """MLflow's own client."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def experiment(self, name: str) -> str:
        """Return the ID of an experiment, which is created if missing."""
        found = self._client.get_experiment_by_name(name)
        return str(self._client.create_experiment(name) if found is None else found.experiment_id)

    def find(self, experiment: str, tag: str, value: str) -> tuple[StoredRun, ...]:
        """Return the runs with that tag."""
        found = self._client.search_runs([experiment], f"tags.`{tag}` = '{value}'", max_results=MOST_FOUND)
        return tuple(StoredRun(str(run.info.run_id), run.data.tags) for run in found)

    def create(self, experiment: str, name: str, started_ms: int, tags: Mapping[str, str]) -> str:
        """Create a run and return its ID."""
        return str(self._client.create_run(experiment, started_ms, dict(tags), name).info.run_id)

    def log(self, run: str, values: Values, at_ms: int) -> None:
        """Store values of a run."""
        from mlflow.entities import Metric, Param, RunTag

        metrics = [Metric(name, value, at_ms, 0) for name, value in values.metrics.items()]
        params = [Param(name, value) for name, value in values.params.items()]
        self._client.log_batch(run, metrics, params, [RunTag(name, value) for name, value in values.tags.items()])

    def finish(self, run: str, status: str, ended_ms: int) -> None:
        """End a run."""
        self._client.set_terminated(run, status, ended_ms)

    def delete(self, run: str) -> None:
        """Mark a run as deleted."""
        self._client.delete_run(run)


def connect(tracking: Tracking) -> Client:
    """Return a client; this sends nothing. Raises UsageError if the client is not installed."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise UsageError("MLflow's client is not installed: run pip install 'psap-perf[mlflow]'") from error
    # it logs each retry
    for logger in ("urllib3.connectionpool", "mlflow"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    return OwnClient(MlflowClient(tracking_uri=tracking.url))


@contextmanager
def client_errors(tracking: Tracking) -> Iterator[None]:
    """Convert errors of the client to MlflowError."""
    try:
        yield
    except AnalysisError:
        raise
    except Exception as error:
        # mlflow.exceptions has one class for all of them
        if type(error).__module__.partition(".")[0] not in ("mlflow", "requests", "urllib3"):
            raise
        raise MlflowError(f"{tracking.url} {_reason(error)}; repeat the export, nothing is stored twice") from error


def _reason(error: Exception) -> str:
    text = str(error)
    if "401" in text:
        return "refuses the credentials (401): check MLFLOW_TRACKING_TOKEN, or user and password"
    if "403" in text or "PERMISSION_DENIED" in text:
        return "denies access (403): the user needs to create experiments and runs"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "has a certificate that is not trusted: set MLFLOW_TRACKING_SERVER_CERT_PATH to its authority"
    if "Max retries exceeded" in text or "Connection" in text or "timed out" in text:
        return "cannot be reached: check the address"
    return f"refuses: {text.splitlines()[0][:300] if text else type(error).__name__}"
