"""The conversion of extra vars from the command line's values to the run's values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.utils.vars import load_extra_vars
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import where
from ansible_collections.psap.perf.plugins.plugin_utils.settings.extra_vars import extra_layer, prepare_extra_vars

SETTINGS = """\
options:
  tune_gpus: {type: int, default: 1, dimension: true, description: GPUs.}
  tune_name: {type: str, default: nobody, description: Name.}
  tune_tree: {type: dict, default: {r: 1}, description: Tree.}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    path = tmp_path / "playbooks" / "tune" / "settings.yml"
    path.parent.mkdir(parents=True)
    path.write_text(SETTINGS)
    return Project(tmp_path)


def prepare(monkeypatch: pytest.MonkeyPatch, project: Project, given: dict[Any, Any]) -> dict[str, Any]:
    """Return Ansible's own extra vars after it read *given* and they were prepared."""
    monkeypatch.setattr(load_extra_vars, "extra_vars", given, raising=False)
    assert prepare_extra_vars(project, DataLoader()) is given
    return given


def test_texts_become_values_of_their_declared_type(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    given = {"tune_gpus": "[1, 2]", "tune_name": "4", "tune_tree": "{r: 2}", "other": "5"}

    assert prepare(monkeypatch, project, given) == {
        "tune_gpus": [1, 2], "tune_name": "4", "tune_tree": {"r": 2}, "other": "5"
    }  # fmt: skip


def test_text_of_another_type_stays_for_the_check(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    assert prepare(monkeypatch, project, {"tune_gpus": "many"}) == {"tune_gpus": "many"}


def test_leaf_joins_the_dictionary_beside_it(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    found = prepare(monkeypatch, project, {"tune_tree": {"r": 2}, "tune_tree.x": "3"})

    assert found["tune_tree"] == {"r": 2, "x": 3}


def test_preparing_again_changes_nothing(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    once = dict(prepare(monkeypatch, project, {"tune_gpus": "4", "tune_tree": "{r: 2}", "tune_tree.x": "3"}))

    assert prepare(monkeypatch, project, dict(once)) == once


def test_converted_value_keeps_file_and_line(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    path = project.root / "more.yml"
    path.write_text("\ntune_gpus: '4'\n")
    given = DataLoader().load_from_file(str(path))

    found = prepare(monkeypatch, project, given)

    assert found == {"tune_gpus": 4}
    assert str(where(found["tune_gpus"], project.root)) == "more.yml:2"
    assert [str(one.where) for one in extra_layer(project, found).assignments] == ["more.yml:2"]


def test_file_with_a_duplicate_key_is_refused(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    path = project.root / "more.yml"
    path.write_text("tune_gpus: 4\ntune_gpus: 5\n")

    with pytest.raises(UsageError, match=r"more.yml:2: duplicate key tune_gpus"):
        prepare(monkeypatch, project, DataLoader().load_from_file(str(path)))


def test_replayed_run_gives_its_arguments_again(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    run = project.root / "runs" / "before"
    run.mkdir(parents=True)
    (run / "settings.yml").write_text(
        "all:\n  tune_gpus: {value: 4, origin: presets/x.yml:1}\n"
        "  repo_probe_size: {value: 7, origin: command line}\n  repo_probe_name: {value: a, origin: command line}\n"
    )

    found = prepare(monkeypatch, project, {"perf_replay": str(run), "repo_probe_name": "b"})

    assert found == {"perf_replay": str(run), "repo_probe_name": "b", "repo_probe_size": 7}


def test_unanswered_questions_of_awx_are_left_out(monkeypatch: pytest.MonkeyPatch, project: Project) -> None:
    given = {"awx_job_id": 7, "tune_name": "", "tune_gpus": None, "perf_presets": "", "other": ""}

    assert prepare(monkeypatch, project, given) == {"awx_job_id": 7, "other": ""}
