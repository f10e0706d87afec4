"""Choose a channel, a version or an example of an operator in a catalog."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

LIST_CHANNELS = "?"
_EXAMPLES = "alm-examples"


@dataclass(frozen=True, slots=True)
class Choice:
    """The version to install: *csv* is the name of the ClusterServiceVersion, *version* is empty if unknown."""

    channel: str
    csv: str
    version: str


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """A user's request; empty fields use the package's defaults. *base_name* is the prefix of its versions' names."""

    channel: str = ""
    version: str = ""
    base_name: str = ""


def choose(package: Manifest, request: PackageRequest) -> Choice:
    """Return the version of *package*, a PackageManifest, that meets *request*.

    Raises:
        UsageError: If none does, with the existing ones; or with the channels if the request is to list them.
    """
    name, channels = package["metadata"]["name"], {each["name"]: each for each in package["status"]["channels"]}
    if request.channel == LIST_CHANNELS:
        raise UsageError(f"the channels of {name} are: {_list_channels(package)}")
    if request.version and not request.channel:
        raise UsageError(
            f"the version {request.version} of {name} needs a channel; there are: {_list_channels(package)}"
        )
    chosen = request.channel or package["status"]["defaultChannel"]
    if chosen not in channels:
        raise UsageError(
            f"{name} has no channel {chosen}{did_you_mean(chosen, channels)}; there are: {_list_channels(package)}"
        )
    channel = channels[chosen]
    if not request.version:
        version = (channel.get("currentCSVDesc") or {}).get("version") or ""
        return Choice(chosen, channel["currentCSV"], version)
    return _of_version(name, channel, request)


def _of_version(name: str, channel: Mapping[str, Any], request: PackageRequest) -> Choice:
    number = request.version.removeprefix("v")
    base = request.base_name or name
    entries: Sequence[Mapping[str, Any]] = channel.get("entries") or ()
    if not entries:
        # catalogs of clusters before 4.14 contain the newest version only
        return Choice(channel["name"], f"{base}.{request.version}", number)
    names = {f"{base}.{request.version}", f"{base}.v{number}", f"{base}.{number}"}
    for entry in entries:
        if entry["name"] in names or (not request.base_name and entry.get("version") == number):
            return Choice(channel["name"], entry["name"], entry.get("version") or number)
    versions = ", ".join(entry.get("version") or entry["name"] for entry in entries)
    raise UsageError(f"channel {channel['name']} of {name} has no version {request.version}; there are: {versions}")


def _list_channels(package: Manifest) -> str:
    default = package["status"]["defaultChannel"]
    return ", ".join(
        f"{each['name']}{' (the default)' if each['name'] == default else ''} with {each['currentCSV']}"
        for each in package["status"]["channels"]
    )


def unsupported_mode(package: Manifest, channel: str, mode: str) -> str:
    """Return why the operator does not support the install *mode*; empty if it does.

    Only the newest version of a channel lists its modes; earlier ones are assumed to have the same.
    """
    [found] = [each for each in package["status"]["channels"] if each["name"] == channel]
    modes = (found.get("currentCSVDesc") or {}).get("installModes") or []
    supported = [each["type"] for each in modes if each["supported"]]
    if not modes or mode in supported:
        return ""
    return f"{package['metadata']['name']} of channel {channel} does not support {mode}, but {', '.join(supported)}"


def choose_example(csv: Manifest, which: object) -> Manifest:
    """Return an example of an installed version.

    Args:
        which: True for the first, a number counted from 0, or a kind.

    Raises:
        UsageError: If the example is missing, with the existing ones.
    """
    examples: list[Manifest] = json.loads((csv["metadata"].get("annotations") or {}).get(_EXAMPLES) or "[]")
    wanted = _as_written(which)
    if isinstance(wanted, int):
        index = 0 if wanted is True else wanted
        if 0 <= index < len(examples):
            return examples[index]
    else:
        of_kind = [each for each in examples if each["kind"].lower() == wanted.lower()]
        if of_kind:
            return of_kind[0]
    kinds = ", ".join(f"{index} {each['kind']}" for index, each in enumerate(examples)) or "none"
    raise UsageError(f"{csv['metadata']['name']} has no example {which}; there are: {kinds}")


def _as_written(which: object) -> bool | int | str:
    """Convert *which* from a text of the command line to its type."""
    if isinstance(which, bool | int):
        return which
    text = str(which).strip()
    if text.lower() in ("true", "yes"):
        return True
    return int(text) if text.isdigit() else text
