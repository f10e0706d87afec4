"""The responses of the stand-in: bodies and content types of each kind of error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_TRUTHS = {"true", "y", "yes"}
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """A response of the server."""

    status: int
    body: bytes
    content_type: str = "application/json"


class Refusal(Exception):  # noqa: N818 - an answer, not an error
    """A request that is answered with an error."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def json_answer(value: Any, status: int = 200) -> Answer:
    """Return a JSON document."""
    return Answer(status, json.dumps(value).encode())


def page(status: int, title: str) -> Answer:
    """Return an HTML page."""
    body = f"<!doctype html>\n<html lang=en>\n<title>{status} {title}</title>\n<h1>{title}</h1>\n"
    return Answer(status, body.encode(), HTML)


def logic(message: str, status: int = 400) -> Refusal:
    """Return the error of a route."""
    error = "Bad Request" if status == 400 else "Forbidden"
    return Refusal(json_answer({"status_code": status, "error": error, "message": message}, status))


def access(message: str, status: int) -> Refusal:
    """Return the error of the access check."""
    # JSON declared as HTML, without a status_code
    return Refusal(Answer(status, json.dumps({"message": message, "error": "Unauthorized"}).encode(), HTML))


def no_role() -> Refusal:
    """Return the error of a known user with a wrong role."""
    return access("You don't have the permission to access the requested resource", 403)


def http_date(wall: datetime | None) -> str | None:
    """Return local time labelled as GMT."""
    return None if wall is None else f"{wall:%a, %d %b %Y %H:%M:%S} GMT"


def time_of(text: str, form: str = "%Y-%m-%dT%H:%M") -> datetime:
    """Parse a time of a request; refuse another format."""
    try:
        return datetime.strptime(text, form)
    except ValueError:
        raise logic(f"Invalid date format: {text}") from None


def true(value: Any) -> bool:
    """Return whether the server reads a value as true, which it does not for 1."""
    return value is True or (isinstance(value, str) and value.lower() in _TRUTHS)
