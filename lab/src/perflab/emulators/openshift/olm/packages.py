"""The packages that catalogs offer: data of the products' emulators, `packages.yaml` in their folders."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from perflab.cluster.api import Document
from perflab.files.documents import read_documents

MARKETPLACE = "openshift-marketplace"
# on a field of a definition: the version from which on it is there
SINCE = "x-lab-since"
_GROUP = "operators.coreos.com"
_LONGEST_NAME = 63


def component_label(package: str, namespace: str) -> str:
    """The label of everything that belongs to a package's installation; OLM cuts it as names of labels must be."""
    return f"{_GROUP}/" + f"{package}.{namespace}"[:_LONGEST_NAME].rstrip("-._")


_EMULATORS = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Package:
    """An operator as a catalog offers it.

    *channels* are the versions of each, oldest first; *csv* is a pattern with `{version}`; *image_catalogs* are
    patterns of the images of catalogs that users add and that have it, too.
    """

    name: str
    catalog: str
    display_name: str
    provider: str
    default_channel: str
    channels: Mapping[str, tuple[str, ...]]
    csv: str
    install_modes: tuple[str, ...]
    deployments: tuple[Document, ...]
    crds: tuple[Document, ...]
    examples: tuple[Document, ...]
    image_catalogs: tuple[str, ...]

    def csv_name(self, version: str) -> str:
        """The name of a version's ClusterServiceVersion."""
        return self.csv.format(version=version)

    def version_of(self, csv: str) -> str | None:
        """The version that a ClusterServiceVersion is of; None when it is of another package."""
        versions = {version for channel in self.channels.values() for version in channel}
        return next((version for version in versions if self.csv_name(version) == csv), None)

    def crds_of(self, version: str) -> tuple[Document, ...]:
        """The definitions that come with a version, without what only later ones have."""
        return tuple(_without_later(crd, _parts(version)) for crd in self.crds)

    def is_offered_by(self, catalog: Document) -> bool:
        """Whether a CatalogSource has it."""
        metadata = catalog["metadata"]
        if (metadata["namespace"], metadata["name"]) == (MARKETPLACE, self.catalog):
            return True
        image = (catalog.get("spec") or {}).get("image") or ""
        return any(fnmatch.fnmatchcase(image, pattern) for pattern in self.image_catalogs)


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


@cache
def packages() -> tuple[Package, ...]:
    """All packages of all emulators."""
    return tuple(package for path in sorted(_EMULATORS.glob("*/*/packages.yaml")) for package in _read(path))


def find(name: str, catalog: Document) -> Package | None:
    """The package of that name that a CatalogSource has."""
    return next((each for each in packages() if each.name == name and each.is_offered_by(catalog)), None)


def package_of(csv: str) -> Package | None:
    """The package that a ClusterServiceVersion is of, by its name."""
    return next((each for each in packages() if each.version_of(csv)), None)


def _read(path: Path) -> Iterator[Package]:
    [entries] = read_documents(path)
    for entry in entries:
        yield _package(entry, path.parent)


def _package(entry: Any, folder: Path) -> Package:
    return Package(
        name=entry["name"],
        catalog=entry["catalog"],
        display_name=entry["display_name"],
        provider=entry["provider"],
        default_channel=entry["default_channel"],
        channels={name: tuple(versions) for name, versions in entry["channels"].items()},
        csv=entry["csv"],
        install_modes=tuple(entry["install_modes"]),
        deployments=tuple(entry["deployments"]),
        crds=tuple(read_documents(folder / entry["crds"])) if entry.get("crds") else (),
        examples=tuple(entry.get("examples") or ()),
        image_catalogs=tuple(entry.get("image_catalogs") or ()),
    )
