"""The pipelines and experiments that were created by the API, in a file of the lab's folder."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from perflab.cluster.api import Document
from perflab.files import documents
from perflab.processes.state import now

PIPELINES, EXPERIMENTS = "pipelines", "experiments"


class Records:
    """The records of all applications, by the kind and the place (namespace and application)."""

    def __init__(self, path: Path) -> None:
        """Read *path*, which need not exist."""
        self._path = path
        self._known: dict[str, Any] = documents.read_json(path) or {}

    def all(self, kind: str, place: tuple[str, str]) -> list[Document]:
        """Return the records of an application, the oldest first."""
        found: list[Document] = self._known.get("/".join((*place, kind)), [])
        return found

    def find(self, kind: str, place: tuple[str, str], identity: str) -> Document | None:
        """Return the record with that identity, or None."""
        return next((each for each in self.all(kind, place) if each["id"] == identity), None)

    def add(self, kind: str, place: tuple[str, str], record: Document) -> Document:
        """Add and return a record, with its identity and time."""
        added = {"id": str(uuid.uuid4()), "created_at": now(), **record}
        self._known.setdefault("/".join((*place, kind)), []).append(added)
        self._write()
        return added

    def remove(self, kind: str, place: tuple[str, str], identity: str) -> None:
        """Remove a record; it need not exist."""
        present = self.all(kind, place)
        present[:] = [each for each in present if each["id"] != identity]
        self._write()

    def _write(self) -> None:
        documents.write_json(self._path, self._known)
