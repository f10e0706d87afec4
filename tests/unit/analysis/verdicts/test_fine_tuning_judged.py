"""Runs of fine-tuning jobs judged by thresholds, and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from perfanalysis.__main__ import run
from perfanalysis.reports.writing import make_report
from perfanalysis.verdicts.thresholds.threshold import declared_measures, parse_threshold
from perfanalysis.workloads.kinds import shipped

from tests.data.fine_tuning_runs import Training, write_tuning_run
from tests.data.synthetic_runs import Shape, write_recording
from tests.unit.analysis.reports.test_report import page_of

pytestmark = pytest.mark.slow


def test_kpis_can_be_judged() -> None:
    known = declared_measures(shipped())
    for name, limit, sign, number in (
        ("samples_per_second", "20/s", ">=", 20.0),
        ("tokens_per_second_per_gpu", "120000/min", ">=", 2000.0),
        ("train_runtime", "1h", "<=", 3600.0),
        ("gpu_memory_max", "70 GiB", "<=", 70.0),
        ("efficiency", "85%", ">=", 0.85),
        ("step_time_p90", "250ms", "<=", 0.25),
        ("final_loss", 1.5, "<=", 1.5),
    ):
        threshold = parse_threshold(name, limit, known)
        assert threshold.operator == sign
        assert threshold.limit == pytest.approx(number)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["efficiency>=80%", "gpu_memory_max=40 GiB", "step_time_max=10s"], 0, ""),
        (["efficiency=99%"], 4, "1 threshold missed: cell 1: efficiency >= 99%: "),
        (["lost=0"], 6, "not measured in this recording"),
        (["network_bitrate=9"], 6, "the log has no summary of iperf"),
    ],
)
def test_fine_tuning_runs_are_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    directory = write_tuning_run(tmp_path, [Training(gpus=1), Training(gpus=4)])
    given = [part for word in words for part in ("--threshold", word)]
    assert run(["judge", str(directory), *given]) == code
    assert message in capsys.readouterr().err


def test_threshold_is_judged_on_measures_of_its_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = write_tuning_run(tmp_path, [Training()])
    shape = Shape(workloads=20, nodes=2, duration=1.0)
    write_recording(directory / "001__scale_test__submit" / "artifacts", shape, "run")
    given = ["--threshold", "samples_per_second=1/s", "--threshold", "lost=0"]
    assert run(["judge", str(directory), *given]) == 0
    output = capsys.readouterr().out
    assert output.count("met: ") == 2
    make_report(directory)
    text = page_of(directory).text
    assert "Fine-tuning: results" in text
    assert "Scale test: results" in text


def test_fine_tuning_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = Training(model="medium-8b", gpus=2)
    first = write_tuning_run(tmp_path / "a", [slow, Training(model="tiny-1b")])
    second = write_tuning_run(tmp_path / "b", [slow, Training(model="tiny-1b")])
    assert run(["compare", str(first), str(second), "--output", str(tmp_path / "out")]) == 0
    pairs = json.loads((tmp_path / "out" / "comparison.json").read_text())["pairs"]
    assert [pair["settings"]["model"] for pair in pairs] == ["medium-8b", "tiny-1b"]
    [step] = pairs[0]["steps"]
    assert (step["name"], step["unit"], step["differences"][0]["verdict"]) == ("step_time", "seconds", "same")
    assert "2 same, 2 too little data" in capsys.readouterr().out
    page = (tmp_path / "out" / "comparison.html").read_text()
    assert "tokens_per_second_per_gpu" in page
    assert "step time p50" in page


def test_another_model_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write_tuning_run(tmp_path / "a", [Training(model="tiny-1b")])
    second = write_tuning_run(tmp_path / "b", [Training(model="small-3b")])
    assert run(["compare", str(first), str(second)]) == 2
    assert "model (tiny-1b and small-3b)" in capsys.readouterr().err
