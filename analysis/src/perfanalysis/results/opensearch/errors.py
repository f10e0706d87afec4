"""What a server, or the way to it, refused: as one sentence that says what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from perfanalysis.errors import AnalysisError

CREDENTIALS = "PERF_OPENSEARCH_USER and PERF_OPENSEARCH_PASSWORD, or --credentials FILE"


DECORATION = re.compile(
    r"^(?:<.*>|\w+\(host=.*\)): |Failed to establish a new connection: |\[SSL: \w+\] certificate verify failed: "
    r"|\s*\(_ssl\.c:\d+\)"
)
"""What libraries put around a cause: the object's address, the function's name, the line of C."""


class ServerError(AnalysisError):
    """A server cannot be reached, is not what it should be, or refuses."""

    exit_code = 3


@contextmanager
def told(server: str) -> Iterator[None]:
    """Errors of the client within become ServerError; *server* is its address without credentials."""
    from opensearchpy import exceptions

    try:
        yield
    except exceptions.SSLError as error:
        reason = _reason(error)
        raise ServerError(
            f"the certificate of {server} is refused: {reason}; --ca-file FILE names the authority that signed it"
        ) from error
    except exceptions.ConnectionTimeout as error:
        raise ServerError(f"{server} did not answer in time; try again, what was stored is not stored twice") from error
    except exceptions.ConnectionError as error:
        raise ServerError(f"{server} cannot be reached: {_reason(error)}; is the address right?") from error
    except exceptions.TransportError as error:
        raise ServerError(f"{server} {_answer(error)}") from error


def _answer(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    answers = {
        401: f"refuses the credentials (401): {CREDENTIALS} give them",
        403: "does not allow this user to do it (403): the role needs to read, create and write the indices",
        413: "refuses requests of this size (413): raise http.max_content_length, or what stands before the server",
        429: "is too busy (429), after several attempts: try again later, what was stored is not stored twice",
    }
    return answers.get(status, f"answered {status}: {getattr(error, 'error', error)}")  # type: ignore[arg-type]


def _reason(error: Exception) -> str:
    """The innermost cause, which is the one that tells something, in its own words only."""
    cause: BaseException = error
    inner = getattr(error, "info", None)
    while isinstance(inner, BaseException):
        cause, inner = inner, getattr(inner, "reason", None)
    words = DECORATION.sub("", str(cause)).strip()
    return words or type(cause).__name__
