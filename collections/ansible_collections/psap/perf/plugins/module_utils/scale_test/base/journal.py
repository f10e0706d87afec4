"""JSON-lines files that grow during the test, and are readable after a kill -9."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError

# json.dumps would create an encoder for every row
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Journal:
    """Rows appended to one file, buffered between flushes."""

    def __init__(self, path: Path, texts: tuple[str, ...] | None = None) -> None:
        """Create *path*, without rows of an earlier recording.

        Args:
            texts: The only fields with text of other programs; other rows, which are many, are not searched for
                credentials, as that takes as long as their encoding. None searches every row.

        Raises:
            PerfError: If the file cannot be created.
        """
        self.path = path
        self._texts = texts
        self._rows: list[str] = []
        self._size = 0
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        except OSError as error:
            raise PerfError(f"cannot write {path}: {error.strerror}") from error

    def append(self, row: Mapping[str, Any]) -> None:
        """Buffer *row*, without credentials, for the next flush."""
        text = _encode(row)
        self._rows.append(hide(text) if self._texts and any(map(row.get, self._texts)) else text)

    def flush(self) -> None:
        """Write complete lines to the file.

        Raises:
            PerfError: If the disk is full or the file may not grow.
        """
        if not self._rows:
            return
        lines = "\n".join(self._rows) + "\n"
        # searching all rows together takes a third of the time
        text = (hide(lines) if self._texts is None else lines).encode()
        self._rows.clear()
        pending = memoryview(text)
        try:
            while pending:
                pending = pending[os.write(self._descriptor, pending) :]
            self._size += len(text)
        except OSError as error:
            # leave no incomplete row
            os.ftruncate(self._descriptor, self._size)
            raise PerfError(
                f"cannot write {self.path}: {error.strerror}; the recording is complete up to here"
            ) from error

    def close(self) -> None:
        """Flush and close; a second close does nothing."""
        if self._descriptor < 0:
            return
        try:
            self.flush()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1


class Follower:
    """Reads the complete lines of a journal; the incomplete line of a killed process is left out."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._rest = b""

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows since the last call."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as stream:
            stream.seek(self._read)
            data = stream.read()
        self._read += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]
