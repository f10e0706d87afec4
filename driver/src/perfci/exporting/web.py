"""An export that is read by HTTP, such as from a public bucket."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from perfdrv.errors import DriverError, UsageError

_PATIENCE_S = 60
_CHUNK = 1 << 20
_PAGE = "index.html"


@dataclass(frozen=True, slots=True)
class WebSource:
    """The folder of an export by its URL."""

    url: str

    @classmethod
    def parse(cls, text: str) -> WebSource:
        """Return the source at the URL of the folder or of its index page.

        Raises:
            UsageError: The URL is invalid.
        """
        parts = urllib.parse.urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise UsageError(
                f"{text!r} is not the URL of an export: write https://HOST/PATH, without a query and a user"
            )
        path = parts.path.removesuffix(_PAGE).rstrip("/")
        return cls(urllib.parse.urlunsplit((parts.scheme, parts.netloc, path, "", "")))

    def read(self, path: str) -> bytes | None:
        """Return the content of a small file of the export; None if there is no such file."""
        with self._opened(path) as answer:
            return None if answer is None else answer.read()

    def get(self, path: str, target: Path) -> str | None:
        """Write a file of the export to *target*; return its SHA-256, or None if there is no such file."""
        digest = hashlib.sha256()
        with self._opened(path) as answer:
            if answer is None:
                return None
            with target.open("wb") as stream:
                while chunk := answer.read(_CHUNK):
                    digest.update(chunk)
                    stream.write(chunk)
        return digest.hexdigest()

    def holds_more(self) -> bool:
        """Return whether the export has files; its page is written just before the manifest."""
        return self.read(_PAGE) is not None

    @contextmanager
    def _opened(self, path: str) -> Iterator[IO[bytes] | None]:
        address = f"{self.url}/{urllib.parse.quote(path)}"
        try:
            with urllib.request.urlopen(address, timeout=_PATIENCE_S) as answer:  # noqa: S310 - by HTTP, as parsed
                yield answer
        except urllib.error.HTTPError as error:
            # a bucket that does not allow listing returns 403 for a missing file
            if error.code not in (403, 404):
                raise DriverError(f"cannot fetch {address}: {error.code} {error.reason}") from error
            yield None
        except OSError as error:
            raise DriverError(f"cannot fetch {address}: {getattr(error, 'reason', error)}") from error

    def __str__(self) -> str:
        return self.url
