"""Send a directory to a store: existing files are not sent again, and the manifest is sent last."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.documents import json_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.exporting.index_page import Subject, index_page
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import (
    FILE,
    INDEX,
    ExportedFile,
    Manifest,
    expiry,
    parse_manifest,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import (
    CONNECTIONS,
    ObjectOptions,
    Store,
    digest_of,
)
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import NUMBER_LOCK_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    LOCK_FILE,
    REACHED_FILE,
    RESERVE_FILE,
    STOP_FILE,
)

# files of the processes that work on the run
_OWN = frozenset({LOCK_FILE, REACHED_FILE, RESERVE_FILE, STOP_FILE})
PART_BYTES = 16 << 20
# a store accepts 10,000 parts of an object
_MOST_PARTS = 9000
_POLL_S = 0.5
Progress = Callable[[int, int, int], None]
"""Called with the files that are in the store, all files, and the bytes sent."""


def no_progress(_there: int, _of: int, _bytes: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The options of an export.

    Attributes:
        retention: Duration after which it may be deleted; empty for never.
        part_bytes: Size of the parts in which larger files are sent.
    """

    options: ObjectOptions
    retention: str = ""
    part_bytes: int = PART_BYTES


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The result of an export.

    Attributes:
        sent: How many files were sent; the others existed.
    """

    place: Place
    manifest: Manifest
    sent: int
    sent_bytes: int


def export_directory(
    directory: Path,
    subject: Subject,
    store: Store,
    place: Place,
    terms: Terms,
    instead: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    check: Callable[[], None] = lambda: None,
    progress: Progress = no_progress,
    whole: bool = True,
) -> ExportResult:
    """Make *place* a copy of *directory*, with an index page and, when it is complete, a manifest.

    Files that an earlier export sent and that no longer exist are deleted; other files are kept.

    Args:
        instead: JSON documents that replace files in the export, by their paths.
        check: Called twice a second; an exception ends the export, which a later one continues.
        whole: False if the directory is a part of an earlier export, whose other files are then kept.

    Raises:
        PerfError: If the store cannot be reached, refuses, or damages data; or it has no complete export of which the
            directory could be a part.
    """
    now = datetime.datetime.now(datetime.UTC)
    sending = _Sending(directory, store, place, terms, instead, whole)
    if not whole and sending.former is None:
        raise PerfError(
            f"{directory.name} contains only a part, and {place} has no complete export; export the complete run first"
        )
    files = sending.send_all(sorted(files_of(directory)), check, progress)
    if not whole:
        files = sending.with_former(files)
    page = index_page(subject, files).encode()
    known = [*files, ExportedFile(INDEX, len(page), hashlib.sha256(page).hexdigest())]
    manifest = Manifest(
        subject.name, subject.flow, subject.status, utc_text(now), expiry(terms.retention, now), tuple(known)
    )
    if sending.is_former(manifest):
        return ExportResult(place, sending.former or manifest, 0, 0)
    check()
    sending.withdraw()
    store.put(place.key(INDEX), page, terms.options)
    sending.delete_gone(manifest)
    store.put(place.key(FILE), manifest.content(), terms.options)
    return ExportResult(place, manifest, sending.sent, sending.sent_bytes)


def files_of(directory: Path) -> Iterator[str]:
    """Yield the paths of the files to export, without partial files and links that leave the directory."""
    root = directory.resolve()
    for folder, _folders, names in os.walk(directory):
        for name in names:
            path = Path(folder, name)
            if name == NUMBER_LOCK_FILE or (name.endswith(".partial") and name.startswith(".")):
                continue
            relative = path.relative_to(directory).as_posix()
            if relative in (*_OWN, FILE, INDEX):
                continue
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISREG(path.stat().st_mode) and path.resolve().is_relative_to(root):
                    yield relative


class _Sending:
    """The state of one export."""

    def __init__(
        self,
        directory: Path,
        store: Store,
        place: Place,
        terms: Terms,
        instead: Mapping[str, Mapping[str, Any]],
        whole: bool,
    ) -> None:
        self._directory = directory
        self._instead = {path: json_text(document).encode() for path, document in instead.items()}
        self._store = store
        self._place = place
        self._terms = terms
        self._lock = threading.Lock()
        self._there = store.sizes(f"{place.prefix}/" if place.prefix else "")
        content = store.read(place.key(FILE))
        self.former = parse_manifest(content, place.key(FILE)) if content else None
        self._known = {file.path: file for file in self.former.files} if self.former else {}
        # only the manifest lists the files that a part does not have: keep it until the next one replaces it
        self._withdrawn = self.former is None or not whole
        self.sent = 0
        self.sent_bytes = 0

    def send_all(self, paths: list[str], check: Callable[[], None], progress: Progress) -> list[ExportedFile]:
        """Send files concurrently, without those that are deleted meanwhile."""
        found: list[ExportedFile] = []
        with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="export") as pool:
            waiting = {pool.submit(self._ensure, path) for path in paths}
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=_POLL_S, return_when=FIRST_COMPLETED)
                    found += [file for each in done if (file := each.result()) is not None]
                    check()
                    progress(len(found), len(paths), self.sent_bytes)
            except BaseException:
                # finish started files, and start no others
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return sorted(found, key=lambda file: file.path)

    def with_former(self, files: list[ExportedFile]) -> list[ExportedFile]:
        """Return these files, and those of the former export that the store still has."""
        mine = {INDEX, *(file.path for file in files)}
        others = (file for path, file in self._known.items() if path not in mine)
        return sorted([*files, *(file for file in others if self._has(file))], key=lambda file: file.path)

    def _ensure(self, path: str) -> ExportedFile | None:
        """Send a file unless the store has it; return None if the file was deleted."""
        try:
            with (self._directory / path).open("rb") as stream:
                size = os.fstat(stream.fileno()).st_size
                if size > self._terms.part_bytes and path not in self._instead:
                    return self._ensure_large(path, stream, size)
                # if the file grows, only its first *size* bytes: they are the ones that were hashed
                return self._ensure_small(path, self._instead.get(path) or stream.read(size))
        except FileNotFoundError:
            return None

    def _ensure_small(self, path: str, content: bytes) -> ExportedFile:
        file = ExportedFile(path, len(content), hashlib.sha256(content).hexdigest())
        if not self._has(file):
            self.withdraw()
            self._store.put(self._place.key(path), content, self._terms.options)
            self._count(file)
        return file

    def _ensure_large(self, path: str, stream: BinaryIO, size: int) -> ExportedFile:
        file = ExportedFile(path, size, digest_of(stream, size))
        if not self._has(file):
            self.withdraw()
            part_bytes = max(self._terms.part_bytes, -(-size // _MOST_PARTS))
            self._store.put_large(self._place.key(path), stream, file, part_bytes, self._terms.options)
            self._count(file)
        return file

    def _has(self, file: ExportedFile) -> bool:
        """Return whether the store has this content."""
        key = self._place.key(file.path)
        if self._there.get(key) != file.size:
            return False
        return self._known.get(file.path) == file or self._store.digest(key) == file.sha256

    def _count(self, file: ExportedFile) -> None:
        with self._lock:
            self.sent += 1
            self.sent_bytes += file.size

    def withdraw(self) -> None:
        """Delete the manifest before the first change: a changing export is not complete."""
        with self._lock:
            if not self._withdrawn:
                self._store.delete([self._place.key(FILE)])
                self._withdrawn = True

    def is_former(self, manifest: Manifest) -> bool:
        """Return whether the store already has exactly this export, with its manifest."""
        former = self.former
        if former is None or self._withdrawn:
            return False
        mine, theirs = ((each.files, each.flow, each.status, each.expires is None) for each in (manifest, former))
        return mine == theirs and all(self._has(file) for file in manifest.files if file.path == INDEX)

    def delete_gone(self, manifest: Manifest) -> None:
        """Delete the files of the former export that this one does not have, and incomplete uploads."""
        kept = {file.path for file in manifest.files}
        gone = [self._place.key(path) for path in self._known if path not in kept]
        self._store.delete(key for key in gone if key in self._there)
        self._store.end_uploads(self._place.key(""))
