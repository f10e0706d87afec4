"""An asynchronous client of the Kubernetes API, with raw JSON, that repeats requests.

Repeating a POST is safe because the submitter chooses the names of workloads: the second one gets a 409.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import aiohttp
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RequestCounts, RetryPolicy
from yarl import URL

TOO_MANY = 429
MERGE_PATCH = "application/merge-patch+json"
_JSON = "application/json"
_CONNECT_TIMEOUT_S = 10.0
_CLOSE_TIMEOUT_S = 1.0
_CHANNELS = "v4.channel.k8s.io"
# the API server's limit is a minute, and its answer names the webhook or the store that did not respond
_REQUEST_TIMEOUT_S = 65.0
# the API server sends a bookmark a minute: a watch silent for two is dead
WATCH_SILENCE_S = 120.0
# a service account's token is renewed in its file well before it expires
_TOKEN_AGE_S = 60.0


class UnansweredError(ClusterError):
    """There was no answer within the bounds of the retry policy; the effect of the request is unknown."""

    def __init__(self, message: str, attempts: int) -> None:
        super().__init__(message)
        self.attempts = attempts


@dataclass(frozen=True, slots=True)
class Answer:
    """The last answer to a request, and the number of attempts."""

    status: int
    body: bytes
    attempts: int
    retry_after: str | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the status is one of the 200s."""
        return 200 <= self.status < 300

    def document(self) -> dict[str, Any]:
        """Return the body as a JSON object; empty if it is none, such as a proxy's error page."""
        try:
            document = json.loads(self.body)
        except ValueError:
            return {}
        return document if isinstance(document, dict) else {}

    def message(self) -> str:
        """Return the status and the server's message, or the beginning of the body, for a sentence."""
        text = self.document().get("message") or self.body[:200].decode(errors="replace").strip()
        return f"{self.status} {text}".strip()


def unfinished(answers: Sequence[Answer]) -> tuple[int | None, str]:
    """Return status and error of a request that was cancelled while it was repeated; *answers* are its answers."""
    if not answers:
        return None, "stopped before the answer came"
    return answers[-1].status, f"stopped before another try; the last answer: {answers[-1].message()}"


