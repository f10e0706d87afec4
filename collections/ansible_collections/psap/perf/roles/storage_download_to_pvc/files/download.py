"""Download a file, or all files of a model or data set, into a mounted volume; verify and list their checksums.

It runs in an image with Python 3.9 and, for S3, the program aws. The request is in ``job.json``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

VOLUME = Path("/mnt/storage")
JOB = Path("/mnt/job/job.json")
CREDENTIALS = Path("/mnt/credentials/creds")
HUB = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
TRIES = 5
PAUSE_S = float(os.environ.get("DOWNLOAD_PAUSE_S", "5"))
CHUNK = 1 << 20
# a page of the hub for a model or data set; a longer path is an ordinary file
HUB_PAGE = re.compile(r"https://huggingface\.co/((?:datasets/)?[\w.-]+(?:/[\w.-]+)?)/?")


def main(job: Path = JOB, volume: Path = VOLUME, credentials: Path = CREDENTIALS) -> int:
    """Download; return 0, or 1 after printing an error."""
    wanted = json.loads(job.read_text(encoding="utf-8"))
    target = volume / wanted["storage_dir"].strip("/") / wanted["name"]
    if wanted["clean_first"] and target.exists():
        print(f"removing {target}", flush=True)
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        fetch(wanted["source"], target, credentials)
        files = [target] if target.is_file() else sorted(path for path in target.rglob("*") if path.is_file())
        if not files:
            raise FailedError(f"no files in {wanted['source']}")
        for path in files:
            print(f"{sum_of(path)}  {path.relative_to(volume)}", flush=True)
    except (FailedError, OSError) as error:
        print(f"Error: {error}", flush=True)
        return 1
    if wanted["open_to_all"]:
        open_to_all([target, *target.rglob("*")])
    return 0


class FailedError(Exception):
    """Raised if a source cannot be downloaded."""


def fetch(source: str, target: Path, credentials: Path) -> None:
    """Download *source* to *target*: a folder for the hub and S3, a file for any other address."""
    page = HUB_PAGE.fullmatch(source)
    if source.startswith("hf://") or page:
        from_hub(page[1] if page else source[len("hf://") :], target, token_of(credentials))
    elif source.startswith("s3://"):
        from_s3(source, target, credentials)
    else:
        from_address(source, target, None)


def from_hub(page: str, target: Path, token: str | None) -> None:
    """Download ``org/model``, ``org/model:revision`` or ``datasets/org/name``, and verify the hub's checksums."""
    name, _colon, revision = page.strip("/").partition(":")
    kind, path = ("datasets", name) if name.startswith("datasets/") else ("models", f"models/{name}")
    listing = f"{HUB}/api/{path}/revision/{revision or 'main'}?blobs=true"
    with opened(listing, token) as answer:
        files = json.load(answer)["siblings"]
    base = f"{HUB}/{name}/resolve/{revision or 'main'}"
    for number, file in enumerate(files, start=1):
        print(f"{kind} file {number} of {len(files)}: {file['rfilename']}", flush=True)
        wanted = (file.get("lfs") or {}).get("sha256")
        place = target / file["rfilename"]
        if not place.resolve().is_relative_to(target.resolve()):
            raise FailedError(f"the hub has a file that would go elsewhere: {file['rfilename']}")
        from_address(f"{base}/{urllib.parse.quote(file['rfilename'])}", place, token, wanted)


def from_s3(source: str, target: Path, credentials: Path) -> None:
    """Download a folder with the program aws."""
    if not shutil.which("aws"):
        raise FailedError("s3:// needs an image with the program aws")
    given = {"AWS_SHARED_CREDENTIALS_FILE": str(credentials)} if credentials.exists() else {}
    target.mkdir(parents=True, exist_ok=True)
    words = ["aws", "s3", "cp", "--recursive", "--only-show-errors", source, str(target)]
    done = subprocess.run(words, env={**os.environ, **given}, check=False)
    if done.returncode:
        raise FailedError(f"aws ended with {done.returncode}")


def from_address(address: str, target: Path, token: str | None, wanted: str | None = None) -> None:
    """Download one file with retries; keep an existing file whose checksum matches."""
    if wanted and target.exists() and sum_of(target) == wanted:
        print(f"{target.name} exists", flush=True)
        return
    for left in reversed(range(TRIES)):
        try:
            copy(address, target, token, wanted)
            return
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                raise FailedError(f"{address}: {error.code} {error.reason}") from error
            problem: object = f"{error.code} {error.reason}"
        except (OSError, BrokenError) as error:
            problem = error
        if not left:
            raise FailedError(f"{address}: {problem}, {TRIES} times")
        print(f"{address}: {problem}; again in {PAUSE_S:g} s", flush=True)
        time.sleep(PAUSE_S)


class BrokenError(Exception):
    """Raised if a file did not arrive complete."""


def copy(address: str, target: Path, token: str | None, wanted: str | None) -> None:
    """Download to a temporary name, verify, and rename."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.part")
    digest = hashlib.sha256()
    with opened(address, token) as answer, unfinished.open("wb") as stream:
        length = answer.headers.get("Content-Length")
        for chunk in iter(lambda: answer.read(CHUNK), b""):
            digest.update(chunk)
            stream.write(chunk)
    if length is not None and unfinished.stat().st_size != int(length):
        raise BrokenError(f"{unfinished.stat().st_size} of {length} bytes received")
    if wanted and digest.hexdigest() != wanted:
        raise BrokenError(f"the checksum is {digest.hexdigest()}, not {wanted}")
    unfinished.rename(target)


def opened(address: str, token: str | None):
    """Return the response. The token is not sent to the target of a redirect."""
    request = urllib.request.Request(address, headers={"User-Agent": "psap.perf"})
    if token:
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        return urllib.request.urlopen(request, timeout=60)
    except ValueError as error:
        raise FailedError(f"invalid address {address}: {error}") from error


def token_of(credentials: Path) -> str | None:
    """Return the token of a file that contains only the token or git's ``https://user:token@host``."""
    if not credentials.exists():
        return None
    text = credentials.read_text(encoding="utf-8").strip()
    return urllib.parse.urlsplit(text).password if text.startswith("https://") else text


def sum_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for chunk in iter(lambda: stream.read(CHUNK), b""):
            digest.update(chunk)
    return digest.hexdigest()


def open_to_all(paths: list) -> None:
    """Make files and folders of root readable for every user."""
    for path in paths:
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


if __name__ == "__main__":
    sys.exit(main())
