"""Files of `perfdrv new`: names, edits of existing files, all or none."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from perfdrv.cli import cli
from perfdrv.collection import COLLECTION
from perfdrv.command_line.groups import Session
from perfdrv.commands.creating import (
    GROUPS,
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

from tests.unit.driver.conftest import ROOT, Perfdrv


@pytest.mark.parametrize("name", ["", "Flow", "1st", "a__b", "a_", "../up", "a b", "ä", "a" * 31])
def test_name_invalid_for_files_or_variables_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"for the flow|of a flow"):
        checked_name("flow", name)


@pytest.mark.parametrize("name", ["scale_test", "scale", "scale_test_2", "prometheus", "nfd", "clusters_x"])
def test_flow_with_an_ambiguous_name_is_refused(repository: Project, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        refuse_like_another(repository, "flow", name)


def test_flow_may_have_the_name_of_a_group(repository: Project) -> None:
    refuse_like_another(repository, "group", "scale_test")


def test_words_are_replaced_in_every_form() -> None:
    text = "skeleton_start_pods, skeleton-start-pods, Skeleton, psap.perf.skeleton, skeleton__start"
    expected = "my_flow_start_pods, my-flow-start-pods, My flow, psap.perf.my_flow, my_flow__start"
    assert renamed(text, {"skeleton": "my_flow"}) == expected


def test_group_is_inserted_in_order() -> None:
    text = "# Groups\na: First\nc: Third\n"
    assert with_group(text, "b", "Second") == "# Groups\na: First\nb: Second\nc: Third\n"
    assert with_group(text, "d", "Fourth") == "# Groups\na: First\nc: Third\nd: Fourth\n"


def test_scenario_lists_its_commands() -> None:
    assert with_scenario_of("---\n# Commands: a,\n# b\nscenario:\n", "c") == "---\n# Commands: a,\n# b, c\nscenario:\n"
    full = f"---\n# Commands: {'a' * 105}\nscenario:\n"
    assert with_scenario_of(full, "bb_cc") == f"---\n# Commands: {'a' * 105},\n# bb_cc\nscenario:\n"


def test_tasks_are_appended() -> None:
    assert with_tasks("---\n- a\n", "B", "b.yml") == ("---\n- a\n\n- name: B\n  ansible.builtin.include_tasks: b.yml\n")


def test_new_name_is_listed_below_the_old_one() -> None:
    assert with_line_like("- a_b\n- c\n", "a_b", "x_y") == "- a_b\n- x_y\n- c\n"


def test_kpi_is_appended_to_its_list() -> None:
    text = "name: x\nkpis:\n  - {name: a,\n     unit: s}\n\n# about plots\nplots: []\n"
    assert with_kpi(text, ["  - name: b"]) == (
        "name: x\nkpis:\n  - {name: a,\n     unit: s}\n  - name: b\n\n# about plots\nplots: []\n"
    )
    assert with_kpi("name: x\n", ["  - name: b"]) == "name: x\n\nkpis:\n  - name: b\n"


def _files(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() if path.is_file() else "" for path in root.rglob("*")}


def test_nothing_is_written_if_one_file_exists(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    before = _files(tmp_path)
    files = Files(tmp_path)
    files.add(Path("new/one"), "1")
    files.add(Path("there"), "2")
    with pytest.raises(UsageError, match="there exists, so nothing was written"):
        files.write()
    assert _files(tmp_path) == before


def test_written_files_are_removed_if_a_later_write_fails(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("old")
    (tmp_path / "file").write_text("no folder")
    before = _files(tmp_path)
    files = Files(tmp_path)
    files.add(Path("new/folder/one"), "1")
    files.change(Path("text"), lambda text: f"{text}, and new")
    files.write()
    assert _files(tmp_path)["text"] == "old, and new"
    again = Files(tmp_path)
    again.add(Path("other/one"), "1")
    again.add(Path("file/two"), "2")
    after = _files(tmp_path)
    with pytest.raises(OSError, match="file"):
        again.write()
    assert _files(tmp_path) == after != before


def test_project_that_links_to_the_collection_is_refused(demo: Path, perfdrv: Perfdrv) -> None:
    failed = perfdrv("new", "flow", "abc").exception
    assert isinstance(failed, UsageError)
    assert "perfdrv new needs a clone of the repository" in str(failed)
    assert not (demo / "playbooks/abc.yml").exists()


ROLES = f"{COLLECTION}/roles"
COPIED = (
    *(f"{COLLECTION}/meta", ROLES, "ansible.cfg", "playbooks", "presets", "inventories"),
    *("molecule/nfd", "molecule/skeleton", "analysis/src/perfanalysis/workloads/skeleton", "docs/schema"),
    *("docs/skeleton.md", "tests/integration/commands/rendered_commands.yml"),
    *("tests/integration/flows/test_skeleton.py", "tests/unit/analysis/workloads/test_skeleton.py"),
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the files of the repository that `perfdrv new` reads or changes; of other roles, only their declarations."""
    root = tmp_path_factory.mktemp("clone")

    def left_out(folder: str, names: list[str]) -> set[str]:
        role = Path(folder).parent.name == "roles" and Path(folder).name != "skeleton_start_pods"
        return {name for name in names if name == "__pycache__" or (role and name != "meta")}

    for name in COPIED:
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=left_out, symlinks=True)
        else:
            shutil.copy(ROOT / name, target)
    (root / COLLECTION / "plugins").symlink_to(ROOT / COLLECTION / "plugins")
    return root


