"""Processes that must end with the process that uses them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.processes import descendants

from tests.dead_processes import wait_until_dead


def test_program_ends_with_the_process_that_runs_it() -> None:
    project = Path(__file__).resolve().parents[3]
    script = (
        "import subprocess; from pathlib import Path; from perfdrv.collection import activate\n"
        f"activate(Path({str(project)!r}))\n"
        "from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent\n"
        "subprocess.run(['sleep', '600'], preexec_fn=die_with_parent)"
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        for _ in range(200):
            below = descendants(process.pid)
            if below and Path(f"/proc/{below[0]}/comm").read_text() == "sleep\n":
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert below
        for pid in below:
            wait_until_dead(pid)
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
