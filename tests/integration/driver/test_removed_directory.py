"""A run directory that is removed during the run: the run stops, finalizers run, and one sentence gives the reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.conftest import Lab
from tests.integration.driver.test_lease import FLOW, has_begun, holder, jobs
from tests.polling import PATIENCE_S

from .conftest import JOBS, Driver, WaitGone

pytestmark = pytest.mark.deep

LONG = ("run", "demo", "-s", "demo_seconds=[60, 61]", "--jobs")
WHY = "the run directory was removed during the run"


def remove(directory: Path) -> None:
    """Remove the directory completely, although files are written into it meanwhile."""
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)
        if not (directory / "run.json").exists():
            return


@JOBS
def test_removed_directory_stops_the_run_and_finalizers_run(jobs: str, driver: Driver, wait_gone: WaitGone) -> None:
    process = driver.start(*LONG, jobs)
    driver.wait_for_sleep(int(jobs))
    remove(driver.run())
    ended = driver.end(process)
    assert ended.code == 1, ended.out + ended.err
    assert f"what  {WHY}" in ended.out
    document = driver.document()
    assert (document["status"], document["exit_code"], document["reason"]["what"]) == ("failed", 1, WHY)
    assert driver.finalizer_statuses() == ["ok"]
    wait_gone("sleep")


def test_run_without_its_directory_leaves_no_jobs_and_no_lease(shared_lab: Lab, tmp_path: Path) -> None:
    with shared_lab.start(tmp_path, "perfdrv", *FLOW, "-s", "scale_test_count=120") as run:
        remove(tmp_path / has_begun(shared_lab, tmp_path))
        out, _none = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 1, out
    assert f"what  {WHY}" in out
    assert (jobs(shared_lab), holder(shared_lab, tmp_path)) == (0, None)


def test_removed_directory_without_the_driver_leaves_nothing(shared_lab: Lab, tmp_path: Path) -> None:
    words = (
        "playbooks/scale_test.yml",
        "-i",
        "inventories/lab",
        "-e",
        "scale_test_count=120",
        "-e",
        "scale_test_rate=2",
    )
    with shared_lab.start(tmp_path, "ansible-playbook", *words) as run:
        remove(tmp_path / has_begun(shared_lab, tmp_path))
        out, _none = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 2, out
    assert WHY in out
    assert (jobs(shared_lab), holder(shared_lab, tmp_path)) == (0, None)
