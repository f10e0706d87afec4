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
"""Text that libraries add to a cause: the object's address, the function's name, the line in C."""


class ServerError(AnalysisError):
    """A server cannot be reached, has the wrong type or version, or refuses."""

    exit_code = 3


@contextmanager
def client_errors(server: str) -> Iterator[None]:
    """Convert errors of the client to ServerError; *server* is its address without credentials."""
    from opensearchpy import exceptions

    try:
        yield
    except exceptions.SSLError as error:
        reason = _reason(error)
        raise ServerError(
            f"cannot verify the certificate of {server}: {reason}; pass the authority that signed it with "
            "--ca-file FILE"
        ) from error
    except exceptions.ConnectionTimeout as error:
        raise ServerError(
            f"{server} did not respond in time; try again, stored documents are not stored twice"
        ) from error
    except exceptions.ConnectionError as error:
        raise ServerError(f"cannot connect to {server}: {_reason(error)}; check the address") from error
    except exceptions.TransportError as error:
        raise ServerError(f"{server} {_answer(error)}") from error


def _answer(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    answers = {
        401: f"refuses the credentials (401): check {CREDENTIALS}",
        403: "denies this user access (403): the role needs to read, create and write the indices",
        413: "refuses requests of this size (413): raise http.max_content_length or the limit of the proxy",
        429: "is too busy (429) after several attempts: try again later, stored documents are not stored twice",
    }
    return answers.get(status, f"answered {status}: {getattr(error, 'error', error)}")  # type: ignore[arg-type]


def _reason(error: Exception) -> str:
    """Return the text of the innermost cause, which is the informative one."""
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
    """The location of a history. Its repr does not contain the password."""

    url: str
    prefix: str = "psap-perf"
    ca_file: Path | None = None
    verify: bool = True
    credentials: tuple[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Raise UsageError for an address that is invalid, contains credentials, or would send them in plain text."""
        parts = urlsplit(self.url)
        if "@" in parts.netloc:
            raise UsageError(
                "remove the credentials from the address, since every process list shows them; for "
                f"{parts.hostname}, use {USER} and {PASSWORD} or --credentials FILE"
            )
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise UsageError(
                f"{self.url} is not the address of a server; write it like https://search.example.com:9200"
            )
        if parts.scheme == "http" and self.credentials and parts.hostname not in LOOPBACK:
            raise UsageError(f"{self.url} would receive the password in plain text: use https")
        if not PREFIX.fullmatch(self.prefix):
            raise UsageError(
                f"invalid prefix of indices {self.prefix!r}: use lower case letters, digits, . _ -, at most "
                "100 characters"
            )


def read_credentials(path: Path | None, environment: Mapping[str, str] = os.environ) -> tuple[str, str] | None:
    """Read user and password from a YAML file with `user` and `password` that only its owner can read, else from the
    environment; None if there are none. Raises UsageError, which never contains the password.
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
            raise UsageError(f"other users can read {path} (mode {mode:04o}): run chmod 600 {path}")
        found = mapping(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, yaml.YAMLError):
        # the cause would quote the line, which may be the password
        raise UsageError(f"{path} is not YAML with user and password") from None
    user, password = found.get("user"), found.get("password")
    if not isinstance(user, str) or not isinstance(password, str) or not user or not password:
        raise UsageError(f"{path} must contain user and password, each a text")
    return user, password


def connect(server: Server) -> OpenSearch:
    """Return a client of the server, whose version was checked. Raises ServerError, or UsageError for an invalid CA
    file.
    """
    try:
        from opensearchpy import OpenSearch
    except ImportError as error:
        raise UsageError("opensearch-py is not installed: run pip install 'psap-perf[opensearch]'") from error
    if not server.verify:
        # the command prints it once; not again for each connection
        warnings.filterwarnings("ignore", message="Unverified HTTPS request")
    # it logs every refused request with a traceback
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
    """As the client does, but in UTF-8: it only accepts Latin-1, and its error would show the password."""
    if server.credentials is None:
        return {}
    return {"authorization": f"Basic {base64.b64encode(':'.join(server.credentials).encode()).decode()}"}


def _context(server: Server) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=None if server.ca_file is None else str(server.ca_file))
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"{server.ca_file} is not a file of certificates: {error.strerror or error}") from error
    if not server.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
