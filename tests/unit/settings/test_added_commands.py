"""Commands in ``roles/`` of a project, and those of other collections."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import groups, other_collections, split_role
from ansible_collections.psap.perf.plugins.module_utils.settings.declarations import check_declarations
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.plugin_utils.role_rights import rules_of

DEPENDENCIES = "dependencies:\n  - role: psap.perf.command\n  - role: psap.perf.shared_load_job\n"


def add_role(folder: Path, meta: str = DEPENDENCIES) -> None:
    (folder / "meta").mkdir(parents=True)
    (folder / "meta/main.yml").write_text(meta)
    option = f"{folder.name}_size: {{type: int, default: 3, description: Size.}}"
    (folder / "meta/argument_specs.yml").write_text(f"argument_specs: {{main: {{options: {{{option}}}}}}}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a Python environment's folder of collections, which has ``acme.tools`` with the group ``acme_disk``."""
    folder = tmp_path / "site" / "ansible_collections"
    collection = folder / "acme" / "tools"
    add_role(collection / "roles/acme_disk_fill")
    (collection / "meta").mkdir()
    (collection / "meta/groups.yml").write_text("acme_disk: Disks\n")
    add_role(folder / "other" / "things" / "roles/things_do")
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder.parent)])
    for cached in (groups, other_collections):
        cached.cache_clear()
    yield folder
    for cached in (groups, other_collections):
        cached.cache_clear()


def test_project_has_its_own_commands_and_those_of_other_collections(site: Path, tmp_path: Path) -> None:
    add_role(tmp_path / "roles/mine_start")
    add_role(tmp_path / "roles/web_server", "dependencies: []\n")
    project = Project(tmp_path)
    assert project.role("acme_disk_fill").full_name == "acme.tools.acme_disk_fill"
    assert project.role("mine_start").full_name == "mine_start"
    assert project.role("nfd_has_labels").full_name == "psap.perf.nfd_has_labels"
    assert not {"web_server", "things_do"} & set(project.roles)
    assert split_role("acme_disk_fill") == ("acme_disk", "fill")
    assert project.argument("mine_start_size") is not None


def test_flows_of_other_collections_need_the_published_collection(site: Path, tmp_path: Path) -> None:
    tools = site / "acme" / "tools"
    for folder in ("flows/acme_wipe", "playbooks", "presets"):
        (tools / folder).mkdir(parents=True)
    option = "acme_wipe_size: {argument: acme_disk_fill_size}"
    (tools / "flows/acme_wipe/settings.yml").write_text(f"options: {{{option}}}\n")
    (tools / "playbooks/acme_wipe.yml").touch()
    (tools / "presets/acme_wipe.yml").write_text("preset_acme_wipe: {acme_wipe_size: 7}\n")
    assert "acme_wipe" not in Project(tmp_path).flows

    (tmp_path / "collections/ansible_collections/psap/perf/flows").mkdir(parents=True)
    project = Project(tmp_path)
    assert project.flows == ("acme_wipe",)
    assert project.playbook("acme_wipe") == tools / "playbooks/acme_wipe.yml"
    assert project.task_folders["acme_wipe"] == tools / "flows/acme_wipe"
    setting = project.setting("acme_wipe_size")
    assert setting is not None
    assert setting.default == 3
    assert dict(project.presets) == {"acme_wipe": tools / "presets/acme_wipe.yml"}


def test_command_outside_the_collection_has_the_arguments_of_its_shared_roles(tmp_path: Path) -> None:
    add_role(tmp_path / "roles/mine_start")
    names = [option.name for option in Project(tmp_path).command("mine_start").arguments]
    assert names[0] == "mine_start_size"
    assert "shared_load_job_image" in names


def test_name_of_two_commands_is_refused_and_others_work(tmp_path: Path) -> None:
    add_role(tmp_path / "roles/nfd_has_labels")
    add_role(tmp_path / "roles/mine_start")
    project = Project(tmp_path)
    both = r"psap/perf/roles/nfd_has_labels and .*/roles/nfd_has_labels are commands of one name; rename one of them"
    with pytest.raises(UsageError, match=both):
        project.command("nfd_has_labels")
    assert project.command("mine_start").argument("mine_start_size") is not None
    assert "nfd_has_labels" not in [command.role for command in project.every_command]
    (problem,) = check_declarations(project)
    assert (problem.where, problem.fatal) == ("nfd_has_labels", False)
    assert re.search(both, problem.message)


def test_rights_of_a_projects_command_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_RUN_DIR", str(tmp_path))
    monkeypatch.setenv("PERF_PROJECT_DIR", str(tmp_path))
    add_role(tmp_path / "roles/mine_start")
    with pytest.raises(UsageError, match="the role mine_start has no meta"):
        rules_of("mine_start")
    (tmp_path / "roles/mine_start/meta/rights.yml").write_text("rights: [{kinds: [Pod], verbs: [get]}]\n")
    assert rules_of("mine_start") == [{"kinds": ["Pod"], "verbs": ["get"]}]
    with pytest.raises(UsageError, match="unknown command mine_stop; did you mean mine_start"):
        rules_of("mine_stop")