def _new(clone: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["--project", str(clone), "new", *words], obj=Session(), prog_name="perfdrv")


def _refusal(clone: Path, *words: str) -> str:
    before = _files(clone)
    failed = _new(clone, *words).exception
    assert isinstance(failed, UsageError), failed
    assert _files(clone) == before
    return str(failed)


def test_new_flow_has_all_parts_under_its_name(clone: Path) -> None:
    output = _new(clone, "flow", "first-steps").output
    assert "perfdrv run first_steps --site lab -p first_steps" in output
    created = {line.split()[1] for line in output.splitlines() if line.startswith("created")}
    assert {"playbooks/first_steps.yml", "presets/first_steps.yml", "docs/first_steps.md",
            f"{ROLES}/first_steps_start_pods/tasks/main.yml", "molecule/first_steps/molecule.yml",
            "analysis/src/perfanalysis/workloads/first_steps/workload.yml"} <= created  # fmt: skip
    texts = {path: (clone / path).read_text() for path in created}
    assert [path for path, text in texts.items() if "skeleton" in text.lower()] == []
    assert "\nfirst_steps: " in (clone / GROUPS).read_text()
    assert "first_steps_start_pods" in (clone / "tests/integration/commands/rendered_commands.yml").read_text()
    assert "already" in _refusal(clone, "flow", "skeleton")


def test_new_command_of_a_group_joins_its_scenario(clone: Path) -> None:
    output = _new(clone, "command", "nfd", "start-pods").output
    assert "perfdrv toolbox nfd start-pods --site lab" in output
    scenario = clone / "molecule/nfd"
    assert "nfd_start_pods" in (scenario / "molecule.yml").read_text()
    assert "include_tasks: verify_start_pods.yml" in (scenario / "verify.yml").read_text()
    assert (scenario / "verify_start_pods.yml").is_file()
    assert (clone / ROLES / "nfd_start_pods/meta/argument_specs.yml").is_file()
    assert "unknown setting" not in output


def test_new_command_of_a_new_group_has_a_new_scenario(clone: Path) -> None:
    output = _new(clone, "command", "tides", "start_pods", "--about", "Start pods with the tide").output
    assert "make molecule SCENARIOS=tides" in output
    assert "\ntides: Start pods with the tide\n" in (clone / GROUPS).read_text()
    assert "name: tides" in (clone / "molecule/tides/molecule.yml").read_text()
    assert not (clone / "playbooks/tides.yml").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("command", "nfd", "capture_it"), "begin with capture, has, watch change nothing"),
        (("command", "gpu", "operator_x"), "existing 'gpu_operator' begin alike"),
        (("command", "moon", "rise", "--about", "Two\nlines"), "--about .* must be one line"),
        (("command", "sutest", "x", "--about", "It ends."), "--about .* without a full stop"),
        (("command", "cluster", "x"), "has no scenario to add to"),
    ],
)
def test_invalid_command_is_refused(clone: Path, words: tuple[str, ...], why: str) -> None:
    assert re.search(why, _refusal(clone, *words))


KPI = ("--statistic", "p90", "--unit", "seconds", "--direction", "lower", "--about", "Time of slow pods")


def test_new_kpi_is_declared_with_its_kind(clone: Path) -> None:
    words = ("--of", "pods.running_after_s", "--where", "outcome=succeeded", "--where", "node=7")
    output = _new(clone, "kpi", "skeleton", "slow_pods", *words, *KPI).output
    assert "perfanalysis judge latest --threshold slow_pods=LIMIT" in output
    declared = (clone / "analysis/src/perfanalysis/workloads/skeleton/workload.yml").read_text()
    assert 'where: {"outcome": "succeeded", "node": 7}' in declared


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("kpi", "skeletons", "slow", "--of", "pods.running_after_s"), "unknown declared kind of workload 'skeletons'"),
        (("kpi", "skeleton", "slow", "--of", "pods.nothing"), "nothing was written"),
        (("kpi", "skeleton", "slow", "--of", "pods.running_after_s", "--where", "node"), "write COLUMN=VALUE"),
    ],
)
def test_kpi_that_cannot_be_computed_is_refused(clone: Path, words: tuple[str, ...], why: str) -> None:
    assert why in _refusal(clone, *words, *KPI)


def test_kinds_and_columns_are_completed(clone: Path) -> None:
    def completed(words: list[str], incomplete: str) -> list[str]:
        complete = ShellComplete(cli, {"obj": Session()}, "perfdrv", "_PERFDRV_COMPLETE")
        return [item.value for item in complete.get_completions(["--project", str(clone), "new", *words], incomplete)]

    assert completed(["command"], "nf") == ["nfd", "nfd_operator"]
    assert completed(["kpi"], "skel") == ["skeleton"]
    assert "pods.running_after_s" in completed(["kpi", "skeleton", "slow", "--of"], "pods.")
    assert completed(["kpi", "nothing", "slow", "--of"], "pods.") == []
