"""Fetching an export: only a whole one, each file verified by its SHA-256, what is there already not again."""

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
    """Where an export is."""

    def read(self, path: str) -> bytes | None:
        """The content of a small file of the export; None where there is none."""

    def get(self, path: str, target: Path) -> str | None:
        """Write a file of the export to *target*; returns its SHA-256, None where there is no such file."""

    def holds_more(self) -> bool:
        """Whether there is anything at all, as far as that can be known."""


@dataclass(frozen=True, slots=True)
class StoreSource:
    """A place in a store."""

    store: Store
    place: Place

    def read(self, path: str) -> bytes | None:
        """The content of a small file of the export; None where there is none."""
        return self.store.read(self.place.key(path))

    def get(self, path: str, target: Path) -> str | None:
        """Write a file of the export to *target*; returns its SHA-256, None where there is no such file."""
        return self.store.get(self.place.key(path), target)

    def holds_more(self) -> bool:
        """Whether anything is there."""
        return bool(self.store.sizes(self.place.key("")))

    def __str__(self) -> str:
        return str(self.place)


@dataclass(frozen=True, slots=True)
class Fetched:
    """An export that is here now.

    :param fetched: how many files came; the others were here.
    """

    directory: Path
    manifest: Manifest
    fetched: int


def read_manifest(source: Source) -> Manifest:
    """The manifest of an export.

    :raises UsageError: nothing is there.
    :raises DataQualityError: it is no whole export.
    """
    content = source.read(FILE)
    if content is not None:
        return parse_manifest(content, f"{source}/{FILE}")
    if source.holds_more():
        raise DataQualityError(
            f"the export {source} is incomplete: {FILE} is missing; export it again (perfdrv export RUN)"
        )
    raise UsageError(f"no export at {source}: {FILE} is missing")


def fetch(source: Source, root: Path, check: Callable[[], None] = lambda: None) -> Fetched:
    """Bring an export to ``root/NAME``, which is then exactly that, and verify every file.

    :raises DataQualityError: it is no whole export, or a file of it is damaged or missing.
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
    return Fetched(directory, manifest, came)


def _ensure(source: Source, directory: Path, file: ExportedFile) -> bool:
    """See to it that a file is here; whether it had to be fetched."""
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
    """Where what is fetched from a source is kept: exports of the same name from elsewhere are others."""
    return cache / hashlib.sha256(f"{endpoint} {source}".encode()).hexdigest()[:16]
