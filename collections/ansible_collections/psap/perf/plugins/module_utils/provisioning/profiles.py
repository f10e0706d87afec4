"""Find the preset that the nodes of a cluster request, by their names or labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest


@dataclass(frozen=True, slots=True)
class Profile:
    """A preset, the node that requests it, and the name or label of the node that does (*by*)."""

    preset: str
    node: str
    by: str


def profile_of(nodes: Iterable[Manifest], profiles: Mapping[str, str]) -> Profile | None:
    """Return the profile of a cluster; None if no node has one.

    Args:
        profiles: Preset by the name of a node, or by a label, ``KEY=VALUE``.

    Raises:
        UsageError: If nodes request different presets.
    """
    found: dict[str, Profile] = {}
    for node in sorted(nodes, key=lambda each: str(each["metadata"]["name"])):
        metadata = node["metadata"]
        labels = {f"{key}={value}" for key, value in (metadata.get("labels") or {}).items()}
        for by, preset in profiles.items():
            if by == metadata["name"] or by in labels:
                found.setdefault(preset, Profile(preset, metadata["name"], by))
    if len(found) > 1:
        presets = ", ".join(f"{each.preset} by node {each.node}" for each in found.values())
        raise UsageError(f"clusters_profiles is ambiguous for this cluster: {presets}; keep only one")
    return next(iter(found.values()), None)


def check_applied(profile: Profile | None, applied: Iterable[str]) -> None:
    """Raise a UsageError if the preset of the cluster is not applied."""
    if profile is not None and profile.preset not in applied:
        raise UsageError(
            f"node {profile.node} of this cluster has the profile {profile.preset}, by {profile.by} in "
            f"clusters_profiles, but this preset is not applied: add -p {profile.preset}, or "
            f"perf_presets: [{profile.preset}] to the site"
        )
