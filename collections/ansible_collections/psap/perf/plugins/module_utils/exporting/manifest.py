"""The manifest of an export, which is written last: if it exists, the export is complete."""

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
    """A file of an export; ``sha256`` is in hexadecimal digits."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of an export.

    Attributes:
        name: ID of the exported run or plots.
        expires: Time from which it may be deleted; None for never.
    """

    name: str
    flow: str
    status: str
    exported: str
    expires: str | None
    files: tuple[ExportedFile, ...]

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
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
        """Return the content of the manifest's file."""
        return (json.dumps(self.document(), indent=1, ensure_ascii=False) + "\n").encode()


def parse_manifest(content: bytes, where: str) -> Manifest:
    """Return the manifest in *content*.

    Raises:
        DataQualityError: If it is not a manifest, or lists a file outside of the export.
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
    """Return *path* if it is below the export."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
        raise ValueError(f"{path!r} is not a path below the export")
    return str(path)


def expiry(retention: str, now: datetime.datetime) -> str | None:
    """Return the time *retention* (``90d``) after *now*; None for an empty retention.

    Raises:
        UsageError: If it is not a duration.
    """
    return utc_text(now + datetime.timedelta(seconds=seconds(retention))) if retention else None
