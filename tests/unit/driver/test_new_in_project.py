"""`perfdrv new flow` and `perfdrv new command` in a project of the installed collection."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from perfdrv.commands import new as new_module
from perfdrv.commands.creating import (
    flow_of_project,
    has_roles_path,
    is_clone,
    role_of_project,
    template,
    with_roles_path,
)
from perfdrv.errors import UsageError
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


def test_command_of_a_project_is_a_copy_of_the_role(repository: Project) -> None:
    copied = template(repository)
    files = dict(role_of_project(repository, copied["command"], "mine_start"))
    spec = yaml.safe_load(files[Path("roles/mine_start/meta/argument_specs.yml")])
    assert "mine_start_pods" in spec["argument_specs"]["main"]["options"]
    assert not [path for path, text in files.items() if re.search("skeleton.start.pods", f"{path} {text}")]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("my_disks", "fill"), "invalid group 'my_disks': use one word"),
        (("disks", "fill", "--about", "Disks"), "omit --about"),
    ],
)
def test_command_of_a_project_that_cannot_be_named_is_refused(
    words: tuple[str, ...], problem: str, perfdrv: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_module, "is_clone", lambda _project: False)
    monkeypatch.setattr(new_module, "template", lambda _project: {"command": "demo_tidy"})
    result = perfdrv("new", "command", *words)
    assert isinstance(result.exception, UsageError)
    assert problem in str(result.exception)


def test_roles_path_is_added_once_to_an_older_project(tmp_path: Path) -> None:
    config = tmp_path / "ansible.cfg"
    config.write_text("[defaults]\nforks = 20\n")
    assert not has_roles_path(config)
    config.write_text(with_roles_path(config.read_text()))
    assert config.read_text() == "[defaults]\nroles_path = roles\nforks = 20\n"
    assert has_roles_path(config)
