"""A run directory that is removed in mid-run: the run stops, its finalizers run, and one sentence says why."""

from __future__ import annotations

import shutil
from pathlib import Path

from .conftest import JOBS, Driver, Gone

LONG = ("run", "demo", "-s", "demo_seconds=[60, 61]", "--jobs")
WHY = "the run directory was removed while the run was going on"


def remove(directory: Path) -> None:
    """Remove it whole, whatever is written into it meanwhile."""
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)
        if not (directory / "run.json").exists():
            return


@JOBS
def test_removed_directory_stops_the_run_and_finalizers_run(jobs: str, driver: Driver, gone: Gone) -> None:
    process = driver.start(*LONG, jobs)
    driver.wait_for_sleep(int(jobs))
    remove(driver.run())
    ended = driver.end(process)
    assert ended.code == 1, ended.out + ended.err
    assert f"what  {WHY}" in ended.out
    document = driver.document()
    assert (document["status"], document["exit_code"], document["reason"]["what"]) == ("failed", 1, WHY)
    assert driver.cleaned() == ["ok"]
    gone("sleep")
