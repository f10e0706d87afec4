"""The two plots of a working directory of the scale-test-tool: every point is a workload, and all are counted."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perfanalysis.__main__ import run
from perfanalysis.drawing.charts import Figure, Layer
from perfanalysis.drawing.over_time import MOST_BARS, row_of
from perfanalysis.imports.scale_test_tool.plots import (
    SINCE,
    detailed_figure,
    general_figure,
    in_order,
    statistics_lines,
)
from perfanalysis.imports.scale_test_tool.reading import Accounts, accounts_of, negative_counts, read_working_directory
from perfanalysis.workloads.percentiles import STATED
from perfanalysis.workloads.run_analysis import analyse_run
from perfanalysis.workloads.workload_type import Selection

from tests.unit.analysis.old_tool import make, sample, submission, write

pytestmark = pytest.mark.slow

AFTER = {
    "Workload Creation": ("workloadCreatedTimestamp", "submitTimestamp"),
    "Job Creation": ("jobCreatedTimestamp", "workloadCreatedTimestamp"),
    "First Pod Creation": ("firstPodCreatedTimestamp", "jobCreatedTimestamp"),
    "Last Pod Creation": ("lastPodCreatedTimestamp", "jobCreatedTimestamp"),
    "Pod Group Creation": ("podGroupCreatedTimestamp", "firstPodCreatedTimestamp"),
    "Pod Scheduling Decision": ("podSchedulingDecisionTimestamp", "podGroupCreatedTimestamp"),
    "Total Pod Scheduling Decision": ("podSchedulingDecisionTimestamp", "submitTimestamp"),
}


def _points(figure: Figure) -> dict[str, Layer]:
    layers = [layer for row in figure.rows for chart in row for layer in chart.layers]
    return {layer.label: layer for layer in layers if layer.kind == "points"}


def _true_jobs(directory: Path) -> dict[str, dict[str, float]]:
    """Compute each sampled and submitted job's differences in seconds from the files, by their definition."""
    sent = {record["jobName"]: record for record in json.loads((directory / "submitted.json").read_text())}
    jobs = {}
    for record in json.loads((directory / "sampled.json").read_text()):
        if record["jobName"] in sent:
            stamps = {**record, "submitTimestamp": sent[record["jobName"]]["submitTimestamp"]}
            at = {key: datetime.fromisoformat(text) for key, text in stamps.items() if key.endswith("Timestamp")}
            jobs[record["jobName"]] = {
                name: (at[end] - at[start]).total_seconds() for name, (end, start) in AFTER.items()
            }
    return jobs


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("workloads", [200, 1000])
def test_every_plotted_tuple_belongs_to_a_real_job(tmp_path: Path, seed: int, workloads: int) -> None:
    """The old tool sorted each series separately: the n-th points of its series belonged to different jobs."""
    directory = make(tmp_path / "logs", workloads, seed)
    shown = in_order(read_working_directory(directory).samples)
    series = {**_points(detailed_figure(shown)), **_points(general_figure(shown))}
    plotted = zip(*(np.round(series[name].y, 6).tolist() for name in AFTER), strict=True)
    real = {tuple(round(job[name], 6) for name in AFTER) for job in _true_jobs(directory).values()}
    assert [values for values in plotted if values not in real] == []
    times = series["Job Creation"].x
    assert (np.diff(times) >= 0).all()
    assert all((layer.x == times).all() for name, layer in series.items() if not name.startswith("Total"))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_averages_match_their_definition(tmp_path: Path, seed: int) -> None:
    directory = make(tmp_path / "logs", 500, seed)
    shown = in_order(read_working_directory(directory).samples)
    jobs = _true_jobs(directory).values()
    for name, layer in {**_points(detailed_figure(shown)), **_points(general_figure(shown))}.items():
        expected = sum(job[name] for job in jobs) / len(jobs)
        assert float(layer.y.mean()) == pytest.approx(expected, abs=1e-9), name


