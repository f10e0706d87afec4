"""Comparison of runs: pairs by settings, verdicts by interval and margin."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml
from perfanalysis.__main__ import run
from perfanalysis.results.history.documents import entries_of, history_document
from perfanalysis.results.history.folder import add
from perfanalysis.verdicts.comparison.comparison import compare
from perfanalysis.verdicts.comparison.figures import change_figure
from perfanalysis.verdicts.comparison.sides import side_of_run
from perfanalysis.verdicts.comparison.tables import (
    GRAVITY,
    counts,
    kpi_table,
    latency_table,
    overview_table,
    signed,
    summary,
)
from perfanalysis.verdicts.comparison.texts import print_comparison
from perfanalysis.verdicts.comparison.write import comparison_document
from perfanalysis.verdicts.regression.series import Selection, why_not
from perfanalysis.workloads.run_analysis import analyse_run
from rich.console import Console

from tests.data.synthetic_runs import Shape, write_run
from tests.schemas import check, schema_of
from tests.unit.analysis.histories import document, kpi
from tests.unit.analysis.pages import figures_in

pytestmark = pytest.mark.slow


def _run(root: Path, name: str, shapes: list[Shape], keys: dict[str, Any]) -> Path:
    directory = write_run(root, shapes, run=name)
    path = directory / "settings.yml"
    settings = yaml.safe_load(path.read_text())
    for key, value in keys.items():
        settings["all"][key] = {"value": value, "origin": "here", "compare": "key"}
    path.write_text(yaml.safe_dump(settings))
    return directory


@pytest.fixture(name="runs", scope="module")
def _runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return A: fast scheduling; B: half as fast, another seed, same settings."""
    root = tmp_path_factory.mktemp("runs")
    first = _run(root, "a", [Shape(workloads=60, nodes=10, duration=1.0, seed=1)], {"scale_test_rate": 40})
    slow = [Shape(workloads=60, nodes=10, duration=1.0, seed=2, schedule_rate=10.0)]
    return first, _run(root, "b", slow, {"scale_test_rate": 40})


