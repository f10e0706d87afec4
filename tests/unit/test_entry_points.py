"""Ctrl-C while a program is still importing, which takes most of its first second."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# An import during which the user types Ctrl-C
INTERRUPTED_IMPORT = """
import os
import signal
import time

os.kill(os.getpid(), signal.SIGINT)
time.sleep(60)
"""


@pytest.mark.parametrize("program", ["perfdrv", "perfanalysis", "perflab"])
def test_ctrl_c_during_an_import_is_one_word_and_exits_with_130(program: str, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(INTERRUPTED_IMPORT, encoding="utf-8")
    done = subprocess.run(
        [Path(sys.executable).parent / program, "--help"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Error: interrupted\n")