def test_points_of_one_second_keep_their_jobs_in_a_report(tmp_path: Path) -> None:
    directory = make(tmp_path / "logs", 300, 5)
    assert run(["import", "scale-test-tool", str(directory), "--output", str(tmp_path / "run")]) == 0
    result = analyse_run(tmp_path / "run", tmp_path / "report")
    [analysis] = result.analyses
    [figure] = [
        block
        for section in analysis.sections
        for block in section.blocks
        if isinstance(block, Figure) and block.name == "general"
    ]
    real = sorted(round(job["Total Pod Scheduling Decision"], 6) for job in _true_jobs(directory).values())
    drawn = np.round(_points(figure)["Sent to scheduled"].y, 6).tolist()
    assert sorted(drawn) == real
    table = analysis.frames["latencies"]
    kept = table["time_to_scheduled_s"].dropna().round(6).tolist()
    assert drawn == kept


def test_plotter_writes_plots_and_times_for_every_workload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = make(tmp_path / "logs", 150, 4, orphans=3, lost=2)
    assert run(["plotter", str(directory), "--output", str(tmp_path / "out")]) == 5
    printed = capsys.readouterr()
    assert "150 submitted = 148 analysed + 2 never sampled" in printed.out
    assert "3 workloads were sampled but not submitted in this test" in printed.err
    replaced = sum(job["Pod Group Creation"] < -2 for job in _true_jobs(directory).values())
    assert f"Pod Group Creation: {replaced} negative values beyond the resolution of their timestamps" in printed.err
    assert "the data is incomplete" in printed.err
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"general.png", "detailed.png", "times.csv"}
    again = ["plotter", str(directory), "--output", str(tmp_path / "again"), "--most-lost", "0.02", "--last", "20"]
    assert run(again) == 0
    assert (tmp_path / "again" / "times.csv").read_bytes() == (tmp_path / "out" / "times.csv").read_bytes()
    assert (tmp_path / "again" / "general.png").read_bytes() != (tmp_path / "out" / "general.png").read_bytes()
    capsys.readouterr()


def test_accounting_identity_is_checked() -> None:
    good = Accounts(10, 7, 1, {"no podSchedulingDecisionTimestamp": 2})
    assert good.identity_holds
    assert good.text == "10 submitted = 7 analysed + 1 never sampled + 2 left out (no podSchedulingDecisionTimestamp)"
    assert good.lost_ratio == pytest.approx(0.3)
    bad = Accounts(10, 7, 1, {})
    assert not bad.identity_holds
    assert bad.text == "10 submitted is not 7 analysed + 1 never sampled"
    assert Accounts(0, 0, 0, {}).lost_ratio == 0.0


def test_negative_differences_beyond_resolution_are_counted_by_cause(tmp_path: Path) -> None:
    sent = [submission(f"j-{number:06x}", 0.5) for number in range(4)]
    seen = [
        sample("j-000000", 0, 1, 2, 2, 2, 3),  # -0.5 s: within the second of the object's timestamp
        sample("j-000001", 1, 1, 4, 4, 2, 5),  # The pod group 2 s before the pod: within both timestamps' seconds
        sample("j-000002", 1, 1, 5, 5, 2, 6),  # 3 s before
        {key: text for key, text in sample("j-000003", 1, 1, 2, 2, 2, 3).items() if "Decision" not in key},
    ]
    found = read_working_directory(write(tmp_path / "logs", sent, seen))
    assert negative_counts(found) == {"Pod Group Creation": (1, "the pod was replaced by a later one")}
    assert accounts_of(found).left_out == {"no podSchedulingDecisionTimestamp": 1}
    assert accounts_of(found).identity_holds


def test_plotter_and_report_print_the_same_causes(tmp_path: Path) -> None:
    """The folder has no watch, so the report must not mention one."""
    sent = [submission("j-000000", 9.5), submission("j-000001", 0.5)]
    seen = [sample("j-000000", 1, 1, 20, 20, 20, 21), sample("j-000001", 5, 5, 30, 30, 30, 12)]
    directory = write(tmp_path / "logs", sent, seen)
    counts = negative_counts(read_working_directory(directory))
    assert run(["import", "scale-test-tool", str(directory), "--into", str(tmp_path / "run")]) == 0
    table = analyse_run(tmp_path / "run", tmp_path / "tables").analyses[0].frames["anomalies"]
    negative = table[(table["problem"] == "negative") & (table["clock"] == "seen")].set_index("step")["cause"]
    clocks = "clocks of client and server differ, or an earlier workload had the same name"
    assert counts["Workload Creation"][1] == negative["creation"] == clocks
    assert counts["Pod Scheduling Decision"][1] == negative["podgroup_scheduling"] == "server timestamps out of order"
    assert negative["scheduling"] == "the pod was replaced by a later one"
    assert not negative.str.contains("watch").any()


