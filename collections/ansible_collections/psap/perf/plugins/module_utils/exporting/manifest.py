"""The manifest of an export, which is written last: where it is, the export is whole."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds, utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.documents import parse_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError

SCHEMA = "psap.perf/export/1"
FILE = "manifest.json"
INDEX = "index.html"
RETENTION_TAG = "psap-perf-retention"


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file of an export; ``sha256`` in hexadecimal digits."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an export has.

    :param name: of what was exported: the ID of a run, or of plots.
    :param expires: from when on it may be deleted; None for never.
    """

    name: str
    flow: str
    status: str
    exported: str
    expires: str | None
    files: tuple[ExportedFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    def document(self) -> dict[str, Any]:
        """As it is written."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "flow": self.flow,
            "status": self.status,
            "exported": self.exported,
            "expires": self.expires,
            "size": self.size,
            "files": [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in self.files],
        }

    def content(self) -> bytes:
        """The bytes of the file."""
        return (json.dumps(self.document(), indent=1, ensure_ascii=False) + "\n").encode()


def parse_manifest(content: bytes, where: str) -> Manifest:
    """The manifest that these bytes are.

    :raises DataQualityError: they are none, or name a file outside of the export.
    """
    try:
        document: Mapping[str, Any] = parse_json(content)
        if document["schema"] != SCHEMA:
            raise DataQualityError(
                f"{where} has the schema {document['schema']!r}, not {SCHEMA}: use a newer psap.perf"
            )
        files = tuple(
            ExportedFile(_safe(each["path"]), int(each["size"]), str(each["sha256"])) for each in document["files"]
        )
        names = (str(_safe(document["name"])), str(document.get("flow") or ""), str(document.get("status") or ""))
        return Manifest(*names, str(document["exported"]), document.get("expires"), files)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataQualityError(f"{where} is not a manifest of an export: {type(error).__name__} {error}") from error


def _safe(path: Any) -> str:
    """A path that stays below the export."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
        raise ValueError(f"{path!r} is no path below the export")
    return str(path)


def expiry(retention: str, now: datetime.datetime) -> str | None:
    """When something that is kept for *retention* (``90d``) expires; None for an empty one.

    :raises UsageError: it is not a duration.
    """
    return utc_text(now + datetime.timedelta(seconds=seconds(retention))) if retention else None
