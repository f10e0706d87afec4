"""A disk that becomes full during a run: finalizers run, last documents are written, a message names the remedy."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import JOBS, Driver
from .small_disk import fill, small_disk


@pytest.fixture
def disk(driver: Driver) -> Iterator[Path]:
    """Mount a small disk as the folder of all runs."""
    driver.runs.mkdir()
    with small_disk(driver.runs, "4m"):
        yield driver.runs


def test_disk_full_during_a_run_ends_it_in_order(disk: Path, driver: Driver) -> None:
    process = driver.start("run", "demo", "-s", "demo_seconds=4")
    driver.wait_for_sleep()
    fill(disk)
    ended = driver.end(process)
    assert ended.code == 1, ended.out + ended.err
    assert "No space left on device; free space" in ended.out
    (run,) = disk.glob("demo-*")
    document = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert (document["status"], document["exit_code"], document["ended"] is None) == ("failed", 1, False)
    (cleaned,) = run.glob("*__cleanup/001__demo__tidy/status.json")
    assert json.loads(cleaned.read_text(encoding="utf-8"))["status"] == "ok"


@pytest.mark.deep
@JOBS
def test_finalizers_run_without_the_reserved_space(jobs: str, disk: Path, driver: Driver) -> None:
    process = driver.start("run", "demo", "-s", "demo_seconds=[4, 5, 6]", "--jobs", jobs)
    driver.wait_for_sleep()
    while process.poll() is None:
        fill(disk)
        time.sleep(0.02)
    ended = driver.end(process)
    assert ended.code == 1, ended.out + ended.err
    assert "No space left on device; free space" in ended.out
    assert re.search(r"^\S+ ok +\d+__cleanup/001__demo__tidy", ended.out, re.MULTILINE), ended.out


@pytest.mark.deep
def test_killed_run_is_finalized_on_a_full_disk(disk: Path, driver: Driver) -> None:
    process = driver.start("run", "demo", "-s", "demo_seconds=60")
    driver.wait_for_sleep()
    process.kill()
    process.wait()
    fill(disk)
    (run,) = disk.glob("demo-*")
    (run / ".reserve").unlink()
    fill(disk)
    ended = driver("runs", "finalize", run.name)
    assert ended.code == 0, ended.out + ended.err
    assert "__cleanup/001__demo__tidy" in ended.out
    assert "no space is left for the run's directory" in ended.out


def test_no_run_begins_on_a_full_disk(disk: Path, driver: Driver) -> None:
    fill(disk)
    ended = driver("run", "demo")
    assert ended.code == 1
    assert "No space left on device; set PERF_RUNS_DIR" in ended.err
    assert [path.name for path in disk.iterdir()] == ["ballast"]
