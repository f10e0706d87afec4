"""Settings read from the files alone, as by ``perfdrv settings``."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import (
    all_layers,
    effective,
    explain,
    find_run,
    replay_entries,
)
from ansible_collections.psap.perf.plugins.plugin_utils.settings.site_reader import read_site

COLLECTION = "collections/ansible_collections/psap/perf"
FILES = {
    "playbooks/tune/settings.yml": (
        "options:\n  tune_gpus: {type: int, default: 1, dimension: true, description: GPUs.}\n"
        "  tune_name: {type: str, default: nobody, description: Name.}\n"
        "  tune_tree: {type: dict, default: {r: 1}, description: Tree.}\n"
    ),
    f"{COLLECTION}/roles/repo_probe/meta/argument_specs.yml": (
        "argument_specs:\n  main:\n    options:\n      repo_probe_size: {type: int, default: 3, description: Size.}\n"
    ),
    f"{COLLECTION}/meta/renamed.yml": "settings: {tune_cards: tune_gpus}\n",
    "presets/big.yml": "# presets/big.yml - all of a node\npreset_big:\n  tune_gpus: 8\n  tune_tree.r: 4\n",
    "inventories/site/hosts.yml": (
        "all:\n  vars: {tune_name: inline}\n  children:\n    outer:\n      children:\n        inner:\n"
        "          hosts:\n            one: {tune_gpus: 2}\n            two:\n"
    ),
    "playbooks/tune.yml": "- hosts: all\n",
    "inventories/site/group_vars/outer.yml": "tune_name: outer\n",
    "inventories/site/group_vars/inner/names.yml": "tune_name: inner\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Project(tmp_path)


def test_host_settings_come_from_its_groups_and_itself(project: Project) -> None:
    site = read_site(project.root, str(project.root / "inventories/site"))
    one = effective(project, "tune", site.layers_of("one"))
    localhost = effective(project, "tune", site.layers_of())

    assert (one["tune_name"].value, one["tune_name"].origin) == (
        "inner",
        "inventories/site/group_vars/inner/names.yml:1",
    )
    assert (one["tune_gpus"].value, one["tune_gpus"].origin) == (2, "inventories/site/hosts.yml:8")
    assert (localhost["tune_name"].value, localhost["tune_gpus"].value) == ("inline", 1)
    assert sorted(site.hosts) == ["localhost", "one", "two"]


def test_presets_and_overrides_come_last(project: Project) -> None:
    found = effective(project, "tune", (), ["big"], [("tune_name", "me"), ("tune_tree.x", "2")])

    assert found["tune_gpus"].origin == "presets/big.yml:3"
    assert found["tune_tree"].value == {"r": 4, "x": 2}
    assert found["tune_name"].origin == "command line"


def test_ansible_variable_on_the_command_line_is_ignored(project: Project) -> None:
    assert "ansible_user" not in effective(project, "tune", (), [], [("ansible_user", "me"), ("_mine", 1)])


def test_explain_shows_every_layer_of_settings_and_arguments(project: Project) -> None:
    below = read_site(project.root, str(project.root / "inventories/site")).layers_of("one")
    layers = all_layers(project, "tune", below, ["big"], [("tune_gpus", "[1, 2]")])
    explanation = explain(project, "tune", layers, "tune_gpus")
    argument = explain(project, None, all_layers(project, None, (), [], [("repo_probe_size", "5")]), "repo_probe_size")

    assert explanation.value == [1, 2]
    assert [(one.kind, one.value, one.wins) for one in explanation.layers] == [
        ("default", 1, False),
        ("host_vars", 2, False),
        ("preset big", 8, False),
        ("command line", [1, 2], True),
    ]
    assert [one.origin for one in argument.layers] == [
        f"default ({COLLECTION}/roles/repo_probe/meta/argument_specs.yml)",
        "command line",
    ]


def test_unavailable_value_has_a_reason(project: Project) -> None:
    with pytest.raises(UsageError, match="unknown setting or argument tune_gpu; did you mean tune_gpus"):
        explain(project, "tune", all_layers(project, "tune"), "tune_gpu")
    with pytest.raises(UsageError, match="unknown flow tun; did you mean tune"):
        effective(project, "tun")
    with pytest.raises(UsageError, match="unknown preset bug; did you mean big"):
        effective(project, "tune", (), ["bug"])
    with pytest.raises(UsageError, match=r"tune_gpus must be an int, but is the text 'x' \(command line\)"):
        effective(project, "tune", (), [], [("tune_gpus", "x")])
    with pytest.raises(UsageError, match="unknown setting or argument tune_gpsu; did you mean tune_gpus"):
        effective(project, "tune", (), [], [("tune_gpsu", "1")])


def test_replay_uses_current_names_and_repeats_arguments(project: Project) -> None:
    run = project.root / "runs" / "before"
    run.mkdir(parents=True)
    (run / "settings.yml").write_text(
        "all:\n  tune_cards: {value: 4, origin: presets/x.yml:1}\n"
        "  repo_probe_size: {value: 7, origin: command line}\nhosts:\n  one:\n    tune_cards: {value: 6, origin: x}\n"
    )

    entries, arguments = replay_entries(find_run(project.root / "runs", "before"), project, "one")

    assert [(entry.key, entry.value, str(entry.where)) for entry in entries] == [
        ("tune_gpus", 4, "runs/before/settings.yml:2"),
        ("tune_gpus", 6, "runs/before/settings.yml:6"),
    ]
    assert arguments == {"repo_probe_size": 7}
    with pytest.raises(UsageError, match="no run nothing with a settings"):
        find_run(project.root / "runs", "nothing")


def test_refused_value_is_not_explained_as_applied(project: Project) -> None:
    (project.root / "playbooks" / "tune.yml").write_text("- hosts: all\n  vars: {repo_probe_size: 5}\n")
    (project.root / "presets" / "big.yml").write_text("preset_big:\n  repo_probe_size: 9\n")

    with pytest.raises(UsageError, match=r"big.yml:2: repo_probe_size is an argument that playbooks/tune.yml:2 binds"):
        explain(project, "tune", all_layers(project, "tune", (), ["big"]), "repo_probe_size")
