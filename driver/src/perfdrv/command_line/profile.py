"""The preset that the site's `clusters_profiles` selects by the nodes of the cluster."""

from __future__ import annotations

from dataclasses import replace

import click
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective

from perfdrv.ansible.single_task import run_task
from perfdrv.ansible.sites import read_site
from perfdrv.command_line.run_options import RunOptions, preset_names, presets_and_pairs
from perfdrv.project import Project

_PROFILES, _METHOD, _EXISTING = "clusters_profiles", "clusters_create_method", "existing"


def with_profile(given: RunOptions, project: Project, flow: str) -> RunOptions:
    """Return the options with the preset of the cluster's profile before the other presets.

    The cluster is queried only if the site has profiles and the cluster exists.

    Raises:
        TaskError: The cluster does not answer, or its nodes select different presets.
    """
    inventory = project.inventory(given.site) if given.site else None
    presets, pairs = presets_and_pairs(given, project)
    site = read_site(project, given.site)
    known = effective(project.content(), project.flow(flow), site.layers_of(), presets, pairs)
    # not every project declares these settings
    profiles = known[_PROFILES].value if _PROFILES in known else {}
    if not profiles or known[_METHOD].value != _EXISTING or presets != preset_names(given, project):
        # presets are given by a variable; the user must add this one there, and the run prints its name
        return given
    found = run_task(project, inventory, "clusters.profile", {"profiles": profiles})
    if not found["preset"] or found["preset"] in presets:
        return given
    click.echo(f"preset {found['preset']}, selected by {found['by']} of node {found['node']}")
    return replace(given, overrides=(("presets", project.preset(found["preset"])), *given.overrides))
