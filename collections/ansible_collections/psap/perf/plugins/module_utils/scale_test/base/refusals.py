"""Short causes of refusals of the API server, by which the refusals of workloads and pods are counted."""

from __future__ import annotations

import re

# the phrases of Go, and so of the API server; those of http.HTTPStatus differ between Python versions (422 since 3.13)
_PHRASES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    409: "Conflict",
    410: "Gone",
    413: "Request Entity Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Entity",
    429: "Too Many Requests",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
# causes in the server's message, as its status (mostly 403 Forbidden) does not distinguish them
_CAUSES = (
    (re.compile(r"exceeded quota: ([^,\s]+)"), "quota {} exceeded"),
    (re.compile(r"admission webhook \"([^\"]+)\" denied"), "webhook {} denied it"),
    (
        re.compile(r"failed calling webhook \"([^\"]+)\".*deadline exceeded", re.DOTALL),
        "webhook {} did not answer in time",
    ),
    (re.compile(r"failed calling webhook \"([^\"]+)\""), "webhook {} could not be called"),
    (re.compile(r"namespace (\S+) because it is being terminated"), "namespace {} is being deleted"),
    (re.compile(r"ValidatingAdmissionPolicy '([^']+)'"), "policy {} denied it"),
    (re.compile(r"User \"([^\"]+)\" cannot create resource"), "user {} may not create it"),
)


def named_cause(message: str) -> str:
    """Return the quota, webhook, policy or user that a refusal's message names; empty if it names none."""
    return next((words.format(found[1]) for pattern, words in _CAUSES if (found := pattern.search(message))), "")


def refusal(status: int | None, message: str | None) -> str:
    """Return the cause of a refusal with this HTTP status and message."""
    phrase = _PHRASES.get(status or 0, "")
    return ", ".join(filter(None, (f"refused: {status} {phrase}".strip(), named_cause(message or ""))))
