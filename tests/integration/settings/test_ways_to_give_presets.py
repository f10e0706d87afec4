"""Values and origins do not depend on how presets and overrides are passed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from perfdrv.command_line.run_options import RunOptions, extra_vars_of
from perfdrv.project import Project

from tests.standins.awx.jobs import extra_vars_file


def as_files(presets: list[str], overrides: list[tuple[str, str]]) -> list[str]:
    """Pass ``-e @presets/x.yml`` and ``-e k=v``: the first override before them, the others after."""
    files = [argument for name in presets for argument in ("-e", f"@presets/{name}.yml")]
    pairs = [argument for key, value in overrides for argument in ("-e", f"{key}={value}")]
    return [*pairs[:2], *files, *pairs[2:]]


def as_names(presets: list[str], overrides: list[tuple[str, str]]) -> list[str]:
    """Pass what the driver passes for ``-p x -s k=v``: JSON with text values."""
    pairs = [argument for key, value in overrides for argument in ("-e", json.dumps({key: value}))]
    return [*pairs[:2], "-e", json.dumps({"perf_presets": presets}), *pairs[2:]]


def as_driver(presets: list[str], overrides: list[tuple[str, str]], project: Any) -> list[str]:
    """Pass ``perfdrv run -s k=v -p x … -s k=v …`` as the driver does."""
    settings = [("settings", f"{key}={value}") for key, value in overrides]
    named = [("presets", name) for name in presets]
    given = RunOptions(overrides=(*settings[:1], *named, *settings[1:]))
    words = extra_vars_of(given, Project(project.root))
    return [argument for word in words for argument in ("-e", word)]


def as_awx(presets: list[str], overrides: list[tuple[str, str]], project: Any) -> list[str]:
    """Pass everything in ansible-runner's one file, including AWX's own variables."""
    text = extra_vars_file({"perf_presets": presets, **dict(overrides)}, {}, {"job_id": 7})
    return ["-e", f"@{project.write('runner/env/extravars', text)}"]


def test_answers_of_a_survey_apply(project: Any) -> None:
    """Ansible converts AWX's ``!unsafe '2.10'`` to a number, and an empty answer to null."""
    given = {"tiny_name": "2.10", "tiny_count": 16, "tiny_rate": "", "tiny_kind": "not set", "tiny_items": "[p, '7']"}
    path = project.write("runner/env/extravars", extra_vars_file(given, {"tiny_flag": True}, {"job_id": 7}))

    entries = project.run("-e", f"@{path}").document["all"]

    assert entries["tiny_name"] == {"value": "2.10", "origin": "command line"}
    assert entries["tiny_count"] == {"value": 16, "origin": "command line"}
    assert entries["tiny_items"] == {"value": ["p", "7"], "origin": "command line"}
    assert entries["tiny_flag"]["value"] is True
    assert entries["tiny_rate"] == {"value": 0.5, "origin": "default (playbooks/tiny/settings.yml)"}
    assert entries["tiny_kind"] == {"value": "Job", "origin": "default (playbooks/tiny/settings.yml)"}


@pytest.mark.parametrize(
    ("presets", "overrides"),
    [
        pytest.param(["one"], [], marks=pytest.mark.deep),
        pytest.param(["left", "right"], [], marks=pytest.mark.deep),
        (["left", "right"], [("tiny_count", "16"), ("tiny_flag", "yes"), ("tiny_tree.inner.beta", "7")]),
    ],
    ids=["one", "two-that-extend", "overrides-around"],
)
def test_values_and_origins_are_equal(project: Any, presets: list[str], overrides: list[tuple[str, str]]) -> None:
    documents = [
        project.run(*as_files(presets, overrides)).document,
        project.run(*as_names(presets, overrides)).document,
        project.run(*as_driver(presets, overrides, project)).document,
        project.run(*as_awx(presets, overrides, project)).document,
    ]

    assert documents[0] == documents[1] == documents[2] == documents[3]


def test_origins_name_file_and_line(project: Any) -> None:
    entries = project.run(*as_files(["left", "right"], [("tiny_name", "me")])).document["all"]

    assert entries["tiny_rate"] == {"value": 1.5, "origin": "presets/left.yml:3"}
    assert entries["tiny_items"] == {"value": ["x", "y"], "origin": "presets/right.yml:4"}
    # the second preset extends its parent after its own 8
    assert entries["tiny_count"] == {"value": 2, "origin": "presets/base.yml:3"}
    assert entries["tiny_name"] == {"value": "me", "origin": "command line"}
    assert entries["tiny_flag"] == {"value": False, "origin": "default (playbooks/tiny/settings.yml)"}
    assert entries["tiny_tree"] == {
        "value": {"r": 5, "inner": {"alpha": 9, "beta": 3}},
        "origin": "default (playbooks/tiny/settings.yml), presets/left.yml:4, presets/right.yml:5",
    }


