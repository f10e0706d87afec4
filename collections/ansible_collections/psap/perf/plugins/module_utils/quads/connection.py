"""HTTP requests to a QUADS server: verify certificates, log in before writes, report lost responses.

quads-lib (0.1.18) is not used, since it verifies no certificate by default, returns 401 and 403 as data, retries over
http only, and drops the path of an address: a layer over it would replace every call.
"""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

import urllib3
import urllib3.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    UsageError,
    certificate_advice,
    short,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import (
    LostAnswerError,
    Refusal,
    RefusedError,
    UnfitServerError,
    message,
    parse_json,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.times import header_time

API = "/api/v3"
_TIMEOUT = urllib3.Timeout(connect=10, read=60)
# a token is valid for at least 100 minutes; a younger one needs no new login
_FRESH_S = 600.0
_LONGEST_PAUSE_S = 15.0
# no request has reached the server
_UNSENT = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError)


@dataclass(frozen=True, slots=True)
class Account:
    """An account on a server.

    Args:
        url: The server's address, with a path before ``/api/v3`` if it has one.
        user: An email address.
        password: For the login, instead of *token*, an API token (``qat_…``).
        admin: The account is an administrator's.
    """

    url: str
    user: str = ""
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    admin: bool = False

    @property
    def owner(self) -> str:
        """Return the name that the server stores as the owner's."""
        return self.user.partition("@")[0]

    @property
    def root(self) -> str:
        """Return the address of the API."""
        trimmed = self.url.rstrip("/")
        return trimmed if trimmed.endswith(API) else f"{trimmed}{API}"

    def check(self, writes: bool) -> None:
        """Raise a UsageError if the URL is not an address, or *writes* needs a login and none is set."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"invalid address of a QUADS server {self.url!r}: write it like https://quads.example.com")
        if parts.username or parts.password:
            raise UsageError("the address of the QUADS server contains credentials: pass them as secrets instead")
        if writes and "@" not in self.user:
            raise UsageError("QUADS identifies users by their email address: set user to the owner of the hosts")
        if writes and not (self.password or self.token):
            raise UsageError("booking needs a login: set password or token (qat_…) to a reference")


@dataclass(frozen=True, slots=True)
class Reply:
    """A response; *date* is its header, in UTC."""

    status: int
    body: bytes
    date: datetime | None = None


class Transport(Protocol):
    """Sends requests."""

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """Return the response.

        Raises:
            LostAnswerError: If none arrives.
            UnfitServerError: If the server is not trusted.
        """


class Timing(Protocol):
    """A clock."""

    def now(self) -> datetime:
        """Return the present time, aware."""

    def monotonic(self) -> float:
        """Return the seconds of a monotonic clock."""

    def pause(self, seconds: float) -> None:
        """Sleep for *seconds*; raise Interrupted if the user stops the run."""


class HttpTransport:
    """HTTP and HTTPS; redirects are refused, since they would send the login to another server."""

    def __init__(self, authority: str = "") -> None:
        """Trust *authority*, a PEM file of CA certificates, in addition to those of the system.

        Raises:
            UsageError: If the file is invalid.
        """
        try:
            context = ssl.create_default_context()
            if authority:
                context.load_verify_locations(cafile=authority)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"cannot use the authority {authority} as a PEM file: {error}") from error
        self._pool = urllib3.PoolManager(timeout=_TIMEOUT, retries=False, ssl_context=context)

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """Return the response."""
        try:
            answer = self._pool.request(method, url, headers=dict(headers), body=body, redirect=False)
        except urllib3.exceptions.SSLError as error:
            if "WRONG_VERSION_NUMBER" in str(error):
                raise UnfitServerError(
                    f"{_place(url)} does not use TLS: set an address with http://, or the port of https"
                ) from error
            advice = certificate_advice(error) or "if it has a private authority, set its file"
            raise UnfitServerError(
                f"the certificate of {_place(url)} is not trusted: {short(error)}; {advice}"
            ) from error
        except urllib3.exceptions.LocationParseError as error:
            raise UsageError(f"invalid address {url}") from error
        except urllib3.exceptions.HTTPError as error:
            may_act = not isinstance(error, _UNSENT)
            raise LostAnswerError(f"{_place(url)} did not answer: {short(error)}", may_act) from error
        if 300 <= answer.status < 400:
            target = answer.headers.get("Location", "elsewhere")
            raise UnfitServerError(f"{_place(url)} redirects to {_place(target)}: set that address")
        return Reply(answer.status, answer.data, header_time(answer.headers.get("Date")))

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


@dataclass(frozen=True, slots=True)
class RealTiming:
    """The clock of this machine; *check* raises Interrupted if the user stops the run."""

    check: Callable[[], None] = lambda: None

    def now(self) -> datetime:
        """Return the present time, aware."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the seconds of a monotonic clock."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Sleep for *seconds*."""
        end = time.monotonic() + seconds
        while True:
            self.check()
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.5))


class Connection:
    """Read without a login, and write with one."""

    def __init__(
        self,
        account: Account,
        transport: Transport,
        timing: Timing,
        patience_s: float = 60.0,
        hide: Callable[[str], None] = lambda _token: None,
    ) -> None:
        """Retry reads for *patience_s*, and pass the token of each login to *hide*."""
        self.account = account
        self.timing = timing
        self._transport = transport
        self._patience_s = patience_s
        self._hide = hide
        self._token: str | None = account.token
        self._since = float("-inf")

    def read(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Return the document of a route; retry while no response arrives.

        Raises:
            RefusedError: For a 4xx.
            LostAnswerError: If no response arrives in time.
        """
        url = f"{self.account.root}{path}{f'?{urlencode(query)}' if query else ''}"
        return self._retry(lambda: self._parse(self._send("GET", url, {}, None), f"read {path}"))[0]

    def fetch(self, url: str) -> Any:
        """Return a JSON document outside the API; None if it is missing."""
        reply = self._retry(lambda: (self._send("GET", url, {}, None), None))[0]
        return parse_json(reply.body) if reply.status == 200 else None

    def write(self, method: str, path: str, what: str, body: Mapping[str, Any] | None = None) -> tuple[Any, Reply]:
        """Send a write once; *what* names it in error messages.

        Raises:
            RefusedError: For a 4xx: the server changed nothing.
            LostAnswerError: If it is unknown whether the server acted.
        """
        url = f"{self.account.root}{path}"
        content = None if body is None else json.dumps(body).encode()
        try:
            return self._parse(self._send(method, url, self._token_header(), content), what)
        except RefusedError as error:
            # the server checks the token first, so that the write can be repeated
            if error.refusal is not Refusal.TOKEN or self.account.token:
                raise
        self._since = float("-inf")
        return self._parse(self._send(method, url, self._token_header(), content), what)

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        # the server refuses a body without a content type, and a content type without a body
        typed = {"Content-Type": "application/json"} if body is not None else {}
        return self._transport.send(method, url, {"Accept": "application/json", **typed, **headers}, body)

    def _token_header(self) -> Mapping[str, str]:
        """Return the header for a write, which must be sent without a challenge."""
        if self.account.token is None and self.timing.monotonic() - self._since > _FRESH_S:
            self._token = self._retry(self._log_in)
            self._since = self.timing.monotonic()
        return {"Authorization": f"Bearer {self._token}"}

    def _password_header(self) -> dict[str, str]:
        pair = f"{self.account.user}:{self.account.password or ''}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}

    def _log_in(self) -> str:
        reply = self._send("POST", f"{self.account.root}/login/", self._password_header(), None)
        if reply.status == 401:
            raise ClusterError(f"QUADS refused the login of {self.account.user}: correct the password, or register")
        document, _reply = self._parse(reply, "log in")
        token = document.get("auth_token") if isinstance(document, dict) else None
        if not token:
            raise UnfitServerError(f"QUADS accepted the login of {self.account.user}, but returned no token")
        self._hide(str(token))
        return str(token)

    def _parse(self, reply: Reply, what: str) -> tuple[Any, Reply]:
        if reply.status >= 500:
            reason = message(reply.body) or "no reason given"
            # other 5xx are from a gateway, while the server may still perform the request
            may_act = reply.status != 500
            raise LostAnswerError(f"QUADS failed to {what} ({reply.status}): {reason}", may_act)
        if reply.status >= 400:
            raise RefusedError(what, reply.status, message(reply.body))
        document = parse_json(reply.body)
        if document is None:
            raise UnfitServerError(f"the server at {self.account.url} is not QUADS: it returned no JSON to {what}")
        return document, reply

    def _retry(self, ask: Callable[[], Any]) -> Any:
        end = self.timing.monotonic() + self._patience_s
        pause_s = 1.0
        while True:
            try:
                return ask()
            except LostAnswerError:
                if self.timing.monotonic() + pause_s > end:
                    raise
            self.timing.pause(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}" if parts.hostname else url
