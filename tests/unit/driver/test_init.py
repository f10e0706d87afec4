"""Projects for the installed collection: where it is, and what `perfdrv init` creates."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from perfdrv import collection
from perfdrv.collection import COLLECTION, collection_of, find_root, own_root
from perfdrv.commands import init as init_module
from perfdrv.commands.init import init
from perfdrv.errors import UsageError

from tests.unit.driver.conftest import ROOT


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a published collection, installed beside the driver."""
    folder = tmp_path / "site-packages" / "ansible_collections" / "psap" / "perf"
    folder.mkdir(parents=True)
    (folder / "ansible.cfg").write_text((ROOT / "ansible.cfg").read_text(encoding="utf-8"), encoding="utf-8")
    for site in ("lab", "local"):
        (folder / "inventories" / site).mkdir(parents=True)
        (folder / "inventories" / site / "hosts.yml").write_text("all:\n", encoding="utf-8")
    for module in (collection, init_module):
        monkeypatch.setattr(module, "INSTALLED", folder)
    return folder


def test_init_makes_a_project_of_the_installed_collection(installed: Path, tmp_path: Path) -> None:
    project = tmp_path / "mine"
    with pytest.raises(UsageError, match="perfdrv init"):
        find_root(start=tmp_path)
    result = CliRunner().invoke(init, [str(project)])
    assert result.exception is None, result.output
    assert find_root(start=project) == project.resolve()
    assert collection_of(project) == installed
    assert (project / "presets" / "example.yml").is_file()
    assert (project / "inventories" / "lab" / "hosts.yml").is_file()


def test_init_overwrites_no_file_and_writes_none(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(init, [str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "README.md exists, so nothing was written" in str(result.exception)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "ansible.cfg").exists()


def test_init_of_a_clones_driver_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(init, [str(tmp_path / "mine")])
    assert isinstance(result.exception, UsageError)
    assert not (tmp_path / "mine").exists()


def test_unrelated_ansible_cfg_is_no_project(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "ansible.cfg").write_text("[defaults]\nforks = 5\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no psap\.perf project"):
        find_root(start=tmp_path)


def test_collection_of_a_project_precedes_the_installed_one(installed: Path) -> None:
    assert collection_of(ROOT) == ROOT / COLLECTION
    assert own_root() == ROOT
