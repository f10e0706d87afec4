"""Sends the artifacts of one user from the second container of its pod to an S3 store, once.

The container starts it when the command has ended; the coordinator starts it also if the command was killed.
It needs Python 3.9 and no other package. The store verifies each file, or each part of a large file, by its SHA-256.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import html
import http.client
import io
import json
import os
import re
import ssl
import sys
import time
import urllib.parse
from pathlib import Path

PLAN = Path(os.environ.get("PERF_USER_PLAN", "/mnt/plan/plan.json"))
ARTIFACTS = Path(os.environ.get("PERF_USER_ARTIFACTS", "/mnt/artifacts"))
CONTROL = Path(os.environ.get("PERF_USER_CONTROL", "/mnt/control"))
STORE = Path(os.environ.get("PERF_USER_STORE", "/mnt/store"))
# sent last: a bucket that has it has all files
LAST = "exit_code"
# S3 accepts at most 5 GB in one request, and 10,000 parts
PART_BYTES = 256 << 20
PARTS = 10_000
TRIES = 5
PAUSE_S = 1.0


def main() -> int:
    """Send all artifacts, unless they have been sent; return the exit code."""
    sent = CONTROL / "exported"
    with (CONTROL / "export.lock").open("w") as lock:
        while not locked(lock):
            # an idle connection may be closed
            print("sending", flush=True)
            time.sleep(PAUSE_S)
        if sent.exists():
            return 0
        code = send_all(json.loads(PLAN.read_text(encoding="utf-8"))["export"])
        if code == 0:
            sent.touch()
    return code


def locked(stream) -> bool:
    """Return whether this process has locked the file."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def send_all(wanted: dict) -> int:
    """Send all artifacts; return the exit code."""
    bucket = Bucket(wanted)
    folder = f"{wanted['prefix']}/user-{os.environ.get('JOB_COMPLETION_INDEX', '0')}"
    for path in sorted(ARTIFACTS.rglob("*"), key=lambda each: (each == ARTIFACTS / LAST, each)):
        if not path.is_file() or path.is_symlink():
            continue
        try:
            bucket.put(f"{folder}/{path.relative_to(ARTIFACTS).as_posix()}", path)
        except (OSError, http.client.HTTPException) as error:
            print(f"cannot send {path.name} to {wanted['endpoint']}: {error}", file=sys.stderr)
            return 1
        print(path.name, flush=True)
    return 0


class Section:
    """A section of a file, the body of a request."""

    def __init__(self, path: Path, start: int, size: int) -> None:
        """Compute its digest."""
        self.path = path
        self.start = start
        self.size = size
        digest = hashlib.sha256()
        with self.opened() as stream:
            for chunk in iter(lambda: stream.read(1 << 20), b""):
                digest.update(chunk)
        self.digest = digest.hexdigest()

    def opened(self) -> SectionReader:
        """Return a stream of the section, for http.client."""
        return SectionReader(self)