def test_selection_takes_first_or_last_by_submission(tmp_path: Path) -> None:
    samples = read_working_directory(make(tmp_path / "logs", 30, 1, orphans=0, lost=0)).samples
    assert list(in_order(samples, Selection(5, 2)).names) == ["j-000003", "j-000004"]


def test_percentile_of_too_small_a_sample_is_refused(tmp_path: Path) -> None:
    lines = statistics_lines(in_order(read_working_directory(make(tmp_path / "logs", 99, 1, lost=0)).samples))
    assert len(lines) == 1 + len(AFTER) + 2
    assert all("\u2013  " in line for line in lines[1:-2])
    assert lines[-2:] == ["P99: needs 100 values, found 99", STATED["linear"]]


@pytest.mark.parametrize(("sent", "seen"), [([], []), (None, [sample("j-000000", 0, 0, 0, 0, 0, 1)])])
def test_exit_code_reports_that_nothing_can_be_plotted(
    tmp_path: Path, sent: list[Any] | None, seen: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write(tmp_path / "logs", sent, seen)
    assert run(["plotter", str(directory)]) == 5
    assert "no workload was both submitted and sampled" in capsys.readouterr().err
    assert (directory / "times.csv").is_file()


def test_only_file_of_an_old_folder_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = make(tmp_path / "logs", 30, 1, orphans=0, lost=0)
    words = ["--most-lost", "1", "--csv-layout", "scale-test"]
    assert run(["plotter", str(directory), "--output", str(tmp_path / "old"), *words]) == 0
    kept = (tmp_path / "old" / "times.csv").read_bytes()
    assert str(tmp_path / "old" / "times.csv") in capsys.readouterr().out
    assert run(["plotter", str(tmp_path / "old"), "--most-lost", "1"]) == 0
    assert "times.csv is the only input and is not overwritten" in capsys.readouterr().err
    assert (tmp_path / "old" / "times.csv").read_bytes() == kept


def test_kube_burner_percentiles_can_be_selected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For four workloads of 1, 2, 3 and 4 s, the median is 2.5 s; kube-burner's is the second value."""
    sent = [submission(f"j-{number:06x}", 0.0) for number in range(4)]
    seen = [sample(f"j-{number:06x}", 0, 0, 0, 0, 0, number + 1) for number in range(4)]
    directory = str(write(tmp_path / "logs", sent, seen))
    found = {}
    for method in ("linear", "kube-burner"):
        assert run(["plotter", directory, "--output", str(tmp_path), "--percentiles", method]) == 0
        [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Total Pod Scheduling")]
        found[method] = re.split(" {2,}", line)[3]
    assert found == {"linear": "2.50\u202fs", "kube-burner": "2.00\u202fs"}


@pytest.mark.parametrize(("count", "bars"), [(10, 10), (MOST_BARS + 1, 1)])
def test_resolution_of_values_is_drawn(count: int, bars: int) -> None:
    chart, _ = row_of(
        "a", "a", SINCE, np.arange(float(count)), np.full(count, 4.0), colour=0, height=100, resolution=2.0
    )
    [line] = [layer for layer in chart.layers if layer.kind == "line"]
    lengths = np.diff(line.y.reshape(-1, 3)[:, :2], axis=1)
    assert (len(lengths), set(lengths.ravel().tolist())) == (bars, {4.0})
    chart, _ = row_of("a", "a", SINCE, np.arange(3.0), np.full(3, 4.0), colour=0, height=100, resolution=1e-6)
    assert [layer.kind for layer in chart.layers] == ["points"]
