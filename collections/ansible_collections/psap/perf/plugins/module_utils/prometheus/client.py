"""The HTTP API of Prometheus, typed: queries, targets, and the admin API."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

import urllib3
import urllib3.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    PerfError,
    certificate_advice,
    short,
)
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import http_pool
from ansible_collections.psap.perf.plugins.module_utils.prometheus.answers import Answer, join, read_answer
from ansible_collections.psap.perf.plugins.module_utils.prometheus.windows import MOST_POINTS, Window, halves, parts

ALL_SERIES = '{__name__=~".+"}'
_TIMEOUT = urllib3.Timeout(connect=10, read=150)  # Prometheus aborts a query after two minutes
_LONGEST_URL = 2000
_TOO_MANY = "too many samples"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a Prometheus, and the access to it.

    Attributes:
        origin: Where the address comes from, for messages.
        authority: PEM certificates of authorities to trust in addition to the system's.
        data: The folder of its database, if it is on this machine.
    """

    url: str
    origin: str
    token: str | None = field(default=None, repr=False)
    authority: str | None = field(default=None, repr=False)
    proxy: str | None = None
    data: Path | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A scrape target: its scrape pool, ``up``, ``down`` or ``unknown``, its labels, and the last error."""

    pool: str
    health: str
    labels: Mapping[str, str]
    error: str


class RefusedError(PerfError):
    """Prometheus refused a request; ``kind`` is its ``errorType``."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class Prometheus:
    """A connection to one Prometheus, or to a server with the same API (Thanos).

    Raises:
        ClusterError: From every call, if it cannot be reached or refuses access.
        RefusedError: From every call, if it refuses the request.
    """

    def __init__(self, address: Address) -> None:
        """Raise ClusterError if the certificates cannot be used."""
        self.address = address
        options: dict[str, Any] = {"timeout": _TIMEOUT, "retries": urllib3.Retry(total=2, connect=1, read=0)}
        if address.url.startswith("https:"):
            options["ssl_context"] = _verifying(address)
        self._headers = {"Authorization": f"Bearer {address.token}"} if address.token else {}
        self._pool = http_pool(address.proxy, **options)

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *ended: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def query(self, expression: str, at_s: float | None = None) -> Answer:
        """Return *expression* at *at_s*, by default now: one sample for each series."""
        when = {} if at_s is None else {"time": _moment(at_s)}
        return read_answer(self._read("/api/v1/query", {"query": expression, **when}))

    def query_range(self, expression: str, window: Window, step_s: float, most_points: int = MOST_POINTS) -> Answer:
        """Return *expression* at every *step_s* of *window*, in as many requests as the server's limits require."""
        return join(self._range(expression, part, step_s) for part in parts(window, step_s, most_points))

    def raw(self, selector: str, window: Window) -> Answer:
        """Return the samples of *selector* as they were scraped in *window*, at their own times."""
        # a range excludes its left end, which is at a millisecond
        length_ms = round(1000 * window.length_s) + 1
        parameters = {"query": f"{selector}[{length_ms}ms]", "time": _moment(window.end_s)}
        try:
            return read_answer(self._read("/api/v1/query", parameters))
        except RefusedError as error:
            divided = halves(window, 1.0)
            if _TOO_MANY not in str(error) or divided is None:
                raise
            first, second = divided
            return join((self.raw(selector, Window(first.start_s, second.start_s - 0.001)), self.raw(selector, second)))

    def targets(self) -> list[Target]:
        """Return the scrape targets."""
        found = self._read("/api/v1/targets", {"state": "active"})["data"]["activeTargets"]
        return [
            Target(str(item["scrapePool"]), str(item["health"]), dict(item["labels"]), str(item.get("lastError") or ""))
            for item in found
        ]

    def delete_series(self, selectors: Sequence[str] = (ALL_SERIES,)) -> None:
        """Delete the series of *selectors*, by default all. The admin API must be enabled."""
        self._call("POST", "/api/v1/admin/tsdb/delete_series", {"match[]": list(selectors)})

    def clean_tombstones(self) -> None:
        """Free the space of deleted series."""
        self._call("POST", "/api/v1/admin/tsdb/clean_tombstones", {})

    def snapshot(self) -> str:
        """Make a snapshot of all series; return its name, a folder in the database's ``snapshots``."""
        return str(self._call("POST", "/api/v1/admin/tsdb/snapshot", {})["data"]["name"])

    def _range(self, expression: str, window: Window, step_s: float) -> Answer:
        parameters = {
            "query": expression,
            "start": _moment(window.start_s),
            "end": _moment(window.end_s),
            "step": f"{step_s:g}",
        }
        try:
            return read_answer(self._read("/api/v1/query_range", parameters))
        except RefusedError as error:
            divided = halves(window, step_s)
            if _TOO_MANY not in str(error) or divided is None:
                raise
            return join(self._range(expression, half, step_s) for half in divided)

    def _read(self, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Send a GET, for which permission to read suffices on OpenShift; a POST if it is too long for a URL."""
        return self._call("GET" if len(urlencode(parameters)) <= _LONGEST_URL else "POST", path, parameters)

    def _call(self, method: str, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        fields = urlencode(parameters, doseq=True)
        url = f"{self.address.url.rstrip('/')}{path}"
        try:
            if method == "GET":
                answer = self._pool.request("GET", f"{url}?{fields}", headers=self._headers)
            else:
                form = {**self._headers, "Content-Type": "application/x-www-form-urlencoded"}
                answer = self._pool.request("POST", url, headers=form, body=fields)
        except urllib3.exceptions.HTTPError as error:
            cause = getattr(error, "reason", None) or error
            reason = "; ".join(filter(None, (short(cause), certificate_advice(cause))))
            raise ClusterError(
                f"cannot reach Prometheus at {self.address.url} ({self.address.origin}): {reason}"
            ) from error
        return self._parse(answer.status, answer.data, path)

    def _parse(self, status: int, body: bytes, path: str) -> dict[str, Any]:
        if status in (401, 403):
            raise ClusterError(
                f"Prometheus at {self.address.url} ({self.address.origin}) refuses the request ({status}): the service "
                "account or token needs the cluster role cluster-monitoring-view"
            )
        if status == 204:
            return {}
        try:
            response = json.loads(body)
            if not isinstance(response, dict):
                raise TypeError
        except (ValueError, TypeError):
            raise ClusterError(
                f"the response to {path} at {self.address.url} ({self.address.origin}, {status}) is not from Prometheus"
            ) from None
        if response.get("status") == "success":
            return response
        kind, error = str(response.get("errorType") or status), str(response.get("error") or "no reason given")
        raise RefusedError(f"Prometheus refused the request: {error} ({kind})", kind)


def _verifying(address: Address) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context()
        if address.authority:
            context.load_verify_locations(cadata=address.authority)
            # a cluster may publish the certificate itself, or an intermediate one
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    except (ssl.SSLError, ValueError) as error:
        raise ClusterError(
            f"cannot use the certificates for Prometheus at {address.url} ({address.origin}): {error}"
        ) from error
    return context


def _moment(at_s: float) -> str:
    return f"{at_s:.3f}"
