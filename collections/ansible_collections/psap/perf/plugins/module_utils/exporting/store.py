"""One bucket of an S3 store, accessed with boto3; sent and fetched objects are verified by their SHA-256."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import ExportedFile
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access

_DIGEST = "sha256"
_CHUNK = 1 << 20
CONNECTIONS = 8
# a store lists at most 1,000 keys in a page, and deletes at most as many in a request
_PAGE = 1000
_TRIES = 6
_CONNECT_S, _READ_S = 10, 60
_ABSENT = frozenset({"404", "NoSuchKey", "NotFound", "NoSuchUpload"})
_ADVICE: Mapping[str, str] = {
    "NoSuchBucket": "the bucket does not exist: create it, or correct export_to",
    "InvalidAccessKeyId": "the store has no such credentials",
    "SignatureDoesNotMatch": "the store does not accept these credentials",
    "ExpiredToken": "the credentials have expired",
    "AccessDenied": "the credentials do not allow it",
    "403": "the credentials do not allow it",
    "BadDigest": "the data was damaged on its way",
    "XAmzContentSHA256Mismatch": "the data was damaged on its way",
    "PermanentRedirect": "the bucket is in another region: set export_region",
}


class StoreError(PerfError):
    """The store cannot be reached, or refuses a request."""


@dataclass(frozen=True, slots=True)
class ObjectOptions:
    """The attributes of an object that is written.

    Attributes:
        acl: A canned ACL; if empty, the object is as private as its bucket.
    """

    acl: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)

    def arguments(self, key: str, digest: str) -> dict[str, Any]:
        """Return the arguments for boto3's calls that create an object."""
        kind = _content_type(key)
        known: dict[str, Any] = {"Metadata": {_DIGEST: digest}, "ContentType": kind}
        if self.acl:
            known["ACL"] = self.acl
        if self.tags:
            known["Tagging"] = urllib.parse.urlencode(self.tags)
        return known


# a browser shows these; other files of a run are text too, except tables and databases
_TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".parquet": "application/vnd.apache.parquet",
    ".gz": "application/gzip",
    ".tar": "application/x-tar",
}
_TEXTS = frozenset([".csv", ".jsonl", ".log", ".md", ".prom", ".txt", ".yaml", ".yml"])


def _content_type(key: str) -> str:
    suffix = Path(key).suffix
    if suffix in _TEXTS or not suffix:
        return "text/plain; charset=utf-8"
    return _TYPES.get(suffix, "application/octet-stream")


