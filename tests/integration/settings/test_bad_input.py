"""Bad input: each is one clear error with its place and a remedy, before any change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.check import check_project
from perfdrv.ansible.sites import read_inventories
from perfdrv.project import Project

PRESET = ["-e", "@presets/bad.yml"]


@dataclass(frozen=True)
class Bad:
    """Invalid files and arguments, and the required parts of the message about them."""

    name: str
    says: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    # input on the command line cannot be found in the files
    in_files: bool = True


CASES = [
    Bad(
        "unknown-in-preset",
        ("presets/bad.yml:2:", "unknown setting or argument tiny_conut", "did you mean tiny_count?"),
        {"presets/bad.yml": "preset_bad:\n  tiny_conut: 4\n"},
        PRESET,
    ),
    Bad(
        "unknown-in-preset-and-nothing-like-ours",
        ("presets/bad.yml:2:", "unknown setting or argument colour", "lists the settings"),
        {"presets/bad.yml": "preset_bad:\n  colour: red\n"},
        PRESET,
    ),
    Bad(
        "unknown-in-group-vars",
        ("group_vars/all/bad.yml:2:", "unknown setting or argument tiny_nmae", "did you mean tiny_name?"),
        {"group_vars/all/bad.yml": "my_own: 1\ntiny_nmae: x\n"},
    ),
    Bad(
        "unknown-in-site",
        ("inventories/site/group_vars/all.yml:1:", "tiny_flug", "did you mean tiny_flag?"),
        {"inventories/site/group_vars/all.yml": "tiny_flug: true\n"},
    ),
    Bad(
        "unknown-in-host-vars",
        ("inventories/site/host_vars/sutest.yml:1:", "tniy_count", "did you mean tiny_count?"),
        {"inventories/site/host_vars/sutest.yml": "tniy_count: 1\n"},
    ),
    Bad(
        "unknown-on-the-command-line",
        ("command line:", "unknown setting or argument count", "did you mean tiny_count?"),
        arguments=["-e", "count=4"],
        in_files=False,
    ),
    Bad(
        "misspelled-name-of-our-own",
        ("command line:", "unknown variable perf_preset", "did you mean perf_presets?"),
        arguments=["-e", "perf_preset=one"],
        in_files=False,
    ),
    Bad(
        "wrong-type-in-preset",
        ("presets/bad.yml:2:", "tiny_count must be an int, but is the text 'four'"),
        {"presets/bad.yml": "preset_bad:\n  tiny_count: four\n"},
        PRESET,
    ),
    Bad(
        "quoted-number-in-preset",
        ("presets/bad.yml:2:", "tiny_count must be an int, but is the text '4'"),
        {"presets/bad.yml": 'preset_bad:\n  tiny_count: "4"\n'},
        PRESET,
    ),
    Bad(
        "wrong-type-in-a-list-of-values",
        ("presets/bad.yml:2:", "tiny_count must be an int, but is 2.5 (float)"),
        {"presets/bad.yml": "preset_bad:\n  tiny_count: [1, 2.5]\n"},
        PRESET,
    ),
    Bad(
        "wrong-type-on-the-command-line",
        ("command line:", "tiny_count must be an int, but is the text 'four'"),
        arguments=["-e", "tiny_count=four"],
        in_files=False,
    ),
    Bad(
        "unknown-choice",
        ("presets/bad.yml:2:", "tiny_kind must be one of Job, Pod, but is the text 'Jop'", "did you mean Job?"),
        {"presets/bad.yml": "preset_bad:\n  tiny_kind: [Job, Jop]\n"},
        PRESET,
    ),
    Bad(
        "unknown-preset",
        ("command line:", "unknown preset onn", "did you mean one?"),
        arguments=["-e", '{"perf_presets": ["onn"]}'],
        in_files=False,
    ),
    Bad(
        "unknown-preset-in-extends",
        ("presets/bad.yml:2", "unknown preset onn", "did you mean one?"),
        {"presets/bad.yml": "preset_bad:\n  extends: [onn]\n"},
        PRESET,
    ),
    Bad(
        "loop",
        ("presets/other.yml:2", "in a loop: bad → other → bad", "remove one of these extends"),
        {
            "presets/bad.yml": "preset_bad:\n  extends: [other]\n",
            "presets/other.yml": "preset_other:\n  extends: bad\n",
        },
        PRESET,
    ),
    Bad(
        "file-and-variable-of-different-names",
        (
            "presets/bad.yml:1",
            "bad.yml defines preset_good",
            "rename the variable to preset_bad, or the file to good.yml",
        ),
        {"presets/bad.yml": "preset_good:\n  tiny_count: 4\n"},
        PRESET,
    ),
    Bad(
        "values-beside-the-preset",
        ("presets/bad.yml:2", "bad.yml sets tiny_count outside its preset", "move it into preset_bad"),
        {"presets/bad.yml": "preset_bad: {}\ntiny_count: 4\n"},
        PRESET,
    ),
    Bad(
        "preset-given-in-place",
        ("command line", "write it to presets/x.yml and pass -e @presets/x.yml"),
        arguments=["-e", '{"preset_x": {"tiny_count": 4}}'],
        in_files=False,
    ),
    Bad(
        "leaf-of-no-dictionary",
        ("presets/bad.yml:2", "tiny_name.first sets a leaf of tiny_name, which is not a dictionary", "as a whole"),
        {"presets/bad.yml": "preset_bad:\n  tiny_name.first: x\n"},
        PRESET,
    ),
    Bad(
        "duplicate-key-in-preset",
        ("presets/bad.yml:3", "duplicate key tiny_count, first in line 2", "remove one"),
        {"presets/bad.yml": "preset_bad:\n  tiny_count: 4\n  tiny_count: 5\n"},
        ["-e", '{"perf_presets": ["bad"]}'],
    ),
    Bad(
        "literal-secret",
        ("presets/bad.yml:2:", "tiny_token must name a secret, not be one: file:NAME"),
        {"presets/bad.yml": "preset_bad:\n  tiny_token: hunter2-hunter2\n"},
        PRESET,
    ),
    Bad(
        "missing-secret",
        ("command line:", "tiny_token: the secret env:NOWHERE is missing: set NOWHERE in the environment"),
        arguments=["-e", "tiny_token=env:NOWHERE"],
        in_files=False,
    ),
    Bad(
        "preset-sets-a-bound-argument",
        (
            "presets/bad.yml:2:",
            "repo_probe_name is an argument that group_vars/all/tiny.yml:1 binds",
            "-e repo_probe_name=",
        ),
        {"presets/bad.yml": "preset_bad:\n  repo_probe_name: x\n"},
        PRESET,
    ),
    Bad(
        "preset-sets-an-argument-of-an-include",
        ("presets/bad.yml:2:", "repo_probe_size is an argument that playbooks/tiny/part.yml:2 binds"),
        {
            "presets/bad.yml": "preset_bad:\n  repo_probe_size: 9\n",
            "playbooks/tiny/part.yml": "- name: Probe\n  vars: {repo_probe_size: 5}\n",
        },
        PRESET,
    ),
    Bad(
        "command-line-sets-what-a-setting-sets",
        ("command line: repo_probe_size is bound to the setting tiny_size; set tiny_size=…",),
        {
            "playbooks/tiny/settings.yml": (
                "short_description: Tiny\noptions: {tiny_size: {argument: repo_probe_size, dimension: true}}\n"
            )
        },
        ["-e", "repo_probe_size=9"],
        in_files=False,
    ),
    Bad(
        "rule-over-several",
        ("presets/bad.yml:2, presets/bad.yml:3:", "100 or more only as Jobs (tiny_count is 100, tiny_kind is Pod)"),
        {"presets/bad.yml": "preset_bad:\n  tiny_count: [1, 100]\n  tiny_kind: [Job, Pod]\n"},
        PRESET,
    ),
    Bad(
        "expression-over-nothing",
        (
            "presets/bad.yml:2:",
            "matrix_skip_if reads tiny_cout, which is not a dimension of the matrix; did you mean tiny_count?",
        ),
        {"presets/bad.yml": "preset_bad:\n  matrix_skip_if: ['tiny_cout > 1']\n"},
        PRESET,
    ),
    Bad(
        "experiment-over-nothing",
        (
            "presets/bad.yml:2:",
            "matrix_experiments sets tiny_cout, which is not a dimension of the matrix; did you mean tiny_count?",
        ),
        {"presets/bad.yml": "preset_bad:\n  matrix_experiments: [{tiny_cout: 1}]\n"},
        PRESET,
    ),
    Bad(
        "experiment-of-another-type",
        ("presets/bad.yml:2:", "matrix_experiments: tiny_count must be an int, but is the text 'x'"),
        {"presets/bad.yml": "preset_bad:\n  matrix_experiments: [{tiny_count: [1, x]}]\n"},
        PRESET,
    ),
]


def findings_of(project: Any) -> list[str]:
    """Return what ``settings check`` prints."""
    content = Project(project.root).content()
    no_site, *sites = read_inventories(Project(project.root), [None, *map(str, content.sites.values())])
    return [str(finding) for finding in check_project(content, dict(zip(content.sites, sites, strict=True)), no_site)]


# three cases of files show that Ansible reports the same; make test-deep runs them all
BY_ANSIBLE = ("unknown-in-preset", "wrong-type-in-preset", "loop")


def _by_ansible(bad: Bad) -> Any:
    marks = [pytest.mark.deep] if bad.in_files and bad.name not in BY_ANSIBLE else []
    return pytest.param(bad, id=bad.name, marks=marks)


@pytest.mark.parametrize("bad", [_by_ansible(bad) for bad in CASES])
def test_ansible_playbook_refuses_bad_input(project: Any, bad: Bad) -> None:
    for name, text in bad.files.items():
        project.write(name, text)
    outcome = project.run(*bad.arguments)

    assert outcome.code != 0
    for words in bad.says:
        assert words in outcome.message
    assert "Traceback" not in outcome.text
    assert "bug" not in outcome.text
    assert outcome.settings is None


@pytest.mark.parametrize("bad", [bad for bad in CASES if bad.in_files], ids=lambda bad: bad.name)
def test_settings_check_reports_bad_input(project: Any, bad: Bad) -> None:
    assert findings_of(project) == []
    for name, text in bad.files.items():
        project.write(name, text)

    findings = findings_of(project)

    assert any(all(words in finding for words in bad.says) for finding in findings), findings


def test_duplicate_key_in_group_vars_is_reported(project: Any) -> None:
    project.write("group_vars/all/bad.yml", "tiny_count: 1\ntiny_count: 2\n")

    outcome = project.run()
    findings = findings_of(project)

    assert outcome.code != 0
    says = "group_vars/all/bad.yml:2: duplicate key tiny_count, first in line 1; remove one"
    assert says in outcome.message
    assert findings == [says]


def test_all_mistakes_are_reported_together(project: Any) -> None:
    outcome = project.run("-e", "tiny_count=x", "-e", "tiny_flag=maybe", "-e", "nonsense=1")

    for words in ("tiny_count must be an int", "tiny_flag must be a bool", "unknown setting or argument nonsense"):
        assert words in outcome.message


def test_disabled_plugin_is_reported(project: Any) -> None:
    project.environment["ANSIBLE_VARS_ENABLED"] = "host_group_vars"

    outcome = project.run("-e", "@presets/one.yml")

    assert outcome.code != 0
    assert "the vars plugin psap.perf.presets is not enabled" in outcome.message
    assert "vars_plugins_enabled = host_group_vars, psap.perf.presets" in outcome.message


def test_foreign_names_are_allowed(project: Any) -> None:
    outcome = project.run(
        "-e", '{"awx_job_id": 1, "tower_user_name": "x", "ansible_verbosity": 1, "perf_kubeconfig": "k"}',
        "-e", "repo_probe_size=4",
    )  # fmt: skip

    assert outcome.values["repo_probe_size"] == 4
