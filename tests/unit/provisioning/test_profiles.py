"""The preset that a cluster's nodes require."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.profiles import Profile, check_applied, profile_of

H100 = "nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3"
PROFILES = {"dgx-1.example.com": "dgx", "dgx-2.example.com": "dgx", H100: "h100"}


def node(name: str, label: str = "") -> dict[str, Any]:
    key, _equals, value = label.partition("=")
    return {"metadata": {"name": name, "labels": {key: value} if label else None}}


@pytest.mark.parametrize(
    ("nodes", "profile"),
    [
        ([], None),
        ([node("worker-0"), node("worker-1", "nvidia.com/gpu.product=Tesla-T4")], None),
        (
            [node("dgx-2.example.com"), node("dgx-1.example.com")],
            Profile("dgx", "dgx-1.example.com", "dgx-1.example.com"),
        ),
        ([node("worker-0"), node("worker-1", H100)], Profile("h100", "worker-1", H100)),
    ],
)
def test_cluster_is_recognized_by_its_nodes(nodes: list[dict[str, Any]], profile: Profile | None) -> None:
    assert profile_of(nodes, PROFILES) == profile


def test_nodes_with_contradicting_presets_are_refused() -> None:
    with pytest.raises(UsageError, match=r"ambiguous .*: dgx by node dgx-1.example.com, h100 by node worker-1"):
        profile_of([node("worker-1", H100), node("dgx-1.example.com")], PROFILES)


def test_run_without_the_clusters_preset_is_refused() -> None:
    profile = Profile("dgx", "dgx-1", "dgx-1")
    check_applied(None, [])
    check_applied(profile, ["light", "dgx"])
    with pytest.raises(UsageError, match=r"node dgx-1 of this cluster has the profile dgx, .* add -p dgx"):
        check_applied(profile, ["light"])
