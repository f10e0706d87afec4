"""Determine the generation of OpenShift AI that a cluster has or gets, and check it against the needs of a flow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.openshift.components import GONE, NEW, RENAMED
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_packages import PackageRequest, choose

PACKAGES: Mapping[str, str] = {"rhods-operator": "OpenShift AI", "opendatahub-operator": "Open Data Hub"}
_NUMBERS = re.compile(r"(\d+)\.\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Release:
    """A release of OpenShift AI or Open Data Hub.

    Attributes:
        product: Its name.
        version: Such as `3.4.1`; empty if it is unknown or no product is installed.
        installed: Whether the cluster has it already.
        origin: The origin of the version, as the end of a sentence.
        channels: Channels of the catalog by generation.
    """

    product: str = "OpenShift AI"
    version: str = ""
    installed: bool = False
    origin: str = ""
    channels: Mapping[int, Sequence[str]] | None = None

    @property
    def generation(self) -> int:
        """Return the first number of the version; 0 if the version is unknown."""
        found = _NUMBERS.match(self.version)
        return int(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of a flow: the generations that it supports, empty for all, with the reason; and components."""

    generations: Sequence[int] = ()
    reason: str = ""
    components: Sequence[str] = ()


def installed_release(subscriptions: Iterable[Manifest]) -> Release | None:
    """Return the release that the Subscriptions of a cluster install; None without one."""
    for item in subscriptions:
        name, status = item["spec"]["name"], item.get("status") or {}
        if name in PACKAGES:
            csv = status.get("installedCSV") or status.get("currentCSV") or item["spec"].get("startingCSV") or ""
            return Release(PACKAGES[name], _version_of(csv), installed=True, origin="is installed on the cluster")
    return None


def offered_release(name: str, package: Manifest | None, request: PackageRequest, tag: str) -> Release:
    """Return the release of the package *name* that the settings install.

    Args:
        package: The PackageManifest; None if the catalog does not have it yet.
        request: The channel and the version in the settings.
        tag: Tag of the image of a catalog in the settings; empty without one.

    Raises:
        UsageError: If the package does not have the channel or the version.
    """
    product = PACKAGES[name]
    if tag:
        return Release(product, _version_of(tag), origin=f"is what the catalog with the tag {tag} installs")
    if package is None:
        return Release(product, request.version, origin="is the version that the settings name")
    choice = choose(package, request)
    channels: dict[int, list[str]] = {}
    for each in package["status"]["channels"]:
        channels.setdefault(Release(version=_version_of(each["currentCSV"])).generation, []).append(each["name"])
    origin = f"is what channel {choice.channel} of {name} installs"
    return Release(product, choice.version or _version_of(choice.csv), origin=origin, channels=channels)


def check_release(release: Release, needs: Needs) -> None:
    """Check that a release meets the needs of a flow; a release without a version is not checked.

    Raises:
        ClusterError: If the installed release does not.
        UsageError: If the release that would be installed does not.
    """
    problem = _problem(release, needs) if release.generation else ""
    if problem:
        error = ClusterError if release.installed else UsageError
        raise error(f"{release.product} {release.version} {release.origin}: {problem}; {_advice(release)}")


def _problem(release: Release, needs: Needs) -> str:
    generation = release.generation
    if needs.generations and generation not in needs.generations:
        supported = " or ".join(map(str, needs.generations))
        return f"the flow supports generation {supported}, since {needs.reason}"
    renamed = RENAMED if generation > 2 else {new: old for old, new in RENAMED.items()}
    missing = [name for name in needs.components if name in (GONE if generation > 2 else NEW)]
    if missing:
        return f"generation {generation} has no component {', '.join(missing)}"
    return next((f"{name} is called {renamed[name]} there" for name in needs.components if name in renamed), "")


def _advice(release: Release) -> str:
    other = 2 if release.generation > 2 else 3
    if release.installed:
        return f"use a cluster with generation {other}, or settings for generation {release.generation}"
    channels = (release.channels or {}).get(other) or ()
    named = f" (set rhoai_channel to {' or '.join(channels)})" if channels else ""
    return f"install generation {other}{named}, or use settings for generation {release.generation}"


def _version_of(text: str) -> str:
    """Return the version in the name of a ClusterServiceVersion or in a tag, `3.4.1` of `rhods-operator.3.4.1`."""
    found = _NUMBERS.search(text)
    return found[0] if found else ""
