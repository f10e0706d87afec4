"""Errors of a QUADS server, distinguished by their messages, since one status has many meanings."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError

_TITLE = re.compile(r"<(?:title|h1)>([^<]*)<", re.IGNORECASE)


class Refusal(Enum):
    """Reasons of refusals; the value is a text with what the user can do."""

    DISABLED = "self-scheduling is switched off on this server; ask the lab"
    CLOUD_LIMIT = (
        "you have the maximum number of clouds, including empty ones; release one (perfdrv quads list-assignments)"
    )
    ROLE = "this account has no permission, or is disabled"
    OWNER = "the assignment belongs to another user"
    NOT_SELF_SERVICE = "the cloud is not a self-service cloud of the server"
    NOT_FOUND = "the server did not find it"
    CLOUD_BUSY = "the cloud has an assignment, or is the spare pool; choose another one, or none"
    NO_CLOUD = "all clouds of the lab are in use; try again later"
    DEADLINE = (
        "the lab's weekly deadline for self-scheduling has passed, and this server grants no lease before Monday, by "
        "its clock; book then"
    )
    HOST_LIMIT = "the cloud has the maximum number of hosts of the lab; split them over clouds (clouds)"
    HOST_CLOSED = "the host is not open to self-scheduling"
    HOST_UNAVAILABLE = "the host is booked, broken or retired"
    NOTHING_RUNS = "the assignment has no current schedule"
    TICKET = "the server opens no tickets: pass a ticket number"
    NO_LOGIN = "the request needs a login"
    TOKEN = "the token is wrong, expired or logged out"  # noqa: S105 - a text about one
    PASSWORD = "wrong user or password"  # noqa: S105 - a text about one
    ROUTE = "the server has no such route, or not for this method"
    DATABASE = "its database rejected the values; check each of them"
    OTHER = "see the server's message"


# the first match counts
_MEANINGS: tuple[tuple[int, str, Refusal], ...] = (
    (403, r"service not enabled", Refusal.DISABLED),
    (403, r"limit reached", Refusal.CLOUD_LIMIT),
    (403, r"permission to create a schedule", Refusal.NOT_SELF_SERVICE),
    (403, r"permission to access the requested", Refusal.ROLE),
    (403, r"", Refusal.OWNER),
    (401, r"authentication token", Refusal.TOKEN),
    (401, r"", Refusal.PASSWORD),
    (400, r"missing authentication|authorization header", Refusal.NO_LOGIN),
    (400, r"ticket", Refusal.TICKET),
    (400, r"no free cloud", Refusal.NO_CLOUD),
    (400, r"already.*active assignment|active assignment.*already|not free|spare pool", Refusal.CLOUD_BUSY),
    (400, r"no active schedule", Refusal.NOTHING_RUNS),
    (400, r"maximum number of hosts", Refusal.HOST_LIMIT),
    (400, r"not allowed to self-schedule", Refusal.HOST_CLOSED),
    (400, r"host is not available", Refusal.HOST_UNAVAILABLE),
    (400, r"start must be before end", Refusal.DEADLINE),
    (400, r"failed to commit", Refusal.DATABASE),
    (400, r"not found|no active assignment for cloud", Refusal.NOT_FOUND),
    (404, r"", Refusal.ROUTE),
    (405, r"", Refusal.ROUTE),
)


class QuadsError(PerfError):
    """A request to QUADS failed."""


class RefusedError(QuadsError):
    """The server refused a request and changed nothing."""

    def __init__(self, what: str, status: int, reason: str) -> None:
        self.status = status
        self.reason = reason
        self.refusal = meaning(status, reason)
        super().__init__(f"QUADS refused to {what}: {reason or 'no reason given'} ({status}); {self.refusal.value}")


class LeaseEndsError(QuadsError):
    """The lease of the hosts ends soon, or has ended."""


class LostAnswerError(ClusterError):
    """No response, or one that leaves open whether the server acted (a timeout, a 5xx)."""

    def __init__(self, text: str, may_act: bool = True) -> None:
        """*may_act* is whether the server may still perform the request."""
        self.may_act = may_act
        super().__init__(text)


class UnfitServerError(ClusterError):
    """The server is not QUADS, is not trusted, or has no self-scheduling."""


def meaning(status: int, reason: str) -> Refusal:
    """Return the meaning of a refusal with this status and message."""
    fitting = (each for code, text, each in _MEANINGS if code == status and re.search(text, reason, re.IGNORECASE))
    return next(fitting, Refusal.OTHER)


def parse_json(body: bytes) -> Any:
    """Return the JSON of a response, regardless of its content type; None for other text, such as HTML."""
    try:
        return json.loads(body)
    except ValueError:
        return None


def message(body: bytes) -> str:
    """Return the reason in an error response: its message, the title of its page, or its first words."""
    document = parse_json(body)
    if isinstance(document, dict):
        return str(document.get("message") or document.get("error") or "")
    text = body.decode("utf-8", "replace")
    title = _TITLE.search(text)
    return (title[1] if title else text[:120]).strip()
