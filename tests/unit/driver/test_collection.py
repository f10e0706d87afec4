"""The collection outside Ansible."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from perfdrv.collection import PACKAGE, activate
from perfdrv.errors import UsageError
from perfdrv.project import Project


def test_the_collection_is_found_in_the_project(repository: Project) -> None:
    activate(repository.root)
    from ansible_collections.psap.perf.plugins.module_utils.base import errors

    assert Path(errors.__file__).is_relative_to(repository.root)


def test_the_same_code_by_another_path_is_accepted(repository: Project, project: Project) -> None:
    activate(repository.root)
    package = sys.modules[PACKAGE]
    activate(project.root)
    assert sys.modules[PACKAGE] is package


def test_another_collection_is_refused_once_one_is_active(project: Project, tmp_path: Path) -> None:
    (tmp_path / "collections" / PACKAGE / "psap" / "perf" / "plugins").mkdir(parents=True)
    with pytest.raises(UsageError, match="already in use"):
        activate(tmp_path)


def test_a_folder_without_collection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no psap\.perf collection"):
        activate(tmp_path)


def test_a_broken_ansible_cfg_is_named(tmp_path: Path) -> None:
    config = tmp_path / "ansible.cfg"
    config.write_text("[defaults]\nforks = 1\nforks = 2\n", encoding="utf-8")
    with pytest.raises(UsageError, match=rf"{config} cannot be read.*line +3.*'forks'"):
        Project(tmp_path).default_site()
