"""Sequential and concurrent cells, and resumption of the incomplete ones."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from .conftest import JOBS, Driver


def cell(directory: Path) -> dict[str, Any]:
    """Return cell.json of a cell."""
    document: dict[str, Any] = json.loads((directory / "cell.json").read_text(encoding="utf-8"))
    return document


def start_and_end(run: Path, number: int) -> tuple[datetime, datetime]:
    """Return start and end of a cell's long command."""
    (path,) = run.glob(f"*__cell__{number}/*demo__sleep/status.json")
    status = json.loads(path.read_text(encoding="utf-8"))
    return datetime.fromisoformat(status["started"]), datetime.fromisoformat(status["ended"])


@JOBS
def test_failed_cell_hides_no_other_and_resume_repeats_only_it(jobs: str, driver: Driver) -> None:
    ended = driver("run", "demo", "-p", "quick", "-s", "demo_fails=[false, true, false]", "--jobs", jobs)
    assert ended.code == 1, ended.out + ended.err
    cells = [cell(path) for path in sorted(driver.run().glob("*__cell__*"))]
    assert [(one["index"], one["status"]) for one in cells] == [(0, "ok"), (1, "failed"), (2, "ok")]
    assert "demo_fail: The moon is within reach" in ended.out
    assert driver.document()["status"] == "failed"
    assert driver.finalizer_statuses() == ["ok"]

    before = {path: path.read_bytes() for path in driver.run().glob("*__*/**/*.json")}
    before[driver.run() / "settings.yml"] = (driver.run() / "settings.yml").read_bytes()
    resumed = driver("run", "--resume", "latest", "--jobs", jobs)
    assert resumed.code == 1, resumed.out + resumed.err
    assert {path: path.read_bytes() for path in before} == before
    assert [path.name.partition("__")[2] for path in sorted(driver.run().glob("*__cell__*"))][3:] == ["cell__1"]
    assert [attempt["status"] for attempt in driver.document()["attempts"]] == ["failed", "failed"]
    assert driver.document()["presets"] == ["quick"]
    assert "001__prepare" not in resumed.out
    assert driver.finalizer_statuses() == ["ok", "ok"]


@pytest.mark.deep
def test_first_failed_cell_stops_the_matrix_on_request(driver: Driver) -> None:
    matrix = ("-s", "demo_fails=[true, false, false, false]", "-s", "demo_seconds=1")
    ended = driver("run", "demo", *matrix, "-s", "matrix_stop_on_failure=true", "--jobs", "2")
    assert ended.code == 1
    assert len(list(driver.run().glob("*__cell__*"))) < 4
    assert driver.finalizer_statuses() == ["ok"]


@pytest.mark.deep
def test_two_jobs_run_two_cells_concurrently(driver: Driver) -> None:
    assert driver("run", "demo", "-s", "demo_seconds=[5, 5.1]", "--jobs", "2").code == 0
    (first_start, first_end), (second_start, second_end) = (
        start_and_end(driver.run(), 0),
        start_and_end(driver.run(), 1),
    )
    assert first_start < second_end
    assert second_start < first_end
    document = json.loads((next(driver.run().glob("*__cell__1")) / "run.json").read_text(encoding="utf-8"))
    assert (document["parent"], document["status"]) == (driver.run().name, "ok")
    assert [attempt["status"] for attempt in driver.document()["attempts"]] == ["ok"]


@pytest.mark.deep
@JOBS
def test_refused_resumption_leaves_the_run_unchanged(jobs: str, driver: Driver) -> None:
    assert driver("run", "demo", "-s", "demo_fails=true").code == 1
    settings = driver.run() / "settings.yml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("demo_fails:", "demo_fail:"), encoding="utf-8")
    refused = driver("run", "--resume", "latest", "--jobs", jobs)
    assert refused.code == 2, refused.out + refused.err
    document = driver.document()
    assert (document["status"], document["exit_code"]) == ("failed", 1)
    assert document["reason"]["what"] == "demo_fail: The moon is within reach"
    assert [attempt["status"] for attempt in document["attempts"]] == ["failed", "refused"]
