"""The packages of all catalogs, as `packages/` describes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from perflab.cluster.api import Document
from perflab.files.documents import read_documents

# on a field of a definition: the version from which on it is there
SINCE = "x-lab-since"
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Package:
    """An operator as catalogs offer it.

    *channels* are the versions of each, oldest first, every one replacing the one before it; *csv* is a pattern with
    `{version}`; *requires* are ranges of versions of other packages.
    """

    name: str
    catalogs: tuple[str, ...]
    display_name: str
    provider: str
    default_channel: str
    channels: Mapping[str, tuple[str, ...]]
    csv: str
    install_modes: tuple[str, ...]
    deployments: tuple[Document, ...]
    crds: tuple[Document, ...]
    examples: tuple[Document, ...]
    requires: Mapping[str, str]

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of all channels, each once."""
        return tuple(dict.fromkeys(version for channel in self.channels.values() for version in channel))

    def csv_name(self, version: str) -> str:
        """The name of a version's ClusterServiceVersion."""
        return self.csv.format(version=version)

    def crds_of(self, version: str) -> tuple[Document, ...]:
        """The definitions that come with a version, without what only later ones have."""
        return tuple(_without_later(crd, _parts(version)) for crd in self.crds)


def images() -> Mapping[str, list[str]]:
    """Catalog → patterns of the images of CatalogSources that serve it."""
    [patterns] = read_documents(_FOLDER / "catalogs.yaml")
    return patterns


@cache
def packages() -> tuple[Package, ...]:
    """All packages of all catalogs."""
    paths = sorted((_FOLDER / "packages").glob("*.yaml"))
    return tuple(_package(entry) for path in paths for entries in read_documents(path) for entry in entries)


def _package(entry: Any) -> Package:
    return Package(
        name=entry["name"],
        catalogs=tuple(entry["catalogs"]),
        display_name=entry["display_name"],
        provider=entry["provider"],
        default_channel=entry["default_channel"],
        channels={name: tuple(versions) for name, versions in entry["channels"].items()},
        csv=entry["csv"],
        install_modes=tuple(entry["install_modes"]),
        deployments=tuple(entry["deployments"]),
        crds=tuple(read_documents(_FOLDER / "crds" / entry["crds"])) if "crds" in entry else (),
        examples=tuple(entry.get("examples") or ()),
        requires=entry.get("requires") or {},
    )


def _parts(version: str) -> tuple[int, ...]:
    """Its numbers, also those of ``4.18.0-202509100210``."""
    return tuple(map(int, re.findall(r"\d+", version)))


def _without_later(part: Any, version: tuple[int, ...]) -> Any:
    """*part* of a definition as it is in *version*: what says that it is there since a later one is not."""
    if isinstance(part, list):
        return [_without_later(item, version) for item in part if not _is_later(item, version)]
    if not isinstance(part, dict):
        return part
    kept = {key: value for key, value in part.items() if key != SINCE and not _is_later(value, version)}
    return {key: _without_later(value, version) for key, value in kept.items()}


def _is_later(part: Any, version: tuple[int, ...]) -> bool:
    return isinstance(part, dict) and SINCE in part and _parts(part[SINCE]) > version