class Store:
    """A bucket."""

    def __init__(self, access: Access, bucket: str) -> None:
        """Create the client; this sends nothing.

        Raises:
            UsageError: If boto3 is missing, or the access cannot work.
        """
        # slow to import, and most runs export nothing
        try:
            import boto3
            from botocore.exceptions import BotoCoreError
        except ImportError as error:
            raise UsageError("exports need boto3: pip install 'psap-perf[s3]', or pip install boto3") from error
        access.check()
        self.bucket = bucket
        self.endpoint = access.endpoint
        keys = access.keys
        try:
            session = boto3.session.Session(
                aws_access_key_id=keys.identity if keys else None,
                aws_secret_access_key=keys.secret if keys else None,
                aws_session_token=keys.token if keys else None,
            )
            region = access.region or session.region_name or "us-east-1"
            self._client = session.client(
                "s3",
                region_name=region,
                endpoint_url=access.endpoint or None,
                verify=str(Path(access.authority).expanduser()) if access.authority else None,
                config=_config(bool(access.endpoint)),
            )
        except (BotoCoreError, ValueError) as error:
            raise UsageError(f"cannot use the S3 store: {hide(str(error))}") from error

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def sizes(self, prefix: str) -> dict[str, int]:
        """Return the bytes of each object below a prefix, by its key."""
        found: dict[str, int] = {}
        with self._convert_errors(f"list {prefix}"):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
            for page in pages:
                found.update({each["Key"]: int(each["Size"]) for each in page.get("Contents", ())})
        return found

    def digest(self, key: str) -> str | None:
        """Return the SHA-256 that the object was sent with; None if the object or its SHA-256 is missing."""
        with self._convert_errors(f"get the SHA-256 of {key}"), _absent():
            found = self._client.head_object(Bucket=self.bucket, Key=key)
            return str(found["Metadata"].get(_DIGEST) or "") or None
        return None

    def put(self, key: str, content: bytes, options: ObjectOptions) -> None:
        """Send a small object."""
        digest = hashlib.sha256(content)
        wanted = _base64(digest)
        with self._convert_errors(f"send {key}"):
            answer = self._client.put_object(
                Bucket=self.bucket,
                Key=key,
                Body=content,
                ChecksumSHA256=wanted,
                **options.arguments(key, digest.hexdigest()),
            )
        self._verify(key, answer.get("ChecksumSHA256"), wanted, digest.hexdigest())

    def put_large(
        self, key: str, stream: BinaryIO, file: ExportedFile, part_bytes: int, options: ObjectOptions
    ) -> None:
        """Send a file in parts; parts that an earlier call sent are not sent again.

        Raises:
            DataQualityError: If the file changes meanwhile.
        """
        digest = file.sha256
        with self._convert_errors(f"send {key}"):
            upload, there = self._resumable(key, options, digest)
            whole, parts, confirmed = hashlib.sha256(), [], True
            stream.seek(0)
            for number, part in enumerate(_parts(stream, file.size, part_bytes), start=1):
                whole.update(part)
                sent = there.get(number)
                if sent is None or not _is_part(sent, part):
                    sent = self._client.upload_part(
                        Bucket=self.bucket,
                        Key=key,
                        UploadId=upload,
                        PartNumber=number,
                        Body=part,
                        ChecksumSHA256=_base64(hashlib.sha256(part)),
                    )
                    confirmed = confirmed and _is_part(sent, part)
                checksum = {"ChecksumSHA256": sent["ChecksumSHA256"]} if sent.get("ChecksumSHA256") else {}
                parts.append({"PartNumber": number, "ETag": sent["ETag"], **checksum})
            if whole.hexdigest() != digest:
                self._client.abort_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload)
                raise DataQualityError(f"{key} changed while it was sent; export again when nothing writes it")
            self._client.complete_multipart_upload(
                Bucket=self.bucket, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
            )
        if there and self.digest(key) != digest:
            # the file has changed since the upload began, so the object has an outdated SHA-256
            self.put_large(key, stream, file, part_bytes, options)
        elif not confirmed:
            self._read_back(key, digest)

    def read(self, key: str) -> bytes | None:
        """Return the content of a small object; None if it does not exist."""
        with self._convert_errors(f"fetch {key}"), _absent():
            content: bytes = self._client.get_object(Bucket=self.bucket, Key=key)["Body"].read()
            return content
        return None

    def get(self, key: str, target: Path) -> str | None:
        """Write an object's content to a file; return its SHA-256, None if the object does not exist."""
        with self._convert_errors(f"fetch {key}"), _absent():
            body = self._client.get_object(Bucket=self.bucket, Key=key)["Body"]
            digest = hashlib.sha256()
            with target.open("wb") as stream:
                for chunk in body.iter_chunks(_CHUNK):
                    digest.update(chunk)
                    stream.write(chunk)
            return digest.hexdigest()
        return None

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; a missing one is not an error."""
        # one by one: the request that deletes several needs a checksum that some stores do not support
        for key in keys:
            with self._convert_errors(f"delete {key}"):
                self._client.delete_object(Bucket=self.bucket, Key=key)

    def end_uploads(self, prefix: str) -> None:
        """Abort the incomplete uploads below a prefix."""
        with self._convert_errors(f"list the incomplete uploads of {prefix}"):
            for key, upload in list(self._uploads(prefix)):
                self._client.abort_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload)

    def _uploads(self, prefix: str) -> Iterator[tuple[str, str]]:
        pages = self._client.get_paginator("list_multipart_uploads").paginate(Bucket=self.bucket, Prefix=prefix)
        for page in pages:
            yield from ((each["Key"], each["UploadId"]) for each in page.get("Uploads", ()))

    def _resumable(self, key: str, options: ObjectOptions, digest: str) -> tuple[str, dict[int, Mapping[str, Any]]]:
        """Return an earlier call's incomplete upload of an object, with its parts; otherwise a new one."""
        for other, upload in self._uploads(key):
            if other != key:
                continue
            pages = self._client.get_paginator("list_parts").paginate(Bucket=self.bucket, Key=key, UploadId=upload)
            with _absent():
                parts = {int(part["PartNumber"]): part for page in pages for part in page.get("Parts", ())}
                if parts:
                    return upload, parts
            self._client.abort_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload)
        begun = self._client.create_multipart_upload(
            Bucket=self.bucket, Key=key, ChecksumAlgorithm="SHA256", **options.arguments(key, digest)
        )
        return str(begun["UploadId"]), {}

    def _verify(self, key: str, stored: str | None, wanted: str, digest: str) -> None:
        """Compare the checksum that the store returned; if it returned none, read the object back."""
        if stored is None:
            self._read_back(key, digest)
        elif stored != wanted:
            raise DataQualityError(
                f"{self.bucket}/{key} was damaged on its way: the store has a different SHA-256; export again"
            )

    def _read_back(self, key: str, digest: str) -> None:
        with self._convert_errors(f"verify {key}"):
            body = self._client.get_object(Bucket=self.bucket, Key=key)["Body"]
            found = hashlib.sha256()
            for chunk in body.iter_chunks(_CHUNK):
                found.update(chunk)
        if found.hexdigest() != digest:
            raise DataQualityError(
                f"{self.bucket}/{key} was damaged on its way: the store returns different data; export again"
            )

    @contextlib.contextmanager
    def _convert_errors(self, what: str) -> Iterator[None]:
        """Convert errors of the client to one sentence.

        Raises:
            StoreError: If the store cannot be reached, or refuses.
        """
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

        where = f"bucket {self.bucket} of {self.endpoint or 'AWS'}"
        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            reason = _ADVICE.get(code) or error.response.get("Error", {}).get("Message") or code
            raise StoreError(f"cannot {what} in {where}: {hide(str(reason))} ({code})") from error
        except NoCredentialsError as error:
            raise UsageError(
                f"no credentials for {where}: set export_credentials to file:NAME or env:NAME, or provide AWS "
                "credentials in the environment or in ~/.aws"
            ) from error
        except BotoCoreError as error:
            raise StoreError(f"cannot {what} in {where}: {hide(str(error))}") from error


