"""What this repository declares: its presets fit its flows, and our reading of specs equals Ansible's."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.settings.check import check_project
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project, find_project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective, list_presets

PROJECT = Project(Path(__file__).parents[3])


def test_every_preset_fits_every_flow() -> None:
    assert [str(finding) for finding in check_project(PROJECT)] == []


def test_the_main_jobs_preset_submits_some_300_one_gpu_jobs() -> None:
    settings = effective(PROJECT, "scale_test", "lab", ["lab"])

    assert settings["scale_test_count"].value == 300
    assert settings["scale_test_gpus"].value == 1
    assert settings["scale_test_workload_kind"].value == "Job"
    assert settings["scale_test_count"].origin == "presets/lab.yml:4"


def test_every_preset_says_what_it_is_for() -> None:
    assert all(preset.comment for preset in list_presets(PROJECT))


def test_every_preset_stands_in_the_documents() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (PROJECT.root / "docs").glob("*.md"))

    assert [preset.name for preset in list_presets(PROJECT) if f"`{preset.name}`" not in pages] == []


def test_a_flow_and_a_command_with_one_prefix_are_told_apart() -> None:
    assert PROJECT.role_of("scale_test_submit_count") == "scale_test_submit"
    assert PROJECT.role_of("scale_test_count") is None
    assert PROJECT.argument("scale_test_submit_count") is not None
    assert PROJECT.setting("scale_test_submit_count") is None


def test_the_project_is_found_from_below() -> None:
    assert find_project(Path(__file__).parent) == PROJECT.root
