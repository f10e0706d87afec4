"""A recording that was found in a test of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from perfanalysis.files.findings import Finding


@dataclass(frozen=True)
class Recording:
    """What a directory of a test recorded: files to copy, or their contents. Times are seconds since the epoch."""

    name: str
    files: Mapping[str, Path | bytes]
    started_s: float | None
    ended_s: float | None
    findings: tuple[Finding, ...] = ()
    error: str | None = None
    """Why what it recorded failed; None when it did not."""


def present(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Those of the files below a directory that are there, by their names."""
    return {name: folder / name for name in names if (folder / name).is_file()}