def _config(given_endpoint: bool) -> Any:
    from botocore.config import Config

    return Config(
        signature_version="s3v4",
        connect_timeout=_CONNECT_S,
        read_timeout=_READ_S,
        retries={"mode": "standard", "total_max_attempts": _TRIES},
        max_pool_connections=CONNECTIONS,
        # outside of AWS, buckets seldom have host names and certificates; a signed payload is verified by
        # every store, even one without support for checksums
        s3={"addressing_style": "path" if given_endpoint else "auto", "payload_signing_enabled": True},
        # many stores do not support the checksums that are not required
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        user_agent_extra="psap.perf",
    )


@contextlib.contextmanager
def _absent() -> Iterator[None]:
    """Ignore the error of a missing object."""
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        if str(error.response.get("Error", {}).get("Code", "")) not in _ABSENT:
            raise


def _base64(digest: Any) -> str:
    return base64.b64encode(digest.digest()).decode()


def _is_part(sent: Mapping[str, Any], part: bytes) -> bool:
    """Return whether the store has this part, by its SHA-256, or by the MD5 in its ETag."""
    if sent.get("ChecksumSHA256"):
        return bool(sent["ChecksumSHA256"] == _base64(hashlib.sha256(part)))
    return str(sent["ETag"]).strip('"') == hashlib.md5(part, usedforsecurity=False).hexdigest()


def digest_of(stream: BinaryIO, size: int) -> str:
    """Return the SHA-256 of the first *size* bytes of a file."""
    digest = hashlib.sha256()
    stream.seek(0)
    for chunk in _parts(stream, size, _CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _parts(stream: BinaryIO, size: int, part_bytes: int) -> Iterator[bytes]:
    """Yield the first *size* bytes in parts; the file may grow."""
    while size > 0:
        part = stream.read(min(size, part_bytes))
        if not part:
            return
        size -= len(part)
        yield part
