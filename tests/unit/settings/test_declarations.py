"""``settings check`` on declarations, and on the bindings of a project's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.check import check_project
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import bindings
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import all_layers, explain
from ansible_collections.psap.perf.plugins.plugin_utils.settings.site_reader import read_site
from jinja2 import Environment

ROLE = "collections/ansible_collections/psap/perf/roles/repo_probe"
FILES = {
    "playbooks/tune/settings.yml": "options:\n  tune_gpus: {type: int, default: 1, description: GPUs.}\n",
    f"{ROLE}/meta/argument_specs.yml": (
        "argument_specs:\n  main:\n    short_description: Probe\n    options:\n"
        "      repo_probe_size: {type: int, default: 3, description: Size.}\n"
        "      repo_probe_limit: {type: int, description: Limit; none if not given.}\n"
    ),
    f"{ROLE}/tasks/main.yml": "- name: Probe\n  psap.perf.get:\n    limit: '{{ repo_probe_size }}'\n",
    "presets/big.yml": "preset_big:\n  tune_gpus: 8\n  repo_probe_size: 5\n",
    "inventories/site/hosts.yml": "all:\n  hosts:\n    sutest:\n",
}


def findings(root: Path, changed: dict[str, str] | None = None) -> list[str]:
    """Return the findings for the small project after some of its files were changed."""
    for name, text in {**FILES, **(changed or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    link = root / "playbooks" / "group_vars"
    if not link.is_symlink():
        link.symlink_to("../group_vars")
    project = Project(root)
    sites = {name: read_site(root, str(path)) for name, path in project.sites.items()}
    return [str(finding) for finding in check_project(project, sites, read_site(root, None))]


def test_valid_project_has_no_findings(tmp_path: Path) -> None:
    assert findings(tmp_path) == []


SHARED_ROLE = {
    f"{ROLE}/meta/main.yml": "dependencies: [{role: psap.perf.command}]\n",
    f"{ROLE.replace('repo_probe', 'shared_probe')}/meta/argument_specs.yml": (
        "argument_specs: {main: {options: {shared_probe_size: {type: int, description: Size.}}}}\n"
    ),
}


def test_shared_argument_of_another_name_is_bound_like_any_other(tmp_path: Path) -> None:
    declared = "options:\n  tune_gpus: {argument: shared_probe_size, default: 1}\n"
    assert findings(tmp_path, {**SHARED_ROLE, "playbooks/tune/settings.yml": declared}) == []

    project = Project(tmp_path)

    assert (project.roles, project.shared_roles) == (("repo_probe",), ("shared_probe",))
    assert project.role_of("shared_probe_size") == "shared_probe"
    [bound] = bindings(project.every_setting, project.argument)
    assert bound.key == "shared_probe_size"


def test_own_and_shared_argument_of_one_short_name_are_refused(tmp_path: Path) -> None:
    depending = {f"{ROLE}/meta/main.yml": "dependencies:\n  - role: psap.perf.shared_probe\n"}

    [found] = findings(tmp_path, {**SHARED_ROLE, **depending})

    assert "repo_probe_size has the short name of a shared argument; rename it" in found


def test_setting_has_the_type_of_the_argument_it_names(tmp_path: Path) -> None:
    declared = "options:\n  tune_size: {argument: repo_probe_size, default: 7, dimension: true}\n"
    assert findings(tmp_path, {"playbooks/tune/settings.yml": declared, "presets/big.yml": "preset_big: {}\n"}) == []

    project = Project(tmp_path)
    size = project.setting("tune_size")

    assert size is not None
    assert (size.type, size.default, size.help, size.arguments) == ("int", 7, "Size.", ("repo_probe_size",))
    layers = explain(project, "tune", all_layers(project, "tune"), "repo_probe_size").layers
    assert [(one.kind, one.origin, one.wins) for one in layers] == [
        ("default", f"default ({ROLE}/meta/argument_specs.yml)", False),
        ("group_vars", "playbooks/tune/settings.yml:2", True),
    ]


def test_argument_has_the_value_of_the_running_flow(tmp_path: Path) -> None:
    declared = {
        "presets/big.yml": "preset_big: {}\n",
        "playbooks/load/settings.yml": "options:\n  load_size: {argument: repo_probe_size, dimension: true}\n",
        "playbooks/tune/settings.yml": "options:\n  tune_size: {argument: repo_probe_size, default: 7}\n",
    }
    assert findings(tmp_path, declared) == []
    project = Project(tmp_path)
    [bound] = bindings(project.every_setting, project.argument)
    assert bound.key == "repo_probe_size"
    cell = {"load_size": 4, "tune_size": 7, "perf_cell": {"values": {"load_size": 5}}}

    def value(**variables: Any) -> str:
        return Environment().from_string(bound.value).render(**cell, **variables)

    assert [value(perf_flow="load"), value(perf_flow="tune")] == ["5", "7"]
    # Without the flow, it has its own default unless the setting is passed.
    assert [value(), value(perf_given_settings=["tune_size"])] == ["3", "7"]


def test_flow_argument_is_set_by_that_flows_setting(tmp_path: Path) -> None:
    for flow in ("load", "tune"):
        settings = f"options:\n  {flow}_size: {{argument: repo_probe_size}}\n"
        findings(tmp_path, {f"playbooks/{flow}/settings.yml": settings, "presets/big.yml": "preset_big: {}\n"})
    with pytest.raises(UsageError, match="is bound to the setting tune_size; set tune_size="):
        project = Project(tmp_path)
        layers = all_layers(project, "tune", (), (), (("repo_probe_size", 4),))
        explain(project, "tune", layers, "repo_probe_size")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "playbooks/tune/settings.yml",
            "options:\n  gpus: {type: int, description: x}\n",
            "playbooks/tune/settings.yml:2: gpus must begin with tune_, the name of its flow",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_gpus: {type: int, default: one, description: x}\n",
            "playbooks/tune/settings.yml:2: tune_gpus must be an int, but is the text 'one'",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_gpus: {argument: repo_probe_depth}\n",
            "playbooks/tune/settings.yml:2: tune_gpus is bound to the argument repo_probe_depth, which no command has",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_gpus: {argument: repo_probe_size}\n  tune_size: {argument: 'repo_*_size'}\n",
            "playbooks/tune/settings.yml:3: repo_probe_size is already bound to tune_gpus; remove one of the two",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_gpus: {argument: 'repo_probe_*'}\n",
            "playbooks/tune/settings.yml:2: tune_gpus is bound to repo_probe_size and repo_probe_limit, "
            "whose default differs; declare default",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_gpus: {argument: repo_probe_size}\n",
            "presets/big.yml:3: repo_probe_size is an argument that playbooks/tune/settings.yml:2 binds; set tune_gpus",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_gpus: {type: int}\n",
            "playbooks/tune/settings.yml:2: tune_gpus has no description",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_gpus: {type: int, description: x}\nrules:\n  - {assert: tune_gpu > 1, message: x}\n",
            "playbooks/tune/settings.yml:4: the rule reads tune_gpu, which is not a setting of tune",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_token: {no_log: true, default: 'env:X', description: x}\n",
            "playbooks/tune/settings.yml:2: tune_token is a secret; only an empty default is allowed",
        ),
        (
            "playbooks/tune/settings.yml",
            "options:\n  tune_gpus: {type: integer, description: x}\n",
            "playbooks/tune/settings.yml:2: the type of tune_gpus must be one of",
        ),
        (
            "playbooks/repo/settings.yml",
            "options:\n  repo_probe_gpus: {type: int, description: x}\n",
            "playbooks/repo/settings.yml:2: repo_probe_gpus looks like an argument of the command repo_probe",
        ),
        (
            "playbooks/shared/settings.yml",
            "options:\n  tune_gpus: {type: int, description: x}\n",
            "playbooks/shared/settings.yml:2: tune_gpus is already declared in playbooks/tune/settings.yml:2",
        ),
        (
            "group_vars/all/more.yml",
            "repo_probe_size: '{{ tune_gpus }}'\n",
            "presets/big.yml:3: repo_probe_size is an argument that group_vars/all/more.yml:1 binds",
        ),
        (
            "inventories/site/host_vars/sutest.yml",
            "repo_probe_size: 4\n",
            "presets/big.yml:3: repo_probe_size is an argument that inventories/site/host_vars/sutest.yml:1 binds",
        ),
        (
            "playbooks/tune/test.yml",
            "- name: Test\n  block:\n    - name: Probe\n      vars:\n        repo_probe_size: 4\n",
            "presets/big.yml:3: repo_probe_size is an argument that playbooks/tune/test.yml:5 binds",
        ),
        (
            "presets/Odd-Name.yml",
            "preset_x: {}\n",
            "presets/Odd-Name.yml:1: invalid preset name Odd-Name: begin with a lower-case letter",
        ),
        (
            "inventories/site/hosts.yml",
            "all:\n  vars:\n    tune_tree.r: 4\n",
            "inventories/site/hosts.yml:3: tune_tree.r: only group_vars and host_vars files can set a leaf",
        ),
        (
            "inventories/site/hosts.yml",
            "all:\n  hosts:\n    sutest:\n      tune_gpus: many\n",
            "inventories/site/hosts.yml:4: tune_gpus must be an int, but is the text 'many'",
        ),
    ],
)
def test_mistake_is_found_with_its_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    found = findings(tmp_path, {name: text})

    assert any(finding.startswith(message) for finding in found), found


def test_name_in_two_files_of_one_folder_is_found(tmp_path: Path) -> None:
    found = findings(
        tmp_path, {"group_vars/all/a.yml": "tune_gpus: 1\n", "group_vars/all/b.yml": "other: 1\ntune_gpus: 2\n"}
    )

    assert found == ["group_vars/all/b.yml:2: tune_gpus is also set in group_vars/all/a.yml:1; remove one"]


def test_former_name_leads_to_the_new_one(tmp_path: Path) -> None:
    renamed = "collections/ansible_collections/psap/perf/meta/renamed.yml"

    found = findings(
        tmp_path, {renamed: "settings: {tune_cards: tune_gpus}\n", "presets/old.yml": "preset_old: {tune_cards: 1}\n"}
    )

    assert found == ["presets/old.yml:1: tune_cards was renamed; use tune_gpus"]


def test_former_dotted_name_leads_to_the_new_leaf(tmp_path: Path) -> None:
    renamed = "collections/ansible_collections/psap/perf/meta/renamed.yml"
    old = "preset_old: {tests.cards: 1, tests.options.rank: 4, tests.other: 1}\n"

    found = findings(
        tmp_path, {renamed: "settings: {tests.cards: tune_gpus, tests.options: tune_hyper}\n", "presets/old.yml": old}
    )

    assert found == [
        "presets/old.yml:1: tests.cards was renamed; use tune_gpus",
        "presets/old.yml:1: tests.options.rank was renamed; use tune_hyper.rank",
        "presets/old.yml:1: unknown setting or argument tests; perfdrv settings show lists the settings of a flow",
    ]


def test_every_former_name_leads_to_a_current_setting() -> None:
    project = Project(Path(__file__).resolve().parents[3])
    assert project.renamed
    assert [name for name in project.renamed.values() if project.setting(name) is None] == []
