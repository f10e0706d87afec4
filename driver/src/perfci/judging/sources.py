"""The places of a history: a folder, a bucket of S3, OpenSearch. Documents are named after their content.

Two jobs that push concurrently therefore write different documents, and a document that is pushed again exists already.
"""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.exporting.places import SCHEME, Access, Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import CONNECTIONS, ObjectOptions, Store
from perfanalysis.files.documents import Document, write_bytes
from perfanalysis.files.findings import Finding
from perfanalysis.results.history.folder import NAME, History, add, canonical, content_name, history_of, load
from perfanalysis.results.opensearch.connection import Server, read_credentials
from perfanalysis.results.opensearch.indices import NoHistoryError, pull, push
from perfanalysis.results.scrubbing import read_rules, scrub

from perfci.exporting.runs import value_of
from perfci.judging.settings import HistorySettings


class Source(Protocol):
    """A history."""

    def shown(self, document: Document) -> Document:
        """Return a document as the history stores it."""

    def pull(self, flow: str) -> History:
        """Return the runs of a flow; empty if there is no history yet."""

    def push(self, document: Document) -> bool:
        """Store a document and return whether it is new."""


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder of this machine; its documents are not scrubbed."""

    folder: Path

    def shown(self, document: Document) -> Document:
        """Return the document unchanged."""
        return document

    def pull(self, flow: str) -> History:
        """Return the runs of a flow."""
        if not self.folder.exists():
            return History((), ())
        found = load(self.folder)
        return History(tuple(each for each in found.documents if each.get("flow") == flow), found.findings)

    def push(self, document: Document) -> bool:
        """Store a document and return whether it is new."""
        return add(self.folder, document)[1]


@dataclass(frozen=True, slots=True)
class OpenSearchSource:
    """The indices of a server."""

    server: Server

    def shown(self, document: Document) -> Document:
        """Return the document as others may read it."""
        return scrub(document, read_rules(None))

    def pull(self, flow: str) -> History:
        """Return the runs of a flow."""
        found, findings = list[tuple[str, Document]](), list[Finding]()
        try:
            for each in pull(self.server, flow):
                if isinstance(each, Finding):
                    findings.append(each)
                else:
                    found.append((content_name(canonical(each)), each))
        except NoHistoryError:
            return History((), ())
        return history_of(found, findings)

    def push(self, document: Document) -> bool:
        """Store a document and return whether it is new."""
        pushed = push(self.server, [document])
        error = pushed.error()
        if error is not None:
            raise error
        return bool(pushed.new["runs"])


@dataclass(frozen=True, slots=True)
class StoreSource:
    """A folder of a bucket, with a folder for each flow. Pulled documents are cached, because they never change."""

    access: Access
    place: Place
    cache: Path

    def shown(self, document: Document) -> Document:
        """Return the document as others may read it."""
        return scrub(document, read_rules(None))

    def pull(self, flow: str) -> History:
        """Return the runs of a flow."""
        folder = self.cache / hashlib.sha256(f"{self.access.endpoint} {self.place} {flow}".encode()).hexdigest()[:16]
        with Store(self.access, self.place.bucket) as store:
            names = {key.rpartition("/")[2]: key for key in store.sizes(self._key(flow, ""))}
            missing = [name for name in names if NAME.fullmatch(name) and not (folder / name).is_file()]
            with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="history") as pool:
                fetched = dict(
                    zip(missing, pool.map(lambda name: store.read(names[name]) or b"", missing), strict=True)
                )
        damaged = [name for name, content in fetched.items() if content_name(content) != name]
        for name in fetched.keys() - set(damaged):
            write_bytes(folder / name, fetched[name])
        found = load(folder, names) if folder.is_dir() else History((), ())
        left_out = (Finding("warning", name, "left out: the store has other data under this name") for name in damaged)
        return History(found.documents, (*found.findings, *left_out))

    def flows(self) -> list[str]:
        """Return the flows that have runs."""
        with Store(self.access, self.place.bucket) as store:
            paths = [key.rsplit("/", 2) for key in store.sizes(self.place.key(""))]
        return sorted({flow for *_, flow, name in paths if NAME.fullmatch(name)})

    def push(self, document: Document) -> bool:
        """Store a document and return whether it is new."""
        content = canonical(document)
        key = self._key(str(document.get("flow")), content_name(content))
        with Store(self.access, self.place.bucket) as store:
            if key in store.sizes(key):
                return False
            store.put(key, content, ObjectOptions())
        return True

    def _key(self, flow: str, name: str) -> str:
        return self.place.key(f"{flow}/{name}")


def source_of(settings: HistorySettings) -> Source:
    """Return the history that the settings name.

    Raises:
        UsageError: A setting is invalid, or a secret is missing.
        PerfError: The same, for a place in S3.
    """
    source = settings.source
    if source.startswith(f"{SCHEME}://"):
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "psap-perf" / "history"
        return StoreSource(settings.store.access(value_of), Place.parse(source), cache)
    if source.startswith(("http://", "https://")):
        known = (settings.user, value_of(settings.password)) if settings.user else read_credentials(None)
        authority = Path(settings.authority).expanduser() if settings.authority else None
        return OpenSearchSource(Server(source, settings.prefix, authority, credentials=known))
    return FolderSource(Path(source).expanduser().absolute())
