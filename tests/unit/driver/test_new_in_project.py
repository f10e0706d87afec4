"""`perfdrv new flow` in a project of the installed collection."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml
from perfdrv.commands.creating import flow_of_project, is_clone, template
from perfdrv.project import Project

from tests.unit.driver.conftest import ROOT


def test_flow_of_a_project_imports_the_playbook_of_the_collection(
    repository: Project,
) -> None:
    copied = template(repository)
    files = dict(flow_of_project(repository, copied["name"], copied["command"], "mine"))
    (play,) = yaml.safe_load(files[Path("playbooks/mine.yml")])
    assert play["ansible.builtin.import_playbook"] == "psap.perf.flow"
    assert play["vars"]["perf_flow"] == "mine"
    settings = yaml.safe_load(files[Path("playbooks/mine/settings.yml")])
    assert settings["options"]["mine_pods"]["argument"] == f"{copied['command']}_pods"
    assert list(yaml.safe_load(files[Path("presets/mine.yml")])) == ["preset_mine"]
    assert f"psap.perf.{copied['command']}" in files[Path("playbooks/mine/cell.yml")]


def test_only_a_project_with_the_collection_is_a_clone(tmp_path: Path) -> None:
    shutil.copy(ROOT / "ansible.cfg", tmp_path)
    assert is_clone(Project(ROOT))
    assert not is_clone(Project(tmp_path))
