"""HTTP to a QUADS server: verified, logged in before writes, and honest about answers that were lost.

Not by quads-lib (0.1.18), which verifies no certificate by default, returns 401 and 403 as data, repeats over http
only, drops the path of an address, and reads nothing back: a layer over it would replace every call.
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
    decoded,
    message,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.times import header_time

API = "/api/v3"
_TIMEOUT = urllib3.Timeout(connect=10, read=60)
# a token lives 100 minutes at least; a younger one needs no login of its own
_FRESH_S = 600.0
_LONGEST_PAUSE_S = 15.0
# no request has reached the server
_UNSENT = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError)


@dataclass(frozen=True, slots=True)
class Account:
    """Whose account, on which server.

    :param url: the server's address, with the path that it may have before ``/api/v3``.
    :param user: an email address; what stands before the @ is the owner's name.
    :param password: for the login; or *token*, a ``qat_`` one.
    :param admin: whether the server knows the account as an administrator's.
    """

    url: str
    user: str = ""
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    admin: bool = False

    @property
    def owner(self) -> str:
        """The name that the server notes as the owner's."""
        return self.user.partition("@")[0]

    @property
    def root(self) -> str:
        """The address of the API: a path that the address has stays."""
        trimmed = self.url.rstrip("/")
        return trimmed if trimmed.endswith(API) else f"{trimmed}{API}"

    def check(self, writes: bool) -> None:
        """:raises UsageError: when the URL is not an address, or a login that writing needs is missing."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{self.url!r} is not the address of a QUADS server, such as https://quads.example.com")
        if parts.username or parts.password:
            raise UsageError("the address of the QUADS server contains credentials: pass them as secrets instead")
        if writes and "@" not in self.user:
            raise UsageError("QUADS identifies users by their email address: set user to the owner of the hosts")
        if writes and not (self.password or self.token):
            raise UsageError("booking needs a login: set password or token (qat_…) to a reference")


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: *date* is that of its header, in UTC."""

    status: int
    body: bytes
    date: datetime | None = None


class Transport(Protocol):
    """What carries a request."""

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """The answer.

        :raises LostAnswerError: when none came.
        :raises UnfitServerError: when the server is not trusted.
        """


class Timing(Protocol):
    """Time as it passes."""

    def now(self) -> datetime:
        """The moment, aware."""

    def monotonic(self) -> float:
        """Seconds."""

    def pause(self, seconds: float) -> None:
        """Let time pass.

        :raises Interrupted: when the user asked to stop.
        """


class HttpTransport:
    """HTTP and HTTPS; no redirect is followed, since a login would go elsewhere with it."""

    def __init__(self, authority: str = "") -> None:
        """*authority* is a PEM file of authorities that are trusted beside those of the system.

        :raises UsageError: when it cannot be used.
        """
        try:
            context = ssl.create_default_context()
            if authority:
                context.load_verify_locations(cafile=authority)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"the authority {authority} cannot be used as a PEM file: {error}") from error
        self._pool = urllib3.PoolManager(timeout=_TIMEOUT, retries=False, ssl_context=context)

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """The answer."""
        try:
            answer = self._pool.request(method, url, headers=dict(headers), body=body, redirect=False)
        except urllib3.exceptions.SSLError as error:
            if "WRONG_VERSION_NUMBER" in str(error):
                raise UnfitServerError(
                    f"{_place(url)} does not speak TLS: give an address with http://, or the port of https"
                ) from error
            advice = certificate_advice(error) or "give the file of its authority, if it has one of its own"
            raise UnfitServerError(
                f"the certificate of {_place(url)} is not trusted: {short(error)}; {advice}"
            ) from error
        except urllib3.exceptions.LocationParseError as error:
            raise UsageError(f"{url} is not an address") from error
        except urllib3.exceptions.HTTPError as error:
            may_act = not isinstance(error, _UNSENT)
            raise LostAnswerError(f"{_place(url)} did not answer: {short(error)}", may_act) from error
        if 300 <= answer.status < 400:
            target = answer.headers.get("Location", "elsewhere")
            raise UnfitServerError(f"{_place(url)} sends us on to {_place(target)}: give that address")
        return Reply(answer.status, answer.data, header_time(answer.headers.get("Date")))

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()


