"""Declarations of this repository: settings, presets, sites."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.settings.check import check_project
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project, find_project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import list_presets
from ansible_collections.psap.perf.plugins.plugin_utils.settings.site_reader import read_site

PROJECT = Project(Path(__file__).parents[3])


def test_settings_of_the_repository_are_in_order() -> None:
    sites = {name: read_site(PROJECT.root, str(path)) for name, path in PROJECT.sites.items()}

    assert [str(finding) for finding in check_project(PROJECT, sites, read_site(PROJECT.root, None))] == []


def test_every_preset_has_a_description() -> None:
    assert all(preset.comment for preset in list_presets(PROJECT))


def test_every_preset_is_documented() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (PROJECT.root / "docs").glob("*.md"))

    assert [preset.name for preset in list_presets(PROJECT) if f"`{preset.name}`" not in pages] == []


def test_flow_and_command_with_one_prefix_are_distinguished() -> None:
    assert PROJECT.role_of("scale_test_submit_count") == "scale_test_submit"
    assert PROJECT.role_of("scale_test_count") is None
    assert PROJECT.argument("scale_test_submit_count") is not None
    assert PROJECT.setting("scale_test_submit_count") is None


def test_project_is_found_from_a_subfolder() -> None:
    assert find_project(Path(__file__).parent) == PROJECT.root
