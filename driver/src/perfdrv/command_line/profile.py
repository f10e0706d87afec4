"""The preset that the nodes of the cluster ask for, as the site's `clusters_profiles` says."""

from __future__ import annotations

from dataclasses import replace

import click
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective

from perfdrv.ansible.single_task import run_task
from perfdrv.command_line.run_options import RunOptions, preset_names, presets_and_pairs
from perfdrv.project import Project

_PROFILES, _METHOD, _EXISTING = "clusters_profiles", "clusters_create_method", "existing"


def with_profile(given: RunOptions, project: Project, flow: str) -> RunOptions:
    """What is given, with the preset of the cluster's profile before the others; the cluster is asked only where there
    are profiles, and not when it is yet to be created.

    Raises:
        TaskError: the cluster does not answer, or its nodes ask for different presets.
    """
    inventory = project.inventory(given.site) if given.site else None
    presets, pairs = presets_and_pairs(given, project)
    known = effective(project.content(), project.flow(flow), given.site or project.default_site(), presets, pairs)
    # a project of one's own need not have them
    profiles = known[_PROFILES].value if _PROFILES in known else {}
    if not profiles or known[_METHOD].value != _EXISTING or presets != preset_names(given, project):
        # who names presets by a variable adds this one to it; the run says which
        return given
    found = run_task(project, inventory, "clusters.profile", {"profiles": profiles})
    if not found["preset"] or found["preset"] in presets:
        return given
    click.echo(f"preset {found['preset']}, by {found['by']} of node {found['node']}")
    return replace(given, overrides=(("presets", project.preset(found["preset"])), *given.overrides))
