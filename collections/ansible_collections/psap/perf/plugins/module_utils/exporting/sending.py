"""Sending a directory to a store: what is there already is not sent again, and the manifest comes last."""

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
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import CONNECTIONS, Look, Store, digest_of
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import NUMBER_LOCK_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    LOCK_FILE,
    REACHED_FILE,
    RESERVE_FILE,
    STOP_FILE,
)

# of those who work on the run
_OWN = frozenset({LOCK_FILE, REACHED_FILE, RESERVE_FILE, STOP_FILE})
PART_BYTES = 16 << 20
# a store takes 10,000 parts of an object
_MOST_PARTS = 9000
_POLL_S = 0.5
Tell = Callable[[int, int, int], None]
"""What hears how far it is: files that are there, files in all, bytes sent."""


def untold(_there: int, _of: int, _bytes: int) -> None:
    """Say nothing of how far it is."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How something is exported.

    :param retention: a duration after which it may be deleted; empty for never.
    :param part_bytes: files of more bytes are sent in parts of so many.
    """

    look: Look
    retention: str = ""
    part_bytes: int = PART_BYTES


@dataclass(frozen=True, slots=True)
class Exported:
    """What came of it.

    :param sent: how many files were sent; the others were there.
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
    tell: Tell = untold,
    whole: bool = True,
) -> Exported:
    """Make *place* a copy of *directory*, with an index page, and a manifest when all of it is there.

    Files that an earlier export sent and that are gone since are deleted; those of others are not.

    :param instead: JSON documents that the export has in place of files, by their paths.
    :param check: called twice a second; what it raises ends the export, which a later one goes on with.
    :param whole: False where the directory is a part of what an earlier export sent, whose other files then stay.
    :raises PerfError: the store cannot be reached, refuses, or damages what it gets; or it has no whole export of which
        the directory could be a part.
    """
    now = datetime.datetime.now(datetime.UTC)
    sending = _Sending(directory, store, place, terms, instead, whole)
    if not whole and sending.former is None:
        raise PerfError(f"{directory.name} is here in part, and {place} has no export of the whole: export that first")
    files = sending.send_all(sorted(files_of(directory)), check, tell)
    if not whole:
        files = sending.with_former(files)
    page = index_page(subject, files).encode()
    known = [*files, ExportedFile(INDEX, len(page), hashlib.sha256(page).hexdigest())]
    manifest = Manifest(
        subject.name, subject.flow, subject.status, utc_text(now), expiry(terms.retention, now), tuple(known)
    )
    if sending.is_former(manifest):
        return Exported(place, sending.former or manifest, 0, 0)
    check()
    sending.withdraw()
    store.put(place.key(INDEX), page, terms.look)
    sending.delete_gone(manifest)
    store.put(place.key(FILE), manifest.content(), terms.look)
    return Exported(place, manifest, sending.sent, sending.sent_bytes)


def files_of(directory: Path) -> Iterator[str]:
    """Paths of the files below a directory that are exported: not what is being written, nor links to elsewhere."""
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
        # the manifest alone says what a part lacks: it stays until the next one replaces it
        self._withdrawn = self.former is None or not whole
        self.sent = 0
        self.sent_bytes = 0

    def send_all(self, paths: list[str], check: Callable[[], None], tell: Tell) -> list[ExportedFile]:
        """Send files, several at once; those that vanish meanwhile are left out."""
        found: list[ExportedFile] = []
        with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="export") as pool:
            waiting = {pool.submit(self._ensure, path) for path in paths}
            try:
                while waiting:
                    done, waiting = wait(waiting, timeout=_POLL_S, return_when=FIRST_COMPLETED)
                    found += [file for each in done if (file := each.result()) is not None]
                    check()
                    tell(len(found), len(paths), self.sent_bytes)
            except BaseException:
                # what is on its way comes to its end, and nothing else begins
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return sorted(found, key=lambda file: file.path)

    def with_former(self, files: list[ExportedFile]) -> list[ExportedFile]:
        """These files, and those of the former export that the store still has."""
        mine = {INDEX, *(file.path for file in files)}
        others = (file for path, file in self._known.items() if path not in mine)
        return sorted([*files, *(file for file in others if self._has(file))], key=lambda file: file.path)

    def _ensure(self, path: str) -> ExportedFile | None:
        """See to it that the store has a file."""
        try:
            with (self._directory / path).open("rb") as stream:
                size = os.fstat(stream.fileno()).st_size
                if size > self._terms.part_bytes and path not in self._instead:
                    return self._ensure_large(path, stream, size)
                # of a file that grows no more than it had: what is sent is what was hashed
                return self._ensure_small(path, self._instead.get(path) or stream.read(size))
        except FileNotFoundError:
            return None

    def _ensure_small(self, path: str, content: bytes) -> ExportedFile:
        file = ExportedFile(path, len(content), hashlib.sha256(content).hexdigest())
        if not self._has(file):
            self.withdraw()
            self._store.put(self._place.key(path), content, self._terms.look)
            self._count(file)
        return file

    def _ensure_large(self, path: str, stream: BinaryIO, size: int) -> ExportedFile:
        file = ExportedFile(path, size, digest_of(stream, size))
        if not self._has(file):
            self.withdraw()
            part_bytes = max(self._terms.part_bytes, -(-size // _MOST_PARTS))
            self._store.put_large(self._place.key(path), stream, file, part_bytes, self._terms.look)
            self._count(file)
        return file

    def _has(self, file: ExportedFile) -> bool:
        """Whether the store has it as it is."""
        key = self._place.key(file.path)
        if self._there.get(key) != file.size:
            return False
        return self._known.get(file.path) == file or self._store.digest(key) == file.sha256

    def _count(self, file: ExportedFile) -> None:
        with self._lock:
            self.sent += 1
            self.sent_bytes += file.size

    def withdraw(self) -> None:
        """Before anything changes: an export that changes is not whole."""
        with self._lock:
            if not self._withdrawn:
                self._store.delete([self._place.key(FILE)])
                self._withdrawn = True

    def is_former(self, manifest: Manifest) -> bool:
        """Whether the store has exactly this already, and says so."""
        former = self.former
        if former is None or self._withdrawn:
            return False
        mine, theirs = ((each.files, each.flow, each.status, each.expires is None) for each in (manifest, former))
        return mine == theirs and all(self._has(file) for file in manifest.files if file.path == INDEX)

    def delete_gone(self, manifest: Manifest) -> None:
        """Delete what the former export sent and this one has not, and what was half sent."""
        kept = {file.path for file in manifest.files}
        gone = [self._place.key(path) for path in self._known if path not in kept]
        self._store.delete(key for key in gone if key in self._there)
        self._store.end_uploads(self._place.key(""))
