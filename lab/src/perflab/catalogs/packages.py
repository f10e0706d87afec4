"""The packages of all catalogs, declared in `packages/`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from perflab.cluster.api import Document
from perflab.files.documents import read_documents
from perflab.profiles import CRDS

# keys of a part of a definition: the first version that has it, and the first one that no longer has it
SINCE, UNTIL = "x-lab-since", "x-lab-until"
# replaces a part: alternatives, of which a version has one
ONE_OF = "x-lab-one-of"
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Package:
    """An operator as a package of catalogs.

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
        """Return the versions of all channels, each once."""
        return tuple(dict.fromkeys(version for channel in self.channels.values() for version in channel))

    def csv_name(self, version: str) -> str:
        """Return the name of a version's ClusterServiceVersion."""
        return self.csv.format(version=version)

    def crds_of(self, version: str) -> tuple[Document, ...]:
        """Return the definitions of a version, without the parts that only other versions have."""
        return tuple(_of_version(crd, _parts(version)) for crd in self.crds)


def images() -> Mapping[str, list[str]]:
    """Return catalog → patterns of the images of CatalogSources that serve it."""
    [patterns] = read_documents(_FOLDER / "catalogs.yaml")
    return patterns


@cache
def packages() -> tuple[Package, ...]:
    """Return all packages of all catalogs."""
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
        crds=tuple(read_documents(CRDS / "catalogs" / entry["crds"])) if "crds" in entry else (),
        examples=tuple(entry.get("examples") or ()),
        requires=entry.get("requires") or {},
    )


def _parts(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, also of ``4.18.0-202509100210``."""
    return tuple(map(int, re.findall(r"\d+", version)))


def _of_version(part: Any, version: tuple[int, ...]) -> Any:
    """Return *part* of a definition as it is in *version*."""
    if isinstance(part, list):
        return [_of_version(item, version) for item in part if _has(version, item)]
    if not isinstance(part, dict):
        return part
    if ONE_OF in part:
        [chosen] = _of_version(part[ONE_OF], version)
        return chosen
    return {
        key: _of_version(value, version)
        for key, value in part.items()
        if key not in (SINCE, UNTIL) and _has(version, value)
    }


def _has(version: tuple[int, ...], part: Any) -> bool:
    if not isinstance(part, dict):
        return True
    is_later = SINCE in part and _parts(part[SINCE]) > version
    return not is_later and not (UNTIL in part and _parts(part[UNTIL]) <= version)
