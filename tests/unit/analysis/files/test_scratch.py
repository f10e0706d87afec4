"""Temporary folders: private, removed, and removed later after a kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from perfanalysis.__main__ import run
from perfanalysis.files.cache import PREFIX, owned_folder, remove_leftovers, scratch_folder

# `judge`, `compare`, `regress` and `history add` do this while they parse; here it lasts as long as the test requires.
MAKES_ONE = """
import time
from perfanalysis.files.cache import scratch_folder
with scratch_folder() as folder:
    (folder / "tables").mkdir()
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for temporary files of this process and of its children."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_scratch_is_private_and_removed_at_the_end(temporary: Path) -> None:
    with scratch_folder() as path:
        assert path.parent == temporary
        assert path.stat().st_mode & 0o777 == 0o700
        (path / "tables").mkdir()
    assert not path.exists()


def test_scratch_is_removed_after_an_error() -> None:
    with pytest.raises(ValueError, match="x"), scratch_folder() as path:
        raise ValueError("x")
    assert not path.exists()


def test_only_leftovers_of_dead_processes_are_removed(temporary: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = temporary / f"{PREFIX}{dead.pid}-1-abc"
    reused = temporary / f"{PREFIX}{os.getpid()}-1-abc"
    foreign = temporary / f"{PREFIX}notours"
    for path in (left, reused, foreign):
        path.mkdir()
    link = temporary / f"{PREFIX}{dead.pid}-1-link"
    link.symlink_to(foreign)
    with owned_folder(PREFIX) as alive:
        assert remove_leftovers(PREFIX) == sorted([left, reused])
        assert alive.is_dir()
    assert foreign.is_dir()
    assert link.is_symlink()


@pytest.mark.parametrize("words", [["judge", "--threshold", "time_to_ready_p50=1h"], ["history", "add"]])
def test_next_analysis_removes_leftovers_of_a_killed_one(
    words: list[str], small_run: Path, temporary: Path, tmp_path: Path
) -> None:
    killed = subprocess.Popen([sys.executable, "-c", MAKES_ONE], stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None
    left = Path(killed.stdout.readline().strip())
    assert (left / "tables").is_dir()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert list(temporary.iterdir()) == [left]
    into = ["--into", str(tmp_path / "history")] if words[0] == "history" else ["--output", str(tmp_path / "out")]
    assert run([*words, *into, str(small_run)]) == 0
    assert list(temporary.iterdir()) == []
