"""Roles of the published collection have their specifications' defaults in Ansible's own file."""

from __future__ import annotations

from pathlib import Path

import yaml
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

from docs.website.commands import PROJECT, write_defaults


def test_roles_are_published_with_the_defaults_of_their_specifications(tmp_path: Path) -> None:
    write_defaults(tmp_path)

    project = Project(PROJECT)
    for role in (*project.roles, *project.shared_roles):
        file = tmp_path / role / "defaults/main.yml"
        defaults = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
        assert defaults == {one.name: one.default for one in project.command(role).own_arguments if not one.required}
