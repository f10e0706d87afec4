"""The connection to OpenSearch, and its errors as sentences."""

from __future__ import annotations

import base64
import logging
import os
import re
import ssl
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from perfanalysis.errors import AnalysisError, UsageError
from perfanalysis.files.documents import mapping
from perfanalysis.results.history.folder import version_key

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

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
def client_errors(server: str) -> Iterator[None]:
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


USER, PASSWORD = "PERF_OPENSEARCH_USER", "PERF_OPENSEARCH_PASSWORD"
PREFIX = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
OLDEST = "2.7"
"""The first version with the field type flat_object."""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
TIMEOUT_S = 60


@dataclass(frozen=True)
class Server:
    """Where a history is kept. The password is not shown when it is printed."""

    url: str
    prefix: str = "psap-perf"
    ca_file: Path | None = None
    verify: bool = True
    credentials: tuple[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """UsageError for an address that is none, holds credentials, or would send them in the clear."""
        parts = urlsplit(self.url)
        if "@" in parts.netloc:
            raise UsageError(
                f"the address must not hold credentials, which every process list shows: {USER} and {PASSWORD}, or "
                f"--credentials FILE give them to {parts.hostname}"
            )
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise UsageError(f"{self.url} is no address of a server; write it like https://search.example.com:9200")
        if parts.scheme == "http" and self.credentials and parts.hostname not in LOOPBACK:
            raise UsageError(f"{self.url} would get the password in the clear: use https")
        if not PREFIX.fullmatch(self.prefix):
            raise UsageError(
                f"{self.prefix!r} is no prefix of an index: lower case letters, digits, . _ -, at most 100"
            )


def read_credentials(path: Path | None, environment: Mapping[str, str] = os.environ) -> tuple[str, str] | None:
    """User and password: of a YAML file with `user` and `password` that only its owner can read, else of the
    environment; None when there are none. Raises UsageError, which never holds the password.
    """
    if path is not None:
        return _of_file(path)
    user, password = environment.get(USER), environment.get(PASSWORD)
    if bool(user) != bool(password):
        raise UsageError(f"{USER if user else PASSWORD} is set and {PASSWORD if user else USER} is not")
    return (user, password) if user and password else None


def _of_file(path: Path) -> tuple[str, str]:
    import yaml

    try:
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            raise UsageError(f"{path} can be read by others (mode {mode:04o}): chmod 600 {path}")
        found = mapping(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, yaml.YAMLError):
        # the cause would quote the line, and that line may be the password
        raise UsageError(f"{path} is no YAML with user and password") from None
    user, password = found.get("user"), found.get("password")
    if not isinstance(user, str) or not isinstance(password, str) or not user or not password:
        raise UsageError(f"{path} must hold user and password, each a text")
    return user, password


def connect(server: Server) -> OpenSearch:
    """A client of the server, which was asked what it is. Raises ServerError, or UsageError for a wrong CA file."""
    try:
        from opensearchpy import OpenSearch
    except ImportError as error:
        raise UsageError("the client of OpenSearch is not installed: pip install 'psap-perf[opensearch]'") from error
    if not server.verify:
        # said once, by the command, and not again with each connection
        warnings.filterwarnings("ignore", message="Unverified HTTPS request")
    # it tells of every refused request with a traceback of its own
    logging.getLogger("opensearch").setLevel(logging.CRITICAL)
    client = OpenSearch(
        hosts=[server.url],
        headers=_authorization(server),
        http_compress=True,
        timeout=TIMEOUT_S,
        retry_on_timeout=True,
        ssl_context=_context(server) if server.url.startswith("https") else None,
    )
    with client_errors(server.url):
        version = mapping(mapping(client.info()).get("version"))
    number = str(version.get("number"))
    if version.get("distribution") != "opensearch" or version_key(number) < version_key(OLDEST):
        what = f"{version.get('distribution') or 'no OpenSearch'} {number if version else ''}".strip()
        raise ServerError(f"{server.url} is {what}; OpenSearch {OLDEST} or newer is needed")
    return client


def _authorization(server: Server) -> dict[str, str]:
    """As the client would make it, but in UTF-8: it takes Latin-1 only, and its error would show the password."""
    if server.credentials is None:
        return {}
    return {"authorization": f"Basic {base64.b64encode(':'.join(server.credentials).encode()).decode()}"}


def _context(server: Server) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=None if server.ca_file is None else str(server.ca_file))
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"{server.ca_file} is no file of certificates: {error.strerror or error}") from error
    if not server.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
