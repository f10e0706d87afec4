"""Presets and defaults apply wherever Ansible is started: molecule's folders, ansible-inventory, AWX's layout."""

from __future__ import annotations

import json
import subprocess
from typing import Any


def test_presets_apply_in_a_molecule_scenario(project: Any) -> None:
    """Molecule writes its ansible.cfg elsewhere; the playbook is two folders below the project."""
    configuration = project.write(
        "elsewhere/ansible.cfg",
        "[defaults]\nvars_plugins_enabled = host_group_vars, psap.perf.presets\n"
        f"collections_path = {project.root / 'collections'}\n",
    )
    project.environment["ANSIBLE_CONFIG"] = str(configuration)
    project.write("molecule/tiny/converge.yml", (project.root / "playbooks/tiny.yml").read_text())

    entries = project.run("-e", '{"perf_presets": ["one"]}', playbook="molecule/tiny/converge.yml").document["all"]

    assert entries["tiny_count"] == {"value": 4, "origin": "presets/one.yml:3"}
    assert entries["tiny_name"] == {"value": "nobody", "origin": "default (playbooks/tiny/settings.yml)"}


def test_presets_apply_with_an_inventory_script_of_awx(project: Any) -> None:
    """AWX imports a site's variables into its own inventory, so they come from a script and not from files."""
    inventory = {
        "all": {"vars": {"ansible_connection": "local", "tiny_name": "site", "perf_presets": ["one"]}},
        "clusters": {"hosts": ["sutest"], "vars": {"tiny_rate": 3.5}},
        "_meta": {"hostvars": {"sutest": {"tiny_count": 9}}},
    }
    script = project.write("awx/inventory", f"#!/bin/sh\ncat <<'END'\n{json.dumps(inventory)}\nEND\n")
    script.chmod(0o700)
    project.write("group_vars/all/tiny.yml", "tiny_name: base\ntiny_rate: 2.5\n")

    document = project.run(site="awx/inventory").document

    assert document["all"]["tiny_name"]["value"] == "site"
    assert document["all"]["tiny_count"] == {"value": 4, "origin": "presets/one.yml:3"}
    assert document["hosts"]["sutest"]["tiny_rate"]["value"] == 3.5


def test_ansible_inventory_shows_values_of_presets(project: Any) -> None:
    done = subprocess.run(
        ["ansible-inventory", "-i", "inventories/site", "--host", "sutest", "-e", "@presets/one.yml"],
        cwd=project.root,
        env=project.process_environment(),
        text=True,
        capture_output=True,
        check=True,
    )
    values = json.loads(done.stdout)

    assert (values["tiny_count"], values["tiny_flag"], values["tiny_name"]) == (4, True, "nobody")


def test_single_command_records_its_arguments(project: Any) -> None:
    project.write(
        "playbooks/toolbox.yml",
        "- name: One command\n  hosts: sutest\n  tasks:\n    - name: Check\n      psap.perf.settings:\n"
        "        command: repo_probe\n",
    )

    outcome = project.run("-e", "repo_probe_size=7", playbook="playbooks/toolbox.yml")
    refused = project.run("-e", "repo_probe_sise=7", playbook="playbooks/toolbox.yml")

    assert outcome.values == {"repo_probe_name": "nobody", "repo_probe_size": 7}
    assert "unknown setting or argument repo_probe_sise; did you mean repo_probe_size?" in refused.message


def test_two_sites_do_not_share_values(project: Any) -> None:
    other = (project.root / "inventories/site/hosts.yml").read_text()
    project.write("inventories/other/hosts.yml", other)
    project.write("inventories/other/group_vars/all.yml", "tiny_name: other\n")

    assert project.run().values["tiny_name"] == "nobody"
    assert project.run(site="inventories/other").document["all"]["tiny_name"] == {
        "value": "other",
        "origin": "inventories/other/group_vars/all.yml:1",
    }
