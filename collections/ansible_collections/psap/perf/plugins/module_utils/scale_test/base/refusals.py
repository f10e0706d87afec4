"""Why the API server refused a workload or one of its pods, in the few words by which refusals are counted."""

from __future__ import annotations

import re

# as the API server, which is Go, calls them; those of http.HTTPStatus differ between Pythons (422 since 3.13)
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
# what the server says when its own status (403 Forbidden, mostly) does not tell one cause from another
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


def named_cause(said: str) -> str:
    """The quota, webhook, policy or user that a refusal's text names; empty when it names none of them."""
    return next((words.format(found[1]) for pattern, words in _CAUSES if (found := pattern.search(said))), "")


def refusal(status: int | None, said: str | None) -> str:
    """The cause of a refusal with this HTTP status, of which the server *said* something."""
    phrase = _PHRASES.get(status or 0, "")
    return ", ".join(filter(None, (f"refused: {status} {phrase}".strip(), named_cause(said or ""))))
