"""A command alone has its own defaults, even if settings that are bound to its arguments have others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import all_layers
from ansible_collections.psap.perf.plugins.plugin_utils.settings.site_reader import read_site

PROJECT = Path(__file__).resolve().parents[3]
UNSET = "<unset>"
PLAYBOOK = """\
- name: Show arguments
  hosts: {host}
  gather_facts: false
  tasks:
    - name: Write them
      ansible.builtin.copy:
        content: "{{{{ {{{values}}} | to_json }}}}"
        dest: "{file}"
        mode: "0600"
"""


@pytest.fixture(scope="module")
def project() -> Project:
    return Project(PROJECT)


def arguments_of(project: Project) -> dict[str, Any]:
    """Return every argument that a setting or the project's group_vars bind, with the command's own default."""
    assigned = {
        one.variable
        for layer in all_layers(project, None, read_site(PROJECT, None).layers_of())
        for one in layer.assignments
    }
    options = [project.argument(name) for name in sorted(assigned)]
    return {each.name: UNSET if each.required else each.default for each in options if each is not None}


def values_of(project: Project, folder: Path, names: list[str], *words: str, host: str = "localhost") -> dict[str, Any]:
    """Return the values of a play that is not a flow."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = ", ".join(f"'{name}': {name} | default('{UNSET}')" for name in names)
    playbook = project.root / "playbooks" / f"shown-{folder.name}.yml"
    file = folder / "values.json"
    playbook.write_text(PLAYBOOK.format(host=host, values=shown, file=file), encoding="utf-8")
    command = Path(sys.executable).with_name("ansible-playbook")
    try:
        ended = subprocess.run(
            [command, "-i", "inventories/local", playbook, *words],
            cwd=project.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        playbook.unlink()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return values


def test_bound_arguments_keep_command_defaults_outside_a_flow(project: Project, tmp_path: Path) -> None:
    own = arguments_of(project)
    assert own

    values = values_of(project, tmp_path / "alone", list(own), host="sutest")

    assert {name: value for name, value in values.items() if value != own[name]} == {}


def test_passed_setting_reaches_a_command_and_flows_have_defaults(project: Project, tmp_path: Path) -> None:
    names = ["quads_request_assignment_count", "quads_find_hosts_url", "shared_wisdom_job_namespace"]

    given = values_of(project, tmp_path / "given", names, "-e", "quads_count=4", "-e", "quads_url=http://q")
    flow = values_of(project, tmp_path / "flow", names, "-e", "perf_flow=lightspeed")

    assert list(given.values()) == [4, "http://q", "wisdom"]
    assert list(flow.values()) == [1, "", "psap-perf-lightspeed"]
