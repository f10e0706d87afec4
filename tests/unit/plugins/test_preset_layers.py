"""The vars plugin's values for every host: argument defaults below settings, bindings and group_vars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible._internal._datatag._tags import Origin, TrustedAsTemplate
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.plugin_utils.settings.preset_layers import PresetLayers

ROLES = "collections/ansible_collections/psap/perf/roles"
FILES = {
    "playbooks/tune/settings.yml": "options:\n  tune_gpus: {argument: repo_probe_size, default: 1}\n",
    f"{ROLES}/repo_probe/meta/main.yml": "dependencies:\n  - role: psap.perf.shared_probe\n",
    f"{ROLES}/repo_probe/meta/argument_specs.yml": """\
argument_specs:
  main:
    options:
      repo_probe_size: {type: int, default: 3, description: Size.}
      repo_probe_text: {type: str, default: '{{ other }}', description: Text.}
      repo_probe_limit: {type: int, description: Limit.}
      repo_probe_name: {type: str, required: true, description: Name.}
""",
    f"{ROLES}/shared_probe/meta/argument_specs.yml": (
        "argument_specs: {main: {options: {shared_probe_names: {type: list, default: [a], description: Names.}}}}\n"
    ),
    "inventories/site/hosts.yml": "all:\n  hosts:\n    sutest:\n",
}


def values(root: Path, changed: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the plugin's values for the group ``all`` of a small project with some changed files."""
    for name, text in {**FILES, **(changed or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    loader = DataLoader()
    loader.set_basedir(str(root / "playbooks"))
    inventory = InventoryManager(loader, sources=[str(root / "inventories/site")])
    return PresetLayers(Project(root), loader, {}).for_everyone(inventory.groups["all"], str(root / "playbooks"))


def test_arguments_have_the_defaults_of_their_specification(tmp_path: Path) -> None:
    given = values(tmp_path)
    assert given["repo_probe_text"] == "{{ other }}"
    assert given["repo_probe_limit"] is None
    assert given["shared_probe_names"] == ["a"]
    assert "repo_probe_name" not in given


def test_default_is_a_template_that_ansible_may_render(tmp_path: Path) -> None:
    text = values(tmp_path)["repo_probe_text"]
    assert TrustedAsTemplate.is_tagged_on(text)
    origin = Origin.get_tag(text)
    assert origin is not None
    assert (origin.path, origin.line_num) == (str(tmp_path / f"{ROLES}/repo_probe/meta/argument_specs.yml"), 5)


def test_binding_overrides_the_default_of_its_argument(tmp_path: Path) -> None:
    assert "tune_gpus" in values(tmp_path)["repo_probe_size"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("playbooks/group_vars/all.yml", "repo_probe_limit: 5\n"),
        ("inventories/site/hosts.yml", "all:\n  vars: {repo_probe_limit: 5}\n"),
    ],
)
def test_value_of_the_group_all_replaces_the_default(tmp_path: Path, file: str, text: str) -> None:
    given = values(tmp_path, {file: text})
    assert "repo_probe_limit" not in given
    assert "repo_probe_text" in given


def test_published_role_keeps_its_own_defaults(tmp_path: Path) -> None:
    given = values(tmp_path, {f"{ROLES}/repo_probe/defaults/main.yml": "repo_probe_limit: 7\n"})
    assert "repo_probe_limit" not in given
    assert "shared_probe_names" in given
