"""What a QUADS server refuses, told apart by its message: one status means many things."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError

_TITLE = re.compile(r"<(?:title|h1)>([^<]*)<", re.IGNORECASE)


class Refusal(Enum):
    """Why; the value is what the user can do."""

    DISABLED = "self-scheduling is switched off on this server; ask the lab"
    CLOUD_LIMIT = (
        "you have as many clouds as one may have, empty ones included; release one (perfdrv quads list-assignments)"
    )
    ROLE = "this account may not do that, or is disabled"
    OWNER = "the assignment belongs to another user"
    NOT_SELF_SERVICE = "the cloud is no self-service cloud of the server"
    NOT_FOUND = "the server does not have it"
    CLOUD_BUSY = "the cloud has an assignment, or is the spare pool; choose another one, or none"
    NO_CLOUD = "all clouds of the lab are in use; try again later"
    DEADLINE = (
        "the lab's weekly deadline for self-scheduling has passed, and this server makes no lease before the next week "
        "begins (Monday, by the server's clock); book then"
    )
    HOST_LIMIT = "the cloud has as many hosts as the lab allows; split them over clouds (clouds)"
    HOST_CLOSED = "the host is not open to self-scheduling"
    HOST_UNAVAILABLE = "the host is booked, broken or retired"
    NOTHING_RUNS = "nothing of the assignment is running any more"
    TICKET = "the server opens no tickets: give a ticket number"
    NO_LOGIN = "the call needs a login"
    TOKEN = "the token is wrong, expired or logged out"  # noqa: S105 - a sentence about one
    PASSWORD = "user or password is wrong"  # noqa: S105 - a sentence about one
    ROUTE = "the server has no such route, or not for this method"
    DATABASE = "its database refused what was asked for; look at each value"
    OTHER = "see the server's message"


# the first that fits; a message is what the server says in JSON, whatever the content type
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
    """QUADS could not do what was asked for."""


class RefusedError(QuadsError):
    """The server refused: nothing was changed."""

    def __init__(self, what: str, status: int, said: str) -> None:
        self.status = status
        self.said = said
        self.refusal = meaning(status, said)
        super().__init__(f"QUADS refused to {what}: {said or 'no reason given'} ({status}); {self.refusal.value}")


class LeaseEndsError(QuadsError):
    """The hosts are taken away soon, or were."""


class LostAnswerError(ClusterError):
    """No answer came, or none that says whether the server acted (a timeout, a 5xx)."""

    def __init__(self, text: str, may_act: bool = True) -> None:
        """*may_act* is whether the server may still be carrying the request out."""
        self.may_act = may_act
        super().__init__(text)


class UnfitServerError(ClusterError):
    """What answers is no QUADS, cannot be trusted, or has no self-scheduling."""


def meaning(status: int, said: str) -> Refusal:
    """What a refusal with this status and message means."""
    fitting = (each for code, text, each in _MEANINGS if code == status and re.search(text, said, re.IGNORECASE))
    return next(fitting, Refusal.OTHER)


def decoded(body: bytes) -> Any:
    """The JSON of an answer whatever its content type says; None where it is none, such as a page of HTML."""
    try:
        return json.loads(body)
    except ValueError:
        return None


def message(body: bytes) -> str:
    """What an answer that is an error says: its message, the title of its page, or its first words."""
    told = decoded(body)
    if isinstance(told, dict):
        return str(told.get("message") or told.get("error") or "")
    text = body.decode("utf-8", "replace")
    title = _TITLE.search(text)
    return (title[1] if title else text[:120]).strip()
