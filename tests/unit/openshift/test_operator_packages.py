"""The chosen version of an operator, and the chosen one of its examples."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_packages import (
    Choice,
    PackageRequest,
    choose,
    choose_example,
    unsupported_mode,
)


def channel(name: str, *versions: str, entries: bool = True) -> dict[str, Any]:
    """Return a channel; versions newest first."""
    modes = [{"type": "OwnNamespace", "supported": True}, {"type": "AllNamespaces", "supported": False}]
    found: dict[str, Any] = {
        "name": name,
        "currentCSV": f"gpu.v{versions[0]}",
        "currentCSVDesc": {"version": versions[0], "installModes": modes},
    }
    if entries:
        found["entries"] = [{"name": f"gpu.v{version}", "version": version} for version in versions]
    return found


def package(*channels: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "gpu"}, "status": {"defaultChannel": channels[0]["name"], "channels": list(channels)}}


GPU = package(channel("v25.3", "25.3.4", "25.3.2"), channel("v24.9", "24.9.2"))


@pytest.mark.parametrize(
    ("package_request", "choice"),
    [
        (PackageRequest(), Choice("v25.3", "gpu.v25.3.4", "25.3.4")),
        (PackageRequest("v24.9"), Choice("v24.9", "gpu.v24.9.2", "24.9.2")),
        (PackageRequest("v25.3", "25.3.2"), Choice("v25.3", "gpu.v25.3.2", "25.3.2")),
        (PackageRequest("v25.3", "v25.3.2"), Choice("v25.3", "gpu.v25.3.2", "25.3.2")),
        (PackageRequest("v25.3", "25.3.2", "gpu"), Choice("v25.3", "gpu.v25.3.2", "25.3.2")),
    ],
    ids=["nothing", "a channel", "a version", "a version as its name has it", "the base name"],
)
def test_version_and_channel_are_chosen_by_the_request(package_request: PackageRequest, choice: Choice) -> None:
    assert choose(GPU, package_request) == choice


def test_catalog_listing_only_the_newest_version_is_accepted() -> None:
    old = package(channel("stable", "2.0.0", entries=False))
    assert choose(old, PackageRequest("stable", "v1.9.0")).csv == "gpu.v1.9.0"
    assert choose(old, PackageRequest("stable", "1.9.0", "other")).csv == "other.1.9.0"


@pytest.mark.parametrize(
    ("package_request", "words"),
    [
        (PackageRequest("?"), ["v25.3 (the default) with gpu.v25.3.4", "v24.9 with gpu.v24.9.2"]),
        (PackageRequest("v25.2"), ["no channel v25.2", "did you mean v25.3?", "v24.9 with"]),
        (PackageRequest("", "25.3.2"), ["needs a channel", "v25.3 (the default)"]),
        (PackageRequest("v25.3", "25.3.1"), ["channel v25.3 of gpu has no version 25.3.1", "25.3.4, 25.3.2"]),
        (PackageRequest("v25.3", "25.3.2", "other"), ["has no version 25.3.2"]),
    ],
    ids=["the list", "no such channel", "a version alone", "no such version", "another base name"],
)
def test_missing_version_is_refused_with_existing_ones(package_request: PackageRequest, words: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        choose(GPU, package_request)
    assert all(word in str(error.value) for word in words), error.value


def test_unsupported_install_mode_is_refused() -> None:
    assert unsupported_mode(GPU, "v25.3", "OwnNamespace") == ""
    assert unsupported_mode(GPU, "v25.3", "AllNamespaces") == (
        "gpu of channel v25.3 does not support AllNamespaces, but OwnNamespace"
    )


def test_catalog_without_install_modes_is_accepted() -> None:
    silent = {"name": "stable", "currentCSV": "gpu.v1"}
    assert unsupported_mode(package(silent), "stable", "AllNamespaces") == ""


EXAMPLES = [{"kind": kind, "metadata": {"name": kind.lower()}} for kind in ("Rule", "Discovery", "Discovery2")]
CSV = {"metadata": {"name": "nfd.4", "annotations": {"alm-examples": json.dumps(EXAMPLES)}}}


@pytest.mark.parametrize(
    ("which", "kind"),
    [
        (True, "Rule"),
        ("true", "Rule"),
        (0, "Rule"),
        (1, "Discovery"),
        ("2", "Discovery2"),
        ("Discovery", "Discovery"),
        ("discovery", "Discovery"),
    ],
)
def test_example_is_found_by_position_or_kind(which: object, kind: str) -> None:
    assert choose_example(CSV, which)["kind"] == kind


@pytest.mark.parametrize("which", [3, "Nothing"])
def test_missing_example_is_refused_with_existing_ones(which: object) -> None:
    with pytest.raises(UsageError, match=f"nfd.4 has no example {which}; there are: 0 Rule, 1 Discovery, 2 Disc"):
        choose_example(CSV, which)


def test_operator_without_examples_is_refused() -> None:
    with pytest.raises(UsageError, match="there are: none"):
        choose_example({"metadata": {"name": "nfd.4"}}, True)