class SectionReader:
    """Reads a section of a file."""

    def __init__(self, section: Section) -> None:
        """Open the file."""
        self._stream = section.path.open("rb")
        self._stream.seek(section.start)
        self._left = section.size

    def __enter__(self) -> SectionReader:
        """Return itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the file."""
        self._stream.close()

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most *size*."""
        content = self._stream.read(min(size, self._left))
        self._left -= len(content)
        return content


class Text:
    """A small body of a request."""

    def __init__(self, text: str) -> None:
        """Compute its digest."""
        self._content = text.encode()
        self.size = len(self._content)
        self.digest = hashlib.sha256(self._content).hexdigest()

    def opened(self) -> io.BytesIO:
        """Return a stream of the text."""
        return io.BytesIO(self._content)


class Bucket:
    """A bucket of an S3 store; its objects are as private as the bucket."""

    def __init__(self, wanted: dict) -> None:
        """Read the keys from the mounted Secret."""
        self._bucket = wanted["bucket"]
        self._region = wanted["region"]
        self._url = urllib.parse.urlsplit(wanted["endpoint"])
        self._identity = (STORE / "access-key-id").read_text(encoding="utf-8").strip()
        self._secret = (STORE / "secret-access-key").read_text(encoding="utf-8").strip()
        authority = STORE / "ca.crt"
        self._context = ssl.create_default_context(cafile=str(authority) if authority.exists() else None)

    def put(self, key: str, path: Path) -> None:
        """Send a file, a large one in parts."""
        size = path.stat().st_size
        if size <= PART_BYTES:
            self._ask("PUT", key, {}, Section(path, 0, size))
            return
        _tag, text = self._ask("POST", key, {"uploads": ""}, Text(""))
        upload = element(text, "UploadId")
        try:
            self._put_parts(key, path, size, upload)
        except BaseException:
            # otherwise the store keeps the parts
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._ask("DELETE", key, {"uploadId": upload}, Text(""))
            raise

    def _put_parts(self, key: str, path: Path, size: int, upload: str) -> None:
        step = max(PART_BYTES, -(-size // PARTS))
        parts = []
        for number, start in enumerate(range(0, size, step), start=1):
            query = {"partNumber": str(number), "uploadId": upload}
            tag, _text = self._ask("PUT", key, query, Section(path, start, min(step, size - start)))
            parts.append(f"<Part><PartNumber>{number}</PartNumber><ETag>{html.escape(tag)}</ETag></Part>")
        body = f"<CompleteMultipartUpload>{''.join(parts)}</CompleteMultipartUpload>"
        _tag, text = self._ask("POST", key, {"uploadId": upload}, Text(body))
        # the store begins its answer before it has joined the parts
        if "<Error>" in text:
            raise OSError(text[:300])

    def _ask(self, method: str, key: str, query: dict, body) -> tuple:
        """Return the ETag and the text of the answer; repeat the request if the store does not answer."""
        left = TRIES
        while True:
            left -= 1
            try:
                answer, text = self._request(method, key, query, body)
            except (OSError, http.client.HTTPException):
                if not left:
                    raise
            else:
                if answer.status < 300:
                    return answer.headers.get("ETag", ""), text
                if answer.status < 500 or not left:
                    raise OSError(f"{answer.status} {text[:300]}")
            time.sleep(PAUSE_S)

    def _request(self, method: str, key: str, query: dict, body) -> tuple:
        path = urllib.parse.quote(f"{self._url.path.rstrip('/')}/{self._bucket}/{key}", safe="/~")
        words = "&".join(f"{name}={urllib.parse.quote(value, safe='~')}" for name, value in sorted(query.items()))
        headers = {**self._signed(method, path, words, body.digest), "Content-Length": str(body.size)}
        connection = http.client.HTTPSConnection(self._url.netloc, timeout=60.0, context=self._context)
        with contextlib.closing(connection), body.opened() as stream:
            connection.request(method, f"{path}?{words}" if words else path, stream, headers)
            answer = connection.getresponse()
            return answer, answer.read().decode("utf-8", "replace")

    def _signed(self, method: str, path: str, query: str, digest: str) -> dict:
        """Return the headers of a request, with a signature of version 4."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        headers = {"host": self._url.netloc, "x-amz-content-sha256": digest, "x-amz-date": now}
        names = ";".join(headers)
        lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
        request = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{digest}"
        scope = f"{now[:8]}/{self._region}/s3/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        key = f"AWS4{self._secret}".encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        credential = f"AWS4-HMAC-SHA256 Credential={self._identity}/{scope}"
        return {**headers, "Authorization": f"{credential}, SignedHeaders={names}, Signature={signature}"}


def element(text: str, name: str) -> str:
    """Return the content of an element of an answer."""
    found = re.search(f"<{name}>([^<]+)</{name}>", text)
    if not found:
        raise OSError(f"the store answered without {name}: {text[:300]}")
    return html.unescape(found.group(1))


if __name__ == "__main__":
    sys.exit(main())