def test_slower_scheduler_is_worse(runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", *map(str, runs), "--output", str(tmp_path)]
    assert run([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema_of("comparison"))
    (pair,) = document["pairs"]
    steps = {step["name"]: step for step in pair["steps"]}
    median, extreme = steps["scheduling"]["differences"]
    assert (median["verdict"], extreme["verdict"]) == ("worse", "too little data")
    assert steps["scheduling"]["cliffs_delta"] > 0.9
    assert steps["creation"]["differences"][0]["verdict"] in ("same", "too little data")
    assert run([*words, "--fail-on-worse"]) == 4
    printed = capsys.readouterr()
    assert "scheduling p50" in printed.err
    assert "Distributions: " in printed.out
    assert "without a verdict at p99: it needs 100 values of each, found 60 and 60" in printed.out
    page = (tmp_path / "comparison.html").read_text()
    assert '<span class="status worse">worse</span>' in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "comparison.changes_0" in figures_in(tmp_path / "comparison.html")


def test_run_equals_itself(runs: tuple[Path, Path], tmp_path: Path) -> None:
    words = ["compare", str(runs[0]), str(runs[0]), "--margin", "60%", "--fail-on-worse"]
    assert run([*words, "--output", str(tmp_path / "one")]) == 0
    document = json.loads((tmp_path / "one" / "comparison.json").read_text())
    medians = {step["name"]: step["differences"][0] for step in document["pairs"][0]["steps"]}
    assert medians["time_to_running"]["verdict"] == "same"
    assert {median["difference"] for median in medians.values()} == {0.0}
    assert run([*words, "--output", str(tmp_path / "two")]) == 0
    for name in ("comparison.json", "comparison.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_different_settings_are_refused_unless_forced(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shapes = [Shape(workloads=30, nodes=10, duration=1.0)]
    other = _run(tmp_path, "c", shapes, {"scale_test_rate": 20})
    assert run(["compare", str(runs[0]), str(other)]) == 2
    message = "scale_test_rate (40 and 20); ignore one with --ignore KEY, or all with --force"
    assert message in capsys.readouterr().err
    assert run(["compare", str(runs[0]), str(other), "--force"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "the comparison was forced" in output
    assert "scale_test_rate 40 20" in output
    document = json.loads((other / "report" / "comparison.json").read_text())
    assert document["pairs"][0]["differing"] == {"scale_test_rate": [40, 20]}


def test_key_of_only_one_run_differs_unless_ignored(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in `regress`: a setting that is known for only one run may have caused any change."""
    keys = {"scale_test_rate": 40, "scale_test_patch": {"spec": {"parallelism": 2}}}
    other = _run(tmp_path, "c", [Shape(workloads=30, nodes=10, duration=1.0)], keys)
    words = ["compare", str(runs[0]), str(other), "--output", str(tmp_path / "report")]
    assert run(words) == 2
    errors = capsys.readouterr().err
    assert "scale_test_patch (not known and spec.parallelism=2); ignore one with --ignore KEY" in errors
    entries = [
        entry for each in (runs[0], other) for entry in entries_of(history_document(analyse_run(each, tmp_path)))
    ]
    assert why_not(entries[0], entries[1], Selection()) == "other scale_test_patch"
    free = Selection(ignored=frozenset({"scale_test_patch"}))
    assert why_not(entries[0], entries[1], free) == ""
    assert run([*words, "--ignore", "scale_test_patch"]) == 0
    document = json.loads((tmp_path / "report" / "comparison.json").read_text())
    assert document["pairs"][0]["differing"] == {}
    assert run([*words, "--force"]) == 0
    document = json.loads((tmp_path / "report" / "comparison.json").read_text())
    assert document["pairs"][0]["differing"] == {"scale_test_patch": [None, {"spec": {"parallelism": 2}}]}
    assert "scale_test_patch (not known and spec.parallelism=2)" in (tmp_path / "report/comparison.md").read_text()
    capsys.readouterr()
    assert run([*words, "--ignore", "scale_test_path"]) == 2
    assert "--ignore scale_test_path: none of these runs has this key; did you mean scale_test_patch?" in (
        capsys.readouterr().err
    )


def test_incomplete_data_has_its_exit_code_and_all_output(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in `report` and `judge`: incomplete data precedes a verdict, which would exclude the lost workloads."""
    slow = [Shape(workloads=60, nodes=10, duration=1.0, seed=2, schedule_rate=10.0, lost=0.2)]
    other = _run(tmp_path, "c", slow, {"scale_test_rate": 40})
    words = ["compare", str(runs[0]), str(other), "--output", str(tmp_path / "report")]
    for given in (words, [*words, "--fail-on-worse"]):
        assert run(given) == 5
        printed = capsys.readouterr()
        assert "the data is incomplete: c: " in printed.err
        assert "The comparison was written nevertheless" in printed.err
        assert "error: c: " in printed.out
    document = json.loads((tmp_path / "report" / "comparison.json").read_text())
    assert check(document) == "psap.perf/comparison/1"
    assert document["data_errors"]
    assert set(document["data_errors"]) <= set(document["notes"])
    page = (tmp_path / "report" / "comparison.html").read_text()
    assert '<li class="error"><strong>error</strong>' in page
    assert document["data_errors"][0] in (tmp_path / "report" / "comparison.md").read_text()


def test_many_changes_are_drawn_with_their_intervals(runs: tuple[Path, Path], tmp_path: Path) -> None:
    comparison = compare([side_of_run(analyse_run(each, tmp_path / each.name)) for each in runs])
    figure = change_figure(comparison, comparison.groups[0], 0)
    assert figure is not None
    ((chart,),) = figure.rows
    ranges = [layer for layer in chart.layers if layer.kind == "ranges"]
    lows = np.concatenate([layer.low for layer in ranges if layer.low is not None])
    highs = np.concatenate([layer.high for layer in ranges if layer.high is not None])
    assert chart.x.scale == "log"
    assert chart.x.low is not None
    assert chart.x.high is not None
    assert chart.x.low < np.nanmin(lows)
    assert np.nanmax(highs) < chart.x.high
    # No value is a tenth of its baseline here, so the axis does not include it.
    assert chart.x.low > 0.1


def test_differences_of_shares_are_percentage_points() -> None:
    assert [signed(value, "ratio") for value in (0.195, -0.195, 0.0)] == [
        "+19.5\u202fpoints",
        "\u221219.5\u202fpoints",
        "0\u202fpoints",
    ]
    assert signed(-1.5, "seconds") == "\u22121.50\u202fs"


def test_cells_are_paired_by_values_and_the_rest_is_listed(matrix_run: Path, tmp_path: Path) -> None:
    shapes = [Shape(workloads=20, nodes=2, pods=2, kind="PyTorchJob"), Shape(workloads=12, nodes=2)]
    other = write_run(tmp_path / "other", shapes, run="other")
    assert run(["compare", str(matrix_run), str(other), "--output", str(tmp_path)]) == 0
    document = json.loads((tmp_path / "comparison.json").read_text())
    (pair,) = document["pairs"]
    assert pair["labels"][0]["cell"] == "1"
    assert pair["labels"][1]["cell"] == "0"
    assert [len(labels) for labels in document["only"]] == [1, 1]
    assert any("does not state which of its settings must be equal" in note for note in document["notes"])


@pytest.mark.parametrize("margin", ["few", "-1%", "99"])
def test_invalid_margins_are_refused(runs: tuple[Path, Path], margin: str) -> None:
    assert run(["compare", *map(str, runs), "--margin", margin]) == 2


def test_run_without_a_recording_is_refused(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = _run(tmp_path, "d", [Shape(workloads=3, nodes=1)], {})
    next(other.rglob("recording.json")).unlink()
    assert run(["compare", str(runs[0]), str(other)]) == 2
    assert "d has no recording" in capsys.readouterr().err


@pytest.fixture(name="third", scope="module")
def _third(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a third run, as fast as the first, with another version of Kubernetes and an additional setting."""
    shapes = [Shape(workloads=60, nodes=10, duration=1.0, seed=3)]
    directory = _run(tmp_path_factory.mktemp("third"), "c", shapes, {"scale_test_rate": 40})
    document = json.loads((directory / "run.json").read_text())
    document["versions"]["kubernetes"] = "v1.35.0"
    (directory / "run.json").write_text(json.dumps(document))
    settings = yaml.safe_load((directory / "settings.yml").read_text())
    settings["all"]["scale_test_new"] = {"value": [1, 2], "origin": "here"}
    (directory / "settings.yml").write_text(yaml.safe_dump(settings))
    return directory


def test_several_runs_are_compared_with_the_first(
    runs: tuple[Path, Path], third: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *map(str, runs), str(third), "--output", str(tmp_path), "--fail-on-worse"]) == 4
    printed = capsys.readouterr()
    assert "scheduling p50 (B)" in printed.err
    assert "scheduling p50 (C)" not in printed.err
    document = json.loads((tmp_path / "comparison.json").read_text())
    assert check(document) == "psap.perf/comparison/1"
    assert (document["runs"], document["headings"]) == (["a", "b", "c"], ["A", "B", "C"])
    assert [pair["run"] for pair in document["pairs"]] == [1, 2]
    differences = {each["name"]: (each["values"], each["known"]) for each in document["differences"]}
    assert differences["version.kubernetes"] == (["v1.34.1", "v1.34.1", "v1.35.0"], [True, True, True])
    assert differences["scale_test_new"] == ([None, None, [1, 2]], [False, False, True])
    summary = (tmp_path / "comparison.md").read_text()
    assert "| version.kubernetes | v1.34.1 | v1.34.1 | v1.35.0 |" in summary
    assert "# Comparison of a and b, c\n" in summary
    names = figures_in(tmp_path / "comparison.html")
    assert names == ["comparison.changes_0", "comparison.distributions_0"]


def test_counts_match_the_table(runs: tuple[Path, Path], third: Path, tmp_path: Path) -> None:
    """The sentence of the page, the rows of the tables and the document agree."""
    comparison = compare([side_of_run(analyse_run(each, tmp_path / each.name)) for each in (*runs, third)])
    (group,) = comparison.groups
    tables = [latency_table(comparison, group), kpi_table(comparison, group)]
    words = Counter(row[-1].text for table in tables if table is not None for row in table.rows)
    document = comparison_document(comparison)
    counted = Counter(
        entry["verdict"]
        for pair in document["pairs"]
        for entry in (*pair["kpis"], *(each for step in pair["steps"] for each in step["differences"]))
    )
    del words[""], counted[None]
    assert counts(comparison) == words == counted
    assert sum(words.values()) > 20
    assert f"{words['worse']} worse" in summary(comparison)


def test_overview_cell_has_its_verdict(
    runs: tuple[Path, Path], third: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Changed rows come first, and the terminal shows only these, regardless of the cells' details."""
    comparison = compare([side_of_run(analyse_run(each, tmp_path / each.name)) for each in (*runs, third)])
    overview = overview_table(comparison)
    assert overview is not None
    steps = {step.name.replace("_", " "): step for step in comparison.groups[0].pairs[0].steps}
    for name, *cells in overview.rows:
        step = steps.get(name.text.removesuffix(" p50"))
        if step is not None:
            assert cells[1].verdict == step.differences[0].word
        assert cells[0].verdict == ""
    changed = [any(cell.verdict in GRAVITY for cell in row) for row in overview.rows]
    assert changed == sorted(changed, reverse=True)
    print_comparison(comparison, Console(width=120))
    assert f"{changed.count(False)} rows without a certain change" in " ".join(capsys.readouterr().out.split())


def test_narrow_terminal_does_not_break_values(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    comparison = compare([side_of_run(analyse_run(each, tmp_path / each.name)) for each in runs])
    print_comparison(comparison, Console(width=80))
    printed = capsys.readouterr().out
    assert "\u2026" not in printed
    latencies = latency_table(comparison, comparison.groups[0])
    assert latencies is not None
    assert all(f"{row[0].text} " in printed for row in latencies.rows)


def test_runs_of_histories_compare_like_folders(
    runs: tuple[Path, Path], third: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for each, folder in zip((*runs, third), ("one", "two", "one"), strict=True):
        assert run(["history", "add", str(each), "--into", str(tmp_path / folder)]) == 0
    histories = [word for folder in ("one", "two") for word in ("--history", str(tmp_path / folder))]
    assert run(["compare", "a", "b", *histories, "--output", str(tmp_path), "--json"]) == 0
    capsys.readouterr()
    (pair,) = json.loads((tmp_path / "comparison.json").read_text())["pairs"]
    assert pair["steps"] == []
    verdicts = {kpi["name"]: kpi["verdict"] for kpi in pair["kpis"]}
    assert verdicts["scheduling_p50"] == "worse"
    assert verdicts["makespan"] is None
    # One side from a history and one from a directory
    assert run(["compare", "a", str(runs[1]), *histories, "--output", str(tmp_path)]) == 0
    assert run(["compare", "a", "z", *histories, "--output", str(tmp_path)]) == 2
    assert "z is not a run directory and in no history" in capsys.readouterr().err
    assert run(["compare", "a", "b", *histories]) == 2
    assert "pass --output" in capsys.readouterr().err


def test_recordings_of_other_kinds_are_refused_even_if_forced(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = document(1, [kpi("wait", 1.0)], keys={"scale_test_count": 1})
    other["recordings"][0]["kind"] = "fine_tuning.json"
    add(tmp_path / "history", other)
    words = ["compare", str(runs[0]), "run-001", "--history", str(tmp_path / "history"), "--output", str(tmp_path)]
    for given in (words, [*words, "--force"]):
        assert run(given) == 2
        errors = capsys.readouterr().err
        assert "they have different kinds of recordings, recording.json and fine_tuning.json" in errors


def test_cells_of_a_matrix_are_compared_by_a_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [(count, pods) for count in (20, 30) for pods in (1, 2)]
    shapes = [
        Shape(workloads=count, nodes=4, pods=pods, kind="Job" if pods == 1 else "PyTorchJob") for count, pods in cells
    ]
    matrix = write_run(tmp_path, shapes, run="matrix")
    words = ["compare", str(matrix), "--output", str(tmp_path)]
    assert run([*words, "--by", "workloads"]) == 0
    document = json.loads((tmp_path / "comparison.json").read_text())
    assert document["headings"] == ["workloads 20", "workloads 30"]
    assert [pair["label"] for pair in document["pairs"]] == ["workload_kind Job", "workload_kind PyTorchJob"]
    assert [pair["labels"][0]["cell"] for pair in document["pairs"]] == ["0", "1"]
    assert [pair["labels"][1]["cell"] for pair in document["pairs"]] == ["2", "3"]
    assert run([*words, "--by", "workloads", "--baseline", "30"]) == 0
    assert json.loads((tmp_path / "comparison.json").read_text())["headings"] == ["workloads 30", "workloads 20"]
    for baseline in ("2", "workloads=30,workload_kind=Job"):
        assert run([*words, "--cells", "--baseline", baseline]) == 0
        assert json.loads((tmp_path / "comparison.json").read_text())["headings"] == [
            "cell 2",
            "cell 0",
            "cell 1",
            "cell 3",
        ]
    capsys.readouterr()
    assert run([*words, "--by", "worklods"]) == 2
    assert "do not differ in worklods; did you mean workloads?" in capsys.readouterr().err
    assert run([*words, "--by", "workloads", "--baseline", "40"]) == 2
    assert "--baseline 40: not found; known: workloads 20, workloads 30" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{a}"], "pass two or more runs"),
        (["{a}", "{b}", "--cells"], "pass one run"),
        (["{a}", "{b}", "--baseline", "1"], "--baseline requires --by or --cells"),
        (["{a}", "--cells"], "a has no recordings of cells"),
    ],
)
def test_contradictory_options_are_refused(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    given = [word.format(a=runs[0], b=runs[1]) for word in words]
    assert run(["compare", *given]) == 2
    assert message in capsys.readouterr().err