@pytest.mark.deep
def test_number_is_equal_however_it_is_passed(project: Any) -> None:
    preset = project.run("-e", "@presets/one.yml").values["tiny_count"]
    pair = project.run("-e", "tiny_count=4").values["tiny_count"]
    text = project.run("-e", '{"tiny_count": "4"}').values["tiny_count"]
    number = project.run("-e", '{"tiny_count": 4}').values["tiny_count"]

    assert [preset, pair, text, number] == [4, 4, 4, 4]
    assert {type(value) for value in (preset, pair, text, number)} == {int}


def test_command_line_texts_get_their_declared_types(project: Any) -> None:
    values = project.run(
        "-e", "tiny_count=[1,2]", "-e", "tiny_flag=yes", "-e", "tiny_rate=2", "-e", "tiny_items='[p, q]'",
        "-e", "tiny_name=4", "-e", "tiny_kind='[Job, Pod]'", "-e", '{"tiny_tree": "{r: [1, 2]}"}',
    ).values  # fmt: skip

    assert values["tiny_count"] == [1, 2]
    assert values["tiny_flag"] is True
    assert values["tiny_rate"] == 2.0
    assert values["tiny_items"] == ["p", "q"]
    assert values["tiny_name"] == "4"
    assert values["tiny_kind"] == ["Job", "Pod"]
    assert values["tiny_tree"] == {"r": [1, 2]}


def test_site_presets_are_below_those_of_the_command_line(project: Any) -> None:
    project.write("inventories/site/group_vars/all.yml", "perf_presets: [left]\n")

    entries = project.run("-e", "@presets/one.yml").document["all"]

    assert entries["tiny_name"]["origin"] == "presets/base.yml:2"
    assert entries["tiny_count"]["origin"] == "presets/one.yml:3"


def test_preset_of_another_flow_is_refused_unless_the_site_wants_it(project: Any) -> None:
    project.write(
        "playbooks/other/settings.yml", "options:\n  other_size: {type: int, default: 1, description: Size.}\n"
    )
    project.write("presets/foreign.yml", "preset_foreign:\n  other_size: 4\n")
    shared = (project.root / "playbooks/shared/settings.yml").read_text()
    project.write(
        "playbooks/shared/settings.yml", f"{shared}  clusters_profiles: {{type: dict, description: Profiles.}}\n"
    )

    refused = project.run("-e", "@presets/foreign.yml")
    of_profile = project.run("-e", "@presets/foreign.yml", "-e", '{"clusters_profiles": {"node-1": "foreign"}}')
    project.write("inventories/site/group_vars/all.yml", "perf_presets: [foreign]\n")
    of_site = project.run()

    assert (refused.code, of_profile.code, of_site.code) == (2, 0, 0)
    assert "presets/foreign.yml:2: the preset foreign does not change tiny, only other; " in refused.message


def test_presets_are_in_the_result(project: Any) -> None:
    project.write(
        "playbooks/tiny.yml",
        """\
- name: Settings
  hosts: localhost
  tasks:
    - name: Check
      psap.perf.settings:
        flow: tiny
      register: checked
    - name: Show
      ansible.builtin.debug:
        msg: "RESULT {{ {'presets': checked.presets, 'count': checked.settings.tiny_count} | to_json }}"
""",
    )

    outcome = project.run("-e", "@presets/one.yml", "-e", '{"perf_presets": "base,left"}')

    assert outcome.results == [{"presets": ["one", "base", "left"], "count": 2}]


def test_run_is_replayed(project: Any) -> None:
    first = project.run("-e", "@presets/left.yml", "-e", "tiny_name=me", "-e", "repo_probe_size=12").values
    recorded = project.write("runs/before/settings.yml", (project.run_directory / "settings.yml").read_text())
    project.write("presets/left.yml", "preset_left:\n  tiny_rate: 99.0\n")

    replayed = project.run("-e", f"perf_replay={recorded.parent}")
    changed = project.run("-e", "perf_replay=before", "-e", "@presets/one.yml", "-e", "tiny_name=other").values

    assert replayed.values == first
    assert replayed.document["all"]["tiny_rate"]["origin"].startswith("runs/before/settings.yml:")
    assert changed == {**first, "tiny_count": 4, "tiny_flag": True, "tiny_name": "other"}


def test_run_with_a_credential_is_replayed_only_with_it(project: Any) -> None:
    project.run("-e", "tiny_name=https://me:planted-word@host.example.com")
    text = (project.run_directory / "settings.yml").read_text()
    project.write("runs/before/settings.yml", text)

    refused = project.run("-e", "perf_replay=before")
    given = project.run("-e", "perf_replay=before", "-e", "tiny_name=whole").values

    assert "planted-word" not in text
    assert "the recorded value of tiny_name is incomplete because it contained a credential" in refused.message
    assert given["tiny_name"] == "whole"
