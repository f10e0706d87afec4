"""Prometheus' samples of a job's GPUs, and the KPIs from them, computed by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.analysis import analyse
from perfanalysis.workloads.fine_tuning.monitored import monitored
from perfanalysis.workloads.fine_tuning.parser import parse as parse_job
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.prometheus_ranges import Ranges, parse, ranges_of

from tests.data.fine_tuning_runs import Training, document
from tests.data.prometheus_windows import Series, gpu, write_window
from tests.data.synthetic_runs import EPOCH, write_json

POD = "job-master-0"
BUSY, HELD = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"
BEGAN, ENDED = EPOCH + 10, EPOCH + 16
WHY_NOT = "no process monitored the GPUs of the job"
NAMES = ("gpu_usage_mean", "gpu_usage_max", "gpu_memory_mean", "gpu_memory_max")


def _ranges(folder: Path, name: str, *answers: Series) -> Ranges:
    place = Place(folder / name, name, "prometheus_queries.yml", None)
    write_window(place.directory, (EPOCH, EPOCH + 60), {"gpus": list(answers)})
    return ranges_of(place, parse(RecordingFiles(place)))


def _kpis(folder: Path, *ranges: Ranges, **stated: Any) -> dict[str, KpiValue]:
    facts = {**document(Training(gpus=2), EPOCH), "started_s": BEGAN, "ended_s": ENDED, **stated}
    write_json(folder / "job" / "fine_tuning.json", facts)
    place = Place(folder / "job", "job", "fine_tuning.json", None)
    tables = monitored(parse_job(RecordingFiles(place)), place, ranges)
    return {value.name: value for value in analyse(tables, place, "linear").kpis}


def _numbers(found: dict[str, KpiValue]) -> list[float | None]:
    return [found[name].number for name in NAMES]


def test_usage_and_memory_of_a_jobs_gpus_during_the_job(tmp_path: Path) -> None:
    # Samples at 8, 10, 12, … 18 after the epoch: the first is before the job, the last more than a second after it.
    ranges = _ranges(
        tmp_path,
        "window",
        gpu(BUSY, POD, 0, [90, 50, 100, 75, 75, 99], EPOCH + 8),
        gpu(BUSY, POD, 1, [90, 0, 50, 25, 25, 99], EPOCH + 8),
        gpu(HELD, POD, 0, [9000, 1024, 3072, 2048, 2048, 9000], EPOCH + 8),
        gpu(HELD, POD, 1, [9000, 1024, 1024, 1024, 1024, 9000], EPOCH + 8),
        gpu(BUSY, "another-pod", 2, [100] * 6, EPOCH + 8),
        gpu(BUSY, POD, 3, [100] * 6, EPOCH + 8, namespace="another"),
        Series({"__name__": BUSY, "Hostname": "node-0000", "gpu": "4"}, [100] * 6, EPOCH + 8),
    )
    found = _kpis(tmp_path, ranges)
    assert _numbers(found) == pytest.approx([(0.75 + 0.25) / 2, 1.0, (2.0 + 1.0) / 2, 3.0])
    assert found["gpu_usage_mean"].count == 8


def test_renamed_labels_and_overlapping_windows(tmp_path: Path) -> None:
    exporter = gpu(BUSY, "nvidia-dcgm-exporter-x", 0, [20, 40], BEGAN, namespace="nvidia-gpu-operator")
    series = replace(exporter, labels={**exporter.labels, "exported_pod": POD, "exported_namespace": "fine-tuning"})
    first, second = _ranges(tmp_path, "a", series), _ranges(tmp_path, "b", series)
    assert _numbers(_kpis(tmp_path, first, second))[:2] == pytest.approx([0.3, 0.4])


def test_engine_share_replaces_missing_driver_usage(tmp_path: Path) -> None:
    ranges = _ranges(tmp_path, "a", gpu("DCGM_FI_PROF_GR_ENGINE_ACTIVE", POD, 0, [0.5, 0.7], BEGAN))
    assert _numbers(_kpis(tmp_path, ranges))[:2] == pytest.approx([0.6, 0.7])


def test_pods_are_matched_by_job_name_without_a_log(tmp_path: Path) -> None:
    ranges = _ranges(
        tmp_path,
        "a",
        gpu(BUSY, "tuning-master-0", 0, [50], BEGAN),
        gpu(BUSY, "tuningother-master-0", 1, [100], BEGAN),
    )
    assert _numbers(_kpis(tmp_path, ranges, job="tuning", logs=[]))[:2] == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    "stated", [{"started_s": None, "ended_s": None}, {"started_s": EPOCH + 600, "ended_s": EPOCH + 700}]
)
def test_job_outside_every_window_has_no_usage(tmp_path: Path, stated: dict[str, Any]) -> None:
    found = _kpis(tmp_path, _ranges(tmp_path, "a", gpu(BUSY, POD, 0, [50, 50], BEGAN)), **stated)
    assert found["gpu_usage_mean"].number is None
    assert found["gpu_usage_mean"].reason == found["gpu_memory_mean"].reason == WHY_NOT


def test_samples_next_to_the_job_win(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "gpu_samples.jsonl").write_text('{"at_s": 1.0, "gpu": "a", "usage": 0.125}\n')
    ranges = _ranges(tmp_path, "a", gpu(BUSY, POD, 0, [50, 50], BEGAN))
    assert _numbers(_kpis(tmp_path, ranges))[:2] == [0.125, 0.125]
