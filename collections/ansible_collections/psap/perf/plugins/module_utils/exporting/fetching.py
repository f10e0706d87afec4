"""Fetch a complete export; verify each file by its SHA-256, and skip files that exist locally."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing, remove_partials
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import (
    FILE,
    ExportedFile,
    Manifest,
    parse_manifest,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import CONNECTIONS, Store, digest_of


class Source(Protocol):
    """The source of an export."""

    def read(self, path: str) -> bytes | None:
        """Return the content of a small file; None if it does not exist."""

    def get(self, path: str, target: Path) -> str | None:
        """Write a file to *target*; return its SHA-256, None if the file does not exist."""

    def holds_more(self) -> bool:
        """Return whether the source has any file, as far as that can be determined."""


@dataclass(frozen=True, slots=True)
class StoreSource:
    """A place in a store."""

    store: Store
    place: Place

    def read(self, path: str) -> bytes | None:
        """Return the content of a small file; None if it does not exist."""
        return self.store.read(self.place.key(path))

    def get(self, path: str, target: Path) -> str | None:
        """Write a file to *target*; return its SHA-256, None if the file does not exist."""
        return self.store.get(self.place.key(path), target)

    def holds_more(self) -> bool:
        """Return whether the place has any file."""
        return bool(self.store.sizes(self.place.key("")))

    def __str__(self) -> str:
        return str(self.place)


@dataclass(frozen=True, slots=True)
class FetchResult:
    """An export that was fetched.

    Attributes:
        fetched: How many files were fetched; the others existed locally.
    """

    directory: Path
    manifest: Manifest
    fetched: int


def read_manifest(source: Source) -> Manifest:
    """Return the manifest of an export.

    Raises:
        UsageError: If the source has no export.
        DataQualityError: If the export is incomplete.
    """
    content = source.read(FILE)
    if content is not None:
        return parse_manifest(content, f"{source}/{FILE}")
    if source.holds_more():
        raise DataQualityError(
            f"the export {source} is incomplete: {FILE} is missing; export it again (perfdrv export RUN)"
        )
    raise UsageError(f"no export at {source}: {FILE} is missing")


def fetch(source: Source, root: Path, check: Callable[[], None] = lambda: None) -> FetchResult:
    """Make ``root/NAME`` a copy of an export, and verify every file.

    Raises:
        DataQualityError: If the export is incomplete, or a file of it is damaged.
    """
    manifest = read_manifest(source)
    directory = root / manifest.name
    directory.mkdir(parents=True, exist_ok=True)
    remove_partials(directory)
    with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="fetch") as pool:
        try:
            came = 0
            for done in pool.map(lambda file: _ensure(source, directory, file), manifest.files):
                check()
                came += done
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return FetchResult(directory, manifest, came)


def _ensure(source: Source, directory: Path, file: ExportedFile) -> bool:
    """Fetch a file unless it exists locally; return whether it was fetched."""
    target = directory / file.path
    if _is(target, file):
        return False
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with completing(target) as partial:
            digest = source.get(file.path, partial)
            if digest is None:
                raise DataQualityError(f"{source}: {file.path} of the manifest is missing; export it again")
            if digest != file.sha256:
                raise DataQualityError(
                    f"{file.path} of {source} is damaged: its SHA-256 is {digest[:12]}…, and was {file.sha256[:12]}… "
                    "when it was exported; export it again"
                )
    except OSError as error:
        raise PerfError(f"cannot write {target}: {error.strerror}; free space or choose another folder") from error
    return True


def _is(path: Path, file: ExportedFile) -> bool:
    try:
        with path.open("rb") as stream:
            return path.stat().st_size == file.size and digest_of(stream, file.size) == file.sha256
    except OSError:
        return False


def cache_folder(cache: Path, source: Source, endpoint: str = "") -> Path:
    """Return the cache's folder for a source, so that exports of the same name do not mix."""
    return cache / hashlib.sha256(f"{endpoint} {source}".encode()).hexdigest()[:16]
