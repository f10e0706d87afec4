"""The repository's own settings as Ansible reads them, compared with what the project reads without Ansible."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective
from perfdrv.ansible.sites import read_site
from perfdrv.project import Project as DriverProject

REPOSITORY = Path(__file__).resolve().parents[3]

SETTINGS_ONLY = """\
- name: Settings
  hosts: sutest
  tasks:
    - name: Check
      psap.perf.settings:
        flow: FLOW
"""


@pytest.mark.parametrize(
    ("flow", "preset"), [("scale_test", "lab"), ("scale_test", "scale_test_matrix"), ("fine_tuning", "fine_tuning_dgx")]
)
def test_ansible_and_the_driver_agree_on_every_setting(project: Any, flow: str, preset: str) -> None:
    for name in ("group_vars", "presets", "inventories", "roles"):
        subprocess.run(["rm", "-r", str(project.root / name)], check=True)
    for name in ("group_vars", "presets", "inventories"):
        (project.root / name).symlink_to(REPOSITORY / name)
    (project.root / "roles").symlink_to(REPOSITORY / "collections/ansible_collections/psap/perf/roles")
    for path in REPOSITORY.glob("playbooks/*/settings.yml"):
        project.write(f"playbooks/{path.parent.name}/settings.yml", path.read_text())
        if path.parent.name != "shared":
            project.write(f"playbooks/{path.parent.name}.yml", SETTINGS_ONLY.replace("FLOW", path.parent.name))

    outcome = project.run(
        "-e", json.dumps({"perf_presets": [preset]}), playbook=f"playbooks/{flow}.yml", site="inventories/lab"
    )  # fmt: skip
    site = read_site(DriverProject(REPOSITORY), "lab")
    known = effective(Project(REPOSITORY), flow, site.layers_of("sutest"), [preset])

    recorded = outcome.document["all"]
    assert {name: entry["value"] for name, entry in recorded.items()} == {name: known[name].value for name in recorded}
    assert {name: Path(entry["origin"]).name for name, entry in recorded.items()} == {
        name: Path(known[name].origin).name for name in recorded
    }


def test_specs_are_read_as_ansible_reads_them() -> None:
    project = Project(REPOSITORY)
    roles = (*project.roles, *project.shared_roles)
    done = subprocess.run(
        ["ansible-doc", "--type", "role", "--json", *(f"psap.perf.{role}" for role in roles)],
        cwd=REPOSITORY,
        text=True,
        capture_output=True,
        check=True,
    )
    documented = {
        name.rpartition(".")[2]: entry["entry_points"]["main"] for name, entry in json.loads(done.stdout).items()
    }

    for role in roles:
        ours = project.command(role)
        theirs = documented[role]
        assert ours.short_description == theirs["short_description"]
        assert options_of(ours.own_arguments) == {
            name: summary(body) for name, body in theirs.get("options", {}).items()
        }


def options_of(options: tuple[Option, ...]) -> dict[str, Any]:
    return {
        one.name: {
            "type": one.type,
            "default": one.default,
            "required": one.required,
            "choices": list(one.choices),
            "elements": one.elements,
            "options": options_of(one.options),
        }
        for one in options
    }


def summary(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": body.get("type", "str"),
        "default": body.get("default"),
        "required": body.get("required", False),
        "choices": body.get("choices", []),
        "elements": body.get("elements"),
        "options": {name: summary(nested) for name, nested in body.get("options", {}).items()},
    }