class ApiClient:
    """One connection pool to one API server. Open it in the process that uses it: it does not survive a fork."""

    def __init__(
        self,
        endpoint: ApiEndpoint,
        *,
        policy: RetryPolicy | None = None,
        request_timeout_s: float = _REQUEST_TIMEOUT_S,
    ):
        """Store the endpoint; *request_timeout_s* is the limit of one attempt of one request."""
        self.endpoint = endpoint
        self.counts = RequestCounts()
        self.policy = policy or RetryPolicy()
        self._timeout = aiohttp.ClientTimeout(total=request_timeout_s, sock_connect=_CONNECT_TIMEOUT_S)
        self._ssl = endpoint.ssl_context()
        self._proxy = endpoint.proxy
        self._session: aiohttp.ClientSession | None = None
        self._urls: dict[str, URL] = {}
        self._identity: tuple[float, dict[str, str]] | None = None

    async def __aenter__(self) -> ApiClient:
        headers = {"Accept": _JSON, "Accept-Encoding": "identity", "User-Agent": "psap.perf"}
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60, ssl=self._ssl if self._ssl else True)
        self._session = aiohttp.ClientSession(connector=connector, headers=headers)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        params: Mapping[str, str] | None = None,
        policy: RetryPolicy | None = None,
        also_repeat: Callable[[Answer], bool] | None = None,
        accept: str | None = None,
        content_type: str = _JSON,
        answers: list[Answer] | None = None,
    ) -> Answer:
        """Send a request, repeat it after a 429, a 5xx or a broken connection, and return the last answer.

        Args:
            policy: Bounds of the repetitions, by default the client's.
            also_repeat: Returns whether to repeat the request after another answer.
            accept: Media type of the answer, by default JSON.
            content_type: Media type of the body, such as that of a patch.
            answers: Collects the answers after which the request is repeated, for a caller that is cancelled meanwhile.

        Raises:
            UnansweredError: If the last attempt had no answer; a last 429 or 5xx is returned.
        """
        policy = policy or self.policy
        started = policy.monotonic()
        answers = [] if answers is None else answers
        attempt = 0
        while True:
            attempt += 1
            cause, answer = await self._try(method, path, body, params, attempt, accept, content_type)
            if cause is None and answer is not None and also_repeat is not None and also_repeat(answer):
                cause = str(answer.status)
            if cause is None and answer is not None:
                self.counts.answers[str(answer.status)] += 1
                return answer
            if answer is not None:
                answers.append(answer)
            delay = policy.delay_s(attempt, answer.retry_after if answer else None)
            if not await policy.pause(attempt, policy.monotonic() - started, delay):
                if answer is not None:
                    self.counts.answers[str(answer.status)] += 1
                    return answer
                before = f"; the last answer before: {answers[-1].message()}" if answers else ""
                raise UnansweredError(
                    f"{method} {self.endpoint.server}{path} had no answer in {attempt} tries: {cause}{before}",
                    attempt,
                )
            self.counts.retries[cause or "unknown"] += 1

    async def exists(self, path: str) -> bool:
        """Return whether the server has *path*, of an object or a group."""
        return (await self.request("GET", path)).succeeded

    @asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, str]) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open a response with a growing body, such as a watch; a broken connection raises aiohttp's errors."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT_S, sock_read=WATCH_SILENCE_S)
        async with self._send("GET", path, None, params, timeout) as response:
            try:
                yield response
            finally:
                # an orderly end of TLS would wait for the server, possibly longer than this event loop runs
                connection = response.connection
                if connection is not None and connection.transport is not None:
                    connection.transport.abort()

    @asynccontextmanager
    async def channels(
        self, path: str, params: Sequence[tuple[str, str]]
    ) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Open a stream to a container, by Kubernetes' protocol of channels; a failure raises aiohttp's errors."""
        async with self._open_session().ws_connect(
            self._url(path),
            params=params,
            protocols=(_CHANNELS,),
            headers={**self._headers(), "Accept": "*/*"},
            proxy=self._proxy,
            server_hostname=self.endpoint.server_name,
            timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_TIMEOUT_S),
        ) as socket:
            yield socket

    async def _try(
        self,
        method: str,
        path: str,
        body: bytes | None,
        params: Mapping[str, str] | None,
        attempt: int,
        accept: str | None,
        content_type: str,
    ) -> tuple[str | None, Answer | None]:
        """Send the request once; return the cause to repeat it, None if final, and the answer, None if missing."""
        try:
            async with self._send(method, path, body, params, self._timeout, accept, content_type) as response:
                content = await response.read()
        except TimeoutError:
            return "timeout", None
        except aiohttp.ClientConnectorCertificateError as error:
            raise ClusterError(f"cannot verify the certificate of {self.endpoint.server}: {error}") from error
        except aiohttp.ClientConnectorError:
            return "cannot connect", None
        except (aiohttp.ClientError, OSError):
            return "connection lost", None
        answer = Answer(response.status, content, attempt, response.headers.get("Retry-After"))
        if answer.status == TOO_MANY or answer.status >= 500:
            return str(answer.status), answer
        return None, answer

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        params: Mapping[str, str] | None,
        timeout: aiohttp.ClientTimeout,
        accept: str | None = None,
        content_type: str = _JSON,
    ) -> Any:
        headers = self._headers()
        if body is not None:
            headers = {**headers, "Content-Type": content_type}
        if accept is not None:
            headers = {**headers, "Accept": accept}
        return self._open_session().request(
            method,
            self._url(path),
            data=body,
            params=params,
            headers=headers,
            timeout=timeout,
            proxy=self._proxy,
            server_hostname=self.endpoint.server_name,
        )

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the client is not open: use it as `async with`")
        return self._session

    def _headers(self) -> dict[str, str]:
        now = time.monotonic()
        if self._identity is None or now - self._identity[0] > _TOKEN_AGE_S:
            self._identity = (now, self.endpoint.headers())
        return self._identity[1]

    def _url(self, path: str) -> URL:
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = URL(self.endpoint.server + path)
            # each read workload has its own path: keep mainly those of collections
            if len(self._urls) > 100:
                self._urls.clear()
        return url
