"""The place of an export in an S3 store, and the access to the store."""

from __future__ import annotations

import configparser
import re
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

SCHEME = "s3"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
_KEYS = ("aws_access_key_id", "aws_secret_access_key")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in a bucket: all keys that begin with ``prefix`` and a slash."""

    bucket: str
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> Place:
        """Parse ``s3://BUCKET/PREFIX``.

        Raises:
            UsageError: If *text* is not such a place.
        """
        parts = urllib.parse.urlsplit(text)
        segments = [segment for segment in parts.path.split("/") if segment]
        if parts.scheme != SCHEME or not _BUCKET.fullmatch(parts.netloc) or parts.query or parts.fragment:
            raise UsageError(f"{text!r} is not a location in an S3 store; write s3://BUCKET or s3://BUCKET/PREFIX")
        if not {".", ".."}.isdisjoint(segments):
            raise UsageError(f"{text!r} contains a folder named . or ..; write the location without it")
        return cls(parts.netloc, "/".join(segments))

    def below(self, *names: str) -> Place:
        """Return a subfolder of this place."""
        return Place(self.bucket, "/".join(filter(None, (self.prefix, *names))))

    def key(self, path: str) -> str:
        """Return the key of a file in it."""
        return f"{self.prefix}/{path}" if self.prefix else path

    @property
    def name(self) -> str:
        """The name of its last folder."""
        return self.prefix.rpartition("/")[2] or self.bucket

    def __str__(self) -> str:
        return f"{SCHEME}://{self.bucket}/{self.prefix}".rstrip("/")


@dataclass(frozen=True, slots=True)
class Keys:
    """The credentials of a store; only the ID appears in any text."""

    identity: str
    secret: str = field(repr=False)
    token: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> Keys:
        """Parse a credentials file of the AWS CLI: the profile ``default``, or the only one.

        Raises:
            UsageError: If *text* is not such a file; the message does not contain it.
        """
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(text if text.lstrip().startswith("[") else f"[default]\n{text}")
        except configparser.Error as error:
            raise UsageError(_WRONG_KEYS) from error
        sections = parser.sections()
        name = "default" if "default" in sections else sections[0] if len(sections) == 1 else ""
        values = [parser.get(name, key, fallback="").strip() for key in _KEYS] if name else ["", ""]
        if not all(values):
            raise UsageError(_WRONG_KEYS)
        return cls(values[0], values[1], parser.get(name, "aws_session_token", fallback="").strip() or None)

    def secrets(self) -> Iterator[str]:
        """Yield the values that must not appear in any file."""
        yield from filter(None, (self.secret, self.token))


_WRONG_KEYS = (
    "the credentials of the S3 store must be a credentials file of the AWS CLI: a line [default], then "
    "aws_access_key_id = … and aws_secret_access_key = …"
)


@dataclass(frozen=True, slots=True)
class Access:
    """The access to a store.

    Attributes:
        endpoint: URL of the store; empty for AWS.
        authority: PEM file of certificate authorities to trust instead of the system's; empty for the system's.
        keys: Credentials; None for those that boto3 finds: the environment, ``~/.aws``, the role of the machine or pod.
    """

    endpoint: str = ""
    region: str = ""
    authority: str = ""
    keys: Keys | None = None

    def url(self, place: Place, path: str) -> str:
        """Return the URL of a file of *place* for a browser, which may need permission to read it."""
        key = urllib.parse.quote(place.key(path))
        if self.endpoint:
            return f"{self.endpoint.rstrip('/')}/{place.bucket}/{key}"
        return f"https://{place.bucket}.s3.{self.region + '.' if self.region else ''}amazonaws.com/{key}"

    def check(self) -> None:
        """Refuse an access that cannot work.

        Raises:
            UsageError: If the endpoint is not a URL, or the authority is not a file.
        """
        if self.endpoint:
            parts = urllib.parse.urlsplit(self.endpoint)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
                raise UsageError(
                    f"{self.endpoint!r} is not an endpoint of a store; write https://HOST or https://HOST:PORT"
                )
        if self.authority and not Path(self.authority).expanduser().is_file():
            raise UsageError(f"the file {self.authority} with certificate authorities does not exist")
