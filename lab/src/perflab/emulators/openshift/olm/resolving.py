"""Which ClusterServiceVersion a Subscription leads to: pure functions of what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import own_labels, phase_of
from perflab.emulators.openshift.olm.packages import Package

# of a copy: the namespace of the original
COPIED_FROM = "olm.copiedFrom"


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why nothing can be installed: the reason and the message of the condition ResolutionFailed."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Settled:
    """There is nothing to install: what is installed is the newest of the channel."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be installed, and what it takes the place of."""

    package: Package
    version: str
    replaces: str | None

    @property
    def csv(self) -> str:
        """The name of the ClusterServiceVersion."""
        return self.package.csv_name(self.version)


Outcome = Unresolved | Settled | Wanted


def resolve(subscription: Document, package: Package | None, present: Mapping[str, Document]) -> Outcome:
    """What *subscription* leads to.

    *package* is what its catalog has under the name, *present* are the ClusterServiceVersions of its namespace.
    """
    name, spec = subscription["metadata"]["name"], subscription["spec"]
    if package is None:
        text = f"no operators found in package {spec['name']} in the catalog referenced by subscription {name}"
        return unsatisfiable(text, name)
    channel = spec.get("channel") or package.default_channel
    where = f"channel {channel} of package {package.name} in the catalog referenced by subscription {name}"
    versions = package.channels.get(channel)
    if not versions:
        return unsatisfiable(f"no operators found in {where}", name)
    installed = (subscription.get("status") or {}).get("installedCSV")
    if installed:
        return _upgrade(package, versions, installed, present)
    orphan = _orphan(subscription, package, present)
    if orphan:
        return unsatisfiable(f"clusterserviceversion {orphan} exists and is not referenced by a subscription", name)
    starting = spec.get("startingCSV")
    names = [package.csv_name(version) for version in versions]
    if starting and starting not in names:
        return unsatisfiable(f"no operators found with name {starting} in {where}", name)
    return Wanted(package, versions[names.index(starting)] if starting else versions[-1], None)


def _upgrade(
    package: Package, versions: Sequence[str], installed: str, present: Mapping[str, Document]
) -> Wanted | Settled:
    if phase_of(present.get(installed, {})) != "Succeeded" or package.csv_name(versions[-1]) == installed:
        return Settled()
    return Wanted(package, versions[-1], installed)


def _orphan(subscription: Document, package: Package, present: Mapping[str, Document]) -> str | None:
    """A version of the package that an earlier Subscription left."""
    progressing = (subscription.get("status") or {}).get("currentCSV")
    return next((name for name in present if package.version_of(name) and name != progressing), None)


def unsatisfiable(text: str, subscription: str) -> Unresolved:
    """What OLM says when a Subscription asks for what there is not."""
    return Unresolved(
        "ConstraintsNotSatisfiable", f"constraints not satisfiable: {text}, subscription {subscription} exists"
    )


def originals(versions: Sequence[Document], namespace: str) -> dict[str, Document]:
    """The ClusterServiceVersions of a namespace by name, without copies of others'."""
    return {
        each["metadata"]["name"]: each
        for each in versions
        if each["metadata"]["namespace"] == namespace and COPIED_FROM not in own_labels(each)
    }
