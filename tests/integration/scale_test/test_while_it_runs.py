"""The page and the report of a run in progress."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.polling import PATIENCE_S, wait_until

from .conftest import PROGRAMS, PROJECT, Lab

pytestmark = pytest.mark.lab


def perfdrv(runs: Path, *words: str) -> str:
    """Run the driver to its end; return its standard output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
    environment = {**kept, "PERF_RUNS_DIR": str(runs)}
    done = subprocess.run(
        [str(PROGRAMS / "perfdrv"), *words], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.deep
def test_running_run_shows_its_progress_and_has_a_report(lab: Lab, tmp_path: Path) -> None:
    arguments = {"scale_test_submit_count": 5000, "scale_test_submit_rate": 10.0, "scale_test_submit_namespace": "look"}
    process = lab.playbook(tmp_path, "scale_test_submit", **arguments)

    def completed() -> int:
        progress = [json.loads(path.read_text()) for path in tmp_path.glob("*/001__*/artifacts/progress.json")]
        return progress[0]["numbers"]["completed"]["value"] if progress else 0

    try:
        wait_until(lambda: completed() >= 12)
        page = perfdrv(tmp_path, "runs", "show", "latest")
        perfdrv(tmp_path, "report", "latest")
        assert process.poll() is None
    finally:
        next(tmp_path.iterdir()).joinpath("stop").touch()
        process.communicate(timeout=PATIENCE_S)
    assert re.search(r"^status +running$", page, re.MULTILINE)
    assert re.search(r"submitting: \d+ of 5000 submitted \(\d+\.\d/s\), .*\d+ completed \(\d+\.\d/s\)", page)
    assert "001__scale_test__submit so far" in page
    rows = dict(re.findall(r"^  (time to \w+) +(\d+ .*)$", page, re.MULTILINE))
    assert rows.keys() == {"time to scheduled", "time to running", "time to completed"}
    count, p50, _unit, p90 = rows["time to completed"].split()[:4]
    assert int(count) >= 12
    assert p50 != "-" and p90 != "-"
    (run,) = tmp_path.iterdir()
    assert (run / "report" / "index.html").stat().st_size > 10_000
    kpis = json.loads((run / "report" / "kpis.json").read_text())
    assert kpis["kpis"]
