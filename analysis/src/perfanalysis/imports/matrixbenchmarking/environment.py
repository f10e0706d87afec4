"""What a test directory tells of the cluster it ran on: files that several of TOPSAIL's commands leave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.files.documents import mapping, text_or_none
from perfanalysis.imports.matrixbenchmarking.values import read_yaml

LARGEST_LINE = 4096


@dataclass(frozen=True)
class Environment:
    """Versions and names of a test; None where its directory does not tell."""

    uuid: str | None = None
    openshift: str | None = None
    rhoai: str | None = None
    presets: tuple[str, ...] = ()
    nodes: Path | None = None

    @property
    def versions(self) -> dict[str, str]:
        """The versions that are known."""
        named = {"openshift": self.openshift, "rhoai": self.rhoai}
        return {name: version for name, version in named.items() if version is not None}


class Environments:
    """Reads the environment of each test; a configuration that many tests share is read once."""

    def __init__(self) -> None:
        self._read: dict[bytes, Any] = {}

    def of(self, files: Iterable[Path]) -> Environment:
        """The environment by the files of a test; of several of one name, the first by path counts."""
        found: dict[str, Path] = {}
        for path in files:
            found.setdefault("ocp_version" if path.name.startswith("ocp_version.y") else path.name, path)
        config = mapping(self._yaml(found.get("config.yaml")))
        catalog = mapping(mapping(config.get("rhods")).get("catalog"))
        names = mapping(config.get("ci_presets")).get("names")
        version = mapping(self._yaml(found.get("ocp_version"))).get("openshiftVersion")
        return Environment(
            uuid=_line(found.get(".uuid")),
            openshift=text_or_none(version),
            rhoai=_composed(found, text_or_none(catalog.get("version_name"))),
            presets=tuple(str(name) for name in names) if isinstance(names, list) else (),
            nodes=found.get("nodes.json"),
        )

    def _yaml(self, path: Path | None) -> Any:
        if path is None:
            return None
        try:
            content = path.read_bytes()
            if content not in self._read:
                self._read[content] = read_yaml(path)
        except (OSError, ValueError):
            return None
        return self._read[content]


def _composed(found: dict[str, Path], name: str | None) -> str | None:
    """The version, with the name of its catalog and the day it was made: 2.13.0-rc1+2026-01-01."""
    version, created = _line(found.get("rhods.version")), _line(found.get("rhods.createdAt"))
    if version is None:
        return None
    return version + (f"-{name}" if name else "") + (f"+{created[:10]}" if created else "")


def _line(path: Path | None) -> str | None:
    """The first line of a file; None when there is none."""
    if path is None:
        return None
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.readline(LARGEST_LINE).strip() or None
    except OSError:
        return None