@dataclass(frozen=True, slots=True)
class RealTiming:
    """The machine's own time; *check* raises when the user asked to stop."""

    check: Callable[[], None] = lambda: None

    def now(self) -> datetime:
        """The moment, aware."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        end = time.monotonic() + seconds
        while True:
            self.check()
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.5))


class Connection:
    """Reads without a login, which no read needs, and writes with one."""

    def __init__(
        self,
        account: Account,
        transport: Transport,
        timing: Timing,
        patience_s: float = 60.0,
        hide: Callable[[str], None] = lambda _token: None,
    ) -> None:
        """*patience_s* is how long a read is tried again; *hide* learns the token of each login."""
        self.account = account
        self.timing = timing
        self._transport = transport
        self._patience_s = patience_s
        self._hide = hide
        self._token: str | None = account.token
        self._since = float("-inf")

    def read(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """What a route tells, tried again while no answer comes.

        :raises RefusedError: for a 4xx.
        :raises LostAnswerError: when the patience is over.
        """
        url = f"{self.account.root}{path}{f'?{urlencode(query)}' if query else ''}"
        return self._patiently(lambda: self._understood(self._send("GET", url, {}, None), f"read {path}"))[0]

    def fetch(self, url: str) -> Any:
        """A JSON document beside the API; None where there is none."""
        reply = self._patiently(lambda: (self._send("GET", url, {}, None), None))[0]
        return decoded(reply.body) if reply.status == 200 else None

    def write(self, method: str, path: str, what: str, body: Mapping[str, Any] | None = None) -> tuple[Any, Reply]:
        """Let the server do something, once; *what* is for the message.

        :raises RefusedError: for a 4xx: nothing was done.
        :raises LostAnswerError: when nobody can say whether it was done.
        """
        url = f"{self.account.root}{path}"
        content = None if body is None else json.dumps(body).encode()
        try:
            return self._understood(self._send(method, url, self._login(), content), what)
        except RefusedError as error:
            # refused before anything was done, so that it can be sent again
            if error.refusal is not Refusal.TOKEN or self.account.token:
                raise
        self._since = float("-inf")
        return self._understood(self._send(method, url, self._login(), content), what)

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        # a body without a content type is refused, and a POST without a body wants neither
        typed = {"Content-Type": "application/json"} if body is not None else {}
        return self._transport.send(method, url, {"Accept": "application/json", **typed, **headers}, body)

    def _login(self) -> Mapping[str, str]:
        """Return the header of a write, which the server does not ask for."""
        if self.account.token is None and self.timing.monotonic() - self._since > _FRESH_S:
            self._token = self._patiently(self._logged_in)
            self._since = self.timing.monotonic()
        return {"Authorization": f"Bearer {self._token}"}

    def _basic(self) -> dict[str, str]:
        pair = f"{self.account.user}:{self.account.password or ''}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}

    def _logged_in(self) -> str:
        reply = self._send("POST", f"{self.account.root}/login/", self._basic(), None)
        if reply.status == 401:
            raise ClusterError(f"QUADS refused the login of {self.account.user}: correct the password, or register")
        told, _reply = self._understood(reply, "log in")
        token = told.get("auth_token") if isinstance(told, dict) else None
        if not token:
            raise UnfitServerError(f"QUADS let {self.account.user} in without a token")
        self._hide(str(token))
        return str(token)

    def _understood(self, reply: Reply, what: str) -> tuple[Any, Reply]:
        if reply.status >= 500:
            said = message(reply.body)
            # a gateway answers for a server that may still be at work; the server itself is done
            may_act = reply.status != 500
            raise LostAnswerError(f"QUADS failed to {what} ({reply.status}): {said or 'no reason given'}", may_act)
        if reply.status >= 400:
            raise RefusedError(what, reply.status, message(reply.body))
        told = decoded(reply.body)
        if told is None:
            raise UnfitServerError(f"the server at {self.account.url} is not QUADS: it returned no JSON to {what}")
        return told, reply

    def _patiently(self, ask: Callable[[], Any]) -> Any:
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
