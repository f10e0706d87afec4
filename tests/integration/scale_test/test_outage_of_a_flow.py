"""The API server is away for some seconds while a flow prepares, which fails no run."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.polling import PATIENCE_S, wait_until

from .conftest import PROGRAMS, running_lab
from .test_faults_control_plane import kill_and_restart


@pytest.mark.deep
def test_api_server_restart_during_preparation_fails_no_run(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
    words = [str(PROGRAMS / "perfdrv"), "run", "scale_test", "-i", "lab", "-p", "scale_test_smoke"]
    with running_lab(f"outage-{os.getpid()}") as lab:
        process = subprocess.Popen(
            words,
            env={**kept, "PERF_LAB": lab.folder.name, "PERF_RUNS_DIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            began = "*/*cleanup_before/*/status.json"
            wait_until(lambda: any(tmp_path.glob(began)) or process.poll() is not None)
            asyncio.run(kill_and_restart(lab, "kube-apiserver", away_s=4))
            output, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 0, output
    (accounting,) = tmp_path.glob("*/**/accounting.json")
    assert json.loads(accounting.read_text())["identity_holds"]
