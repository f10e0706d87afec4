"""The collection outside Ansible."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from perfdrv.collection import PACKAGE, activate
from perfdrv.errors import UsageError
from perfdrv.project import Project


def test_collection_is_found_in_the_project(repository: Project) -> None:
    activate(repository.root)
    from ansible_collections.psap.perf.plugins.module_utils.base import errors

    assert Path(errors.__file__).is_relative_to(repository.root)


def test_same_code_at_another_path_is_accepted(repository: Project, project: Project) -> None:
    activate(repository.root)
    package = sys.modules[PACKAGE]
    activate(project.root)
    assert sys.modules[PACKAGE] is package


def test_second_collection_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "collections" / PACKAGE / "psap" / "perf" / "plugins").mkdir(parents=True)
    with pytest.raises(UsageError, match="already uses"):
        activate(tmp_path)


def test_folder_without_a_collection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no psap\.perf collection"):
        activate(tmp_path)


def test_broken_ansible_cfg_is_named(tmp_path: Path) -> None:
    config = tmp_path / "ansible.cfg"
    config.write_text("[defaults]\nforks = 1\nforks = 2\n", encoding="utf-8")
    with pytest.raises(UsageError, match=rf"cannot read {config}.*line +3.*'forks'"):
        Project(tmp_path).default_site()
