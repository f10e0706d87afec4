"""Result trees of MatrixBenchmarking: the directories that are tests, their settings, and the resulting runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.__main__ import run
from perfanalysis.errors import UsageError
from perfanalysis.imports.matrixbenchmarking.commands import Read, read_result_tree
from perfanalysis.imports.matrixbenchmarking.tree import Tree, filters_of, read_tree
from perfanalysis.imports.run_directory import write_run_directory
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.result_trees import load_tree, training_tree, write_environment, write_load, write_test
from tests.schemas import check, check_file

BILLION = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n" for before, name in zip("abcdef", "bcdefg", strict=True)
)
"""Seven short lines that expand to millions of values."""


def settings_of(tree: Tree) -> list[dict[str, Any]]:
    return [test.settings for test in tree.tests]


def messages(found: Tree | Read) -> str:
    return "\n".join(f"{finding.severity} {finding.where}: {finding.text}" for finding in found.findings)


def import_tree(root: Path, into: Path) -> tuple[RunAnalysis, Path]:
    directory = write_run_directory(read_result_tree(root).imported, into)
    return analyse_run(directory, into.with_name("out")), directory


def test_settings_of_deeper_folders_override_upper_ones(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_test(root / "a/x", {"one": 1, "two": 2})
    write_test(root / "b", "# old\none=7\nthree = 0.5 \nfour=yes it is\n\n")
    (root / "settings.all.yaml").write_text("two: 0\nfive: 5\n")
    (tmp_path / "settings.yaml").write_text("above: true\none: 0\n")
    tree = read_tree(root)
    assert settings_of(tree) == [
        {"above": True, "one": 1, "two": 2, "five": 5},
        {"above": True, "one": 7, "two": 0, "five": 5, "three": 0.5, "four": "yes it is"},
    ]
    assert "its settings were left out: they are above the tree and apply to all tests" in messages(tree)


def test_skipped_nested_linked_and_duplicate_folders(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_test(root / "a", {"n": 1})
    write_test(root / "a/inner", {"n": 2})
    write_test(root / "hidden", {"n": 3})
    (root / "hidden/skip").touch()
    write_test(root / "z", {"n": 1, "stats": "not counted"})
    write_test(tmp_path / "elsewhere/linked", {"n": 4})
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "loop").symlink_to(root)
    tree = read_tree(root)
    assert [test.name for test in tree.tests] == ["a", "link/linked"]
    assert "warning hidden: left out, as its file skip requests" in messages(tree)
    assert "warning z: left out: it has the same settings as a;" in messages(tree)


@pytest.mark.parametrize(
    ("code", "error", "ended"),
    [
        ("0\n", None, True),
        ("-9", "exit code -9", True),
        (None, "it has no exit_code: the test did not end", False),
        ("", "its exit_code '' is not a number: the test did not end", False),
        ("x" * 99, f"its exit_code '{'x' * 20}' is not a number: the test did not end", False),
    ],
)
def test_exit_code_decides_the_result(tmp_path: Path, code: str | None, error: str | None, ended: bool) -> None:
    write_test(tmp_path / "t", {"n": 1}, code)
    (test,) = read_tree(tmp_path).tests
    assert (test.error, test.ended) == (error, ended)


def test_filters_compare_values_as_text(tmp_path: Path) -> None:
    for number, name in enumerate(("a:b", "c", "d")):
        write_test(tmp_path / str(number), {"name": name, "n": number})
    assert [test.name for test in read_tree(tmp_path, filters_of([r"name=a\:b:c,n=1:0"])).tests] == ["0", "1"]
    with pytest.raises(UsageError, match="contains no test that matches the filters"):
        read_tree(tmp_path, filters_of(["missing=1"]))
    with pytest.raises(UsageError, match="--filter 'name': write a setting and its values, such as model=tiny:small"):
        filters_of(["name"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [1", "its settings were left out"),
        ("- a\n", "it does not contain a mapping of settings"),
        (BILLION, "expands to more than 1000000 values by its aliases"),
        ("[" * 200_000, "nested more than 100 levels deep"),
        ("a: " + "[" * 5000, "its settings were left out"),
    ],
)
def test_unreadable_settings_are_reported(tmp_path: Path, text: str, reason: str) -> None:
    test = write_test(tmp_path / "t", {})
    (test / "settings.yaml").write_text(text)
    tree = read_tree(tmp_path)
    assert settings_of(tree) == [{}]
    assert reason in messages(tree)


def test_tree_of_load_tests_becomes_a_run_of_cells(tmp_path: Path) -> None:
    result, directory = import_tree(load_tree(tmp_path / "tree"), tmp_path / "run")
    assert [analysis.place.cell.values for analysis in result.analyses if analysis.place.cell] == [
        {"count": count, "@repetition": repetition} for count in (3, 5) for repetition in (1, 2)
    ]
    numbers = [{kpi.name: kpi.number for kpi in analysis.kpis} for analysis in result.analyses]
    assert [each["jobs"] for each in numbers] == [3, 3, 5, 5]
    assert [each["pod_scheduled_max"] for each in numbers] == [2, 4, 2, 4]
    assert [each["test_length"] for each in numbers] == [25, 27, 27, 29]
    document = json.loads((directory / "run.json").read_text())
    check(document)
    assert document["versions"] == {"openshift": "4.16.3", "rhoai": "2.13.0-rc2+2026-01-09"}
    assert (document["status"], document["imported"]["from"]) == ("ok", "matrixbenchmarking")
    settings = json.loads((directory / "settings.yml").read_text())["all"]
    assert settings["scheduler"]["compare"] == "key"
    assert settings["ci_presets"]["value"] == ["nightly", "metal"]
    for path in [
        *directory.glob("**/cell.json"),
        *directory.glob("**/kubernetes_objects.json"),
        directory / "settings.yml",
    ]:
        check_file(path)
    row = result.analyses[0].frames["kubernetes_objects_tests"].iloc[0]
    assert (row["test"], row["nodes"]) == ("000__scheduler__generate_load", 4)


def test_tree_of_trainings_becomes_a_fine_tuning_run(tmp_path: Path) -> None:
    result, directory = import_tree(training_tree(tmp_path / "tree"), tmp_path / "run")
    assert {analysis.place.marker for analysis in result.analyses} == {"fine_tuning.json"}
    assert [cell.values for cell in result.run.cells] == [
        {"gpu": gpus, "rhoai": f"2.1{gpus}.0-rc2+2026-01-09"} for gpus in (1, 2, 4)
    ]
    first = {kpi.name: kpi.number for kpi in result.analyses[0].kpis}
    assert first["train_runtime"] is not None
    job = json.loads(next(directory.glob("cell__002/**/fine_tuning.json")).read_text())
    assert (job["outcome"], job["reason"], job["gpus_per_pod"]) == ("failed", "exit code 1", 4)
    assert (job["model"], job["dataset_replication"], job["hyper_parameters"]) == ("tiny-1b", 0.5, {"r": 4})
    assert result.run.status == "failed"
    for path in directory.glob("**/fine_tuning.json"):
        check_file(path)


def test_unfinished_or_unrecorded_tests_become_marked_cells(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_load(write_test(root / "a", {"n": 1}), 2, ends=False)
    write_load(write_test(root / "b", {"n": 2}, exit_code=None), 2)
    write_environment(write_test(root / "c", {"n": 3}))
    read = read_result_tree(root)
    assert "warning b: it has no exit_code: the test did not end" in messages(read)
    assert "warning c: no known recording found" in messages(read)
    directory = write_run_directory(read.imported, tmp_path / "run")
    result = analyse_run(directory, tmp_path / "out")
    assert [(cell.index, cell.status) for cell in result.run.cells] == [(0, "ok"), (1, "failed"), (2, "ok")]
    assert result.run.document["started"] == "2026-03-02T09:00:00.000Z"  # The first creation: no event marks the begin.
    assert len(result.analyses) == 1
    assert result.run.status == "failed"


def test_tree_with_one_test_has_no_cells(tmp_path: Path) -> None:
    write_load(write_test(tmp_path / "tree", {"n": 1, "kind": "x"}), 2)
    result, directory = import_tree(tmp_path / "tree", tmp_path / "run")
    assert result.run.cells == ()
    assert {"n", "kind"} <= json.loads((directory / "settings.yml").read_text())["all"].keys()
    assert len(result.analyses) == 1


def test_damaged_test_files_are_reported(tmp_path: Path) -> None:
    root = training_tree(tmp_path / "tree")
    folder = root / "001__gpus/000__fine_tuning__run_fine_tuning_job"
    (folder / "_ansible.play.yaml").write_text("- vars: [\n")
    (folder / "src/config_final.json").write_text("{")
    (folder / "artifacts/pod.json").unlink()
    load = write_load(write_test(root / "load", {"gpu": 9}), 1)
    (load / "start_end_cm.yaml").write_text("{")
    read = read_result_tree(root)
    assert messages(read).count("000__fine_tuning__run_fine_tuning_job/") == 3
    assert "begin and end of the test are unknown" in messages(read)
    result = analyse_run(write_run_directory(read.imported, tmp_path / "run"), tmp_path / "out")
    assert len(result.analyses) == 4


def test_command_prints_the_files_it_created(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load_tree(tmp_path / "tree")
    given = ["import", "matrixbenchmarking", str(tmp_path / "tree"), "--into", str(tmp_path / "run")]
    assert run(given) == 0
    assert "4 tests, 4 of them with a recording" in capsys.readouterr().out
    assert run(given) == 2
    assert "already exists" in capsys.readouterr().err
    assert run(["import", "matrixbenchmarking", str(tmp_path / "run"), "--into", str(tmp_path / "other")]) == 2
    assert "is already a run directory of psap.perf" in capsys.readouterr().err
