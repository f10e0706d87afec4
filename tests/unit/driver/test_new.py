"""What `perfdrv new` writes: names, edits of files that are there, all or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfdrv.commands.creating import (
    Files,
    checked_name,
    refuse_like_another,
    renamed,
    with_group,
    with_kpi,
    with_line_like,
    with_scenario_of,
    with_tasks,
)
from perfdrv.errors import UsageError
from perfdrv.project import Project

from tests.unit.driver.conftest import DEMO, Perfdrv


@pytest.mark.parametrize("name", ["", "Flow", "1st", "a__b", "a_", "../up", "a b", "ä", "a" * 31])
def test_a_name_that_files_and_variables_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"for a flow|name of a flow"):
        checked_name("flow", name)


@pytest.mark.parametrize("name", ["scale_test", "scale", "scale_test_2", "prometheus", "nfd", "clusters_x"])
def test_a_flow_that_could_be_taken_for_another_is_refused(repository: Project, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        refuse_like_another(repository, "flow", name)


def test_a_flow_may_have_a_group_of_its_name(repository: Project) -> None:
    refuse_like_another(repository, "group", "scale_test")


def test_words_are_replaced_in_every_form() -> None:
    text = "skeleton_start_pods, skeleton-start-pods, Skeleton, psap.perf.skeleton, skeleton__start"
    told = "my_flow_start_pods, my-flow-start-pods, My flow, psap.perf.my_flow, my_flow__start"
    assert renamed(text, {"skeleton": "my_flow"}) == told


def test_a_group_stands_in_its_place() -> None:
    text = "# Groups\na: First\nc: Third\n"
    assert with_group(text, "b", "Second") == "# Groups\na: First\nb: Second\nc: Third\n"
    assert with_group(text, "d", "Fourth") == "# Groups\na: First\nc: Third\nd: Fourth\n"


def test_a_scenario_names_its_commands() -> None:
    assert with_scenario_of("---\n# Commands: a,\n# b\nscenario:\n", "c") == "---\n# Commands: a,\n# b, c\nscenario:\n"
    full = f"---\n# Commands: {'a' * 105}\nscenario:\n"
    assert with_scenario_of(full, "bb_cc") == f"---\n# Commands: {'a' * 105},\n# bb_cc\nscenario:\n"


def test_tasks_are_joined_at_the_end() -> None:
    assert with_tasks("---\n- a\n", "B", "b.yml") == ("---\n- a\n\n- name: B\n  ansible.builtin.include_tasks: b.yml\n")


def test_a_list_has_the_new_name_below_the_old_one() -> None:
    assert with_line_like("- a_b\n- c\n", "a_b", "x_y") == "- a_b\n- x_y\n- c\n"


def test_a_kpi_is_the_last_of_its_list() -> None:
    text = "name: x\nkpis:\n  - {name: a,\n     unit: s}\n\n# about plots\nplots: []\n"
    assert with_kpi(text, ["  - name: b"]) == (
        "name: x\nkpis:\n  - {name: a,\n     unit: s}\n  - name: b\n\n# about plots\nplots: []\n"
    )
    assert with_kpi("name: x\n", ["  - name: b"]) == "name: x\n\nkpis:\n  - name: b\n"


def _listed(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() if path.is_file() else "" for path in root.rglob("*")}


def test_nothing_is_written_where_one_file_is_there_already(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    before = _listed(tmp_path)
    files = Files(tmp_path)
    files.add(Path("new/one"), "1")
    files.add(Path("there"), "2")
    with pytest.raises(UsageError, match="there is already there; nothing was written"):
        files.write()
    assert _listed(tmp_path) == before


def test_what_was_written_is_taken_back_when_the_rest_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("old")
    (tmp_path / "file").write_text("no folder")
    before = _listed(tmp_path)
    files = Files(tmp_path)
    files.add(Path("new/folder/one"), "1")
    files.change(Path("text"), lambda text: f"{text}, and new")
    files.write()
    assert _listed(tmp_path)["text"] == "old, and new"
    again = Files(tmp_path)
    again.add(Path("other/one"), "1")
    again.add(Path("file/two"), "2")
    after = _listed(tmp_path)
    with pytest.raises(OSError, match="file"):
        again.write()
    assert _listed(tmp_path) == after != before


def test_a_project_that_links_to_the_collection_is_refused(perfdrv: Perfdrv) -> None:
    failed = perfdrv("new", "flow", "abc").exception
    assert isinstance(failed, UsageError)
    assert "perfdrv new works in" in str(failed)
    assert not (DEMO / "playbooks/abc.yml").exists()
