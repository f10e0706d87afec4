"""Runs of several fine-tuning jobs: values that require several jobs, and their report."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.reports.writing import Wanted, make_report
from perfanalysis.workloads.fine_tuning.analysis import across, analyse
from perfanalysis.workloads.fine_tuning.parser import parse
from perfanalysis.workloads.fine_tuning.scaling import leaf
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.fine_tuning_runs import Training, matrix, write_job, write_tuning_run
from tests.unit.analysis.fine_tuning_jobs import analyse_log, kpis
from tests.unit.analysis.pages import figures_in
from tests.unit.analysis.reports.test_report import page_of

pytestmark = pytest.mark.slow


def analyse_jobs(folder: Path, *trainings: Training) -> list[dict[str, KpiValue]]:
    """Return the KPIs of several jobs of one run, without cells."""
    found = []
    for number, training in enumerate(trainings):
        place = Place(folder / str(number), str(number), "fine_tuning.json", None)
        write_job(place.directory, training)
        found.append(analyse(parse(RecordingFiles(place)), place, "linear"))
    return [kpis(analysis) for analysis in across(tuple(found)).analyses]


def test_speed_up_and_efficiency_are_relative_to_one_gpu(tmp_path: Path) -> None:
    one, four, other, lora = analyse_jobs(
        tmp_path, Training(gpus=1), Training(gpus=4), Training(gpus=4, batch=8), Training(gpus=1, batch=8, rank=4)
    )
    ratio = (four["samples_per_second"].number or 0) / (one["samples_per_second"].number or 1)
    assert (one["speed_up"].number, one["efficiency"].number) == (1, 1)
    assert four["speed_up"].number == pytest.approx(ratio)
    assert four["efficiency"].number == pytest.approx(ratio / 4)
    assert ratio == pytest.approx(4 * Training(gpus=1).step_time / Training(gpus=4).step_time, rel=1e-3)
    assert other["speed_up"].reason == "the run has no job with the same settings on one GPU", "LoRA is another setup"
    assert lora["speed_up"].number == 1


def test_concurrent_jobs_are_compared_with_the_same_jobs_alone(tmp_path: Path) -> None:
    alone, other, beside, copy, unmatched = analyse_jobs(
        tmp_path,
        Training(phase="reference"),
        Training("tiny-1b", phase="reference"),
        Training(phase="concurrent"),
        Training(phase="concurrent"),
        Training("tiny-1b", gpus=2, phase="concurrent"),
    )
    name = "throughput_of_reference"
    assert [job[name].number for job in (alone, other)] == [1, 1]
    # A step of a concurrent job takes 1.25 times as long.
    assert [job[name].number for job in (beside, copy)] == pytest.approx([0.8, 0.8], rel=1e-3)
    assert unmatched[name].reason == "the run has no job with the same settings in the phase reference"
    assert unmatched["speed_up"].reason == "the run has no job with the same settings on one GPU", "of its phase"
    assert (name, beside[name].headline) == (name, "Of reference")


def test_phases_are_listed_and_drawn_side_by_side(tmp_path: Path) -> None:
    trainings = [
        Training(model, phase=phase) for phase in ("reference", "concurrent") for model in ("tiny-1b", "small-3b")
    ]
    directory = write_tuning_run(tmp_path, [*trainings, Training(phase="concurrent")])
    paths = make_report(directory)
    result = analyse_run(directory, tmp_path / "again")
    [figure] = [one for one in result.figures if one.name == "phases"]
    [[chart]] = figure.rows
    reference, concurrent = chart.layers
    assert chart.y.categories == ("tiny-1b", "small-3b")
    assert (reference.label, concurrent.label) == ("reference", "concurrent")
    assert concurrent.x == pytest.approx(reference.x / 1.25, rel=1e-3)
    assert "compared.phases" in figures_in(paths.index)
    assert set(pd.read_parquet(paths.tables / "fine_tuning.parquet")["phase"]) == {"reference", "concurrent"}
    [one, *_] = [one for one in json.loads(paths.kpis.read_text())["kpis"] if one["name"] == "training_gpus"]
    assert one["labels"]["phase"] == "reference"


def test_run_of_one_pass_has_no_phases(tmp_path: Path) -> None:
    one, four = analyse_jobs(tmp_path, Training(gpus=1), Training(gpus=4))
    assert four["throughput_of_reference"].reason == "the run trains in a single phase"
    assert one["throughput_of_reference"].headline is None
    result = analyse_run(write_tuning_run(tmp_path, [Training(gpus=1), Training(gpus=4)]), tmp_path / "again")
    assert "phases" not in {figure.name for figure in result.figures}


def test_jobs_without_throughput_have_no_speed_up(tmp_path: Path) -> None:
    failed, four, broken = analyse_jobs(
        tmp_path, Training(outcome="failed"), Training(gpus=4), Training(gpus=8, outcome="failed")
    )
    assert (failed["speed_up"].reason or "").startswith("the job has no throughput: the log ends before")
    assert (four["speed_up"].reason or "").startswith("the job on one GPU has no throughput")
    assert (broken["efficiency"].reason or "").startswith("the job has no throughput")


def test_several_jobs_on_one_gpu_use_their_median(tmp_path: Path) -> None:
    *_, four = analyse_jobs(tmp_path, Training(), Training(), Training(), Training(gpus=4))
    assert four["speed_up"].count == 3


def test_gpu_count_settings_do_not_separate_setups(tmp_path: Path) -> None:
    assert leaf("fine_tuning_hyper_parameters.r") == "r"
    directory = write_tuning_run(tmp_path, [Training(gpus=1), Training(gpus=2)])
    paths = make_report(directory)
    found = [one for one in json.loads(paths.kpis.read_text())["kpis"] if one["name"] == "speed_up"]
    assert [one["labels"]["gpus"] for one in found] == ["1", "2"]
    assert all(one["value"] for one in found)


@pytest.mark.usefixtures("quick_plots")
def test_matrix_yields_a_table_and_comparing_figures(tmp_path: Path) -> None:
    directory = write_tuning_run(tmp_path, matrix())
    paths = make_report(directory, wanted=Wanted(formats=("png",)))
    names = {path.name for path in paths.plots}
    compared = {"scaling", "models", "hyper_parameters", "memory", "losses", "distributions"}
    assert {f"compared.{name}.png" for name in compared} <= names
    assert {"cell_0.loss.png", "cell_0.throughput.png", "cell_20.loss.png"} <= names
    page = page_of(directory)
    assert len(page.identifiers) == len(set(page.identifiers))
    assert set(page.links) <= set(page.identifiers)
    for part in ("simulated: nodes, pods, trainer, synthetic data", "Results of every cell", "Speed-up", "Efficiency"):
        assert part in page.text
    assert 'class="sortable"' in paths.index.read_text()
    assert [finding.text for finding in paths.findings] == ["the job failed: OOMKilled (exit code 137)"]
    first = paths.index.read_bytes()
    assert make_report(directory, wanted=Wanted(formats=("png",))).index.read_bytes() == first


def test_every_figure_marks_simulated_data(tmp_path: Path) -> None:
    analysis = analyse_log(tmp_path, "ilab_whole.log")
    figures = [block for section in analysis.sections for block in section.blocks if hasattr(block, "marks")]
    assert len(figures) == 3
    for figure in figures:
        assert figure.marks == ("simulated: nodes, pods, trainer, synthetic data",)


def test_single_job_has_tiles_and_no_comparison(tmp_path: Path) -> None:
    directory = write_tuning_run(tmp_path, [Training(gpus=4)])
    make_report(directory)
    text = page_of(directory).text
    assert "Tokens per GPU" in text
    assert "Throughput and speed-up against GPUs" not in text
    assert "Results of every cell" not in text


NAME = "train_runtime"


def test_changed_logs_are_parsed_again(tmp_path: Path) -> None:
    directory = write_tuning_run(tmp_path, [Training()])
    [log] = directory.rglob("job-master-0.log")

    def runtime() -> float:
        [found] = [one for one in json.loads(make_report(directory).kpis.read_text())["kpis"] if one["name"] == NAME]
        return float(found["value"])

    before = runtime()
    log.write_text(log.read_text().replace(f"'{NAME}': {before}", f"'{NAME}': 77.0"))
    assert runtime() == 77.0
