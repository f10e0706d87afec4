"""Reading any content of a run directory neither blocks nor fills the memory, and reports omitted parts."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from perfanalysis.files.bounded import LONGEST_LINE, Blocks, content, opened
from perfanalysis.files.json_lines import read_json_lines
from perfanalysis.files.tables import Column, TableSpec

SPEC = TableSpec("rows", "Rows.", (Column("at_s", "time", "When."), Column("text", "text", "What.")))
LARGE = 200_000_000
MEMORY = 3 << 30
"""Address space; libraries reserve most of it and use little."""


def row(number: int, text: str = "x") -> bytes:
    return json.dumps({"at_s": float(number), "text": text}).encode() + b"\n"


@pytest.mark.parametrize("size", [64, 1000, 1 << 20])
def test_overlong_line_is_skipped_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("perfanalysis.files.bounded.BLOCK_BYTES", size)
    longest = min(LONGEST_LINE, 10 * size)
    monkeypatch.setattr("perfanalysis.files.bounded.LONGEST_LINE", longest)
    path = tmp_path / "rows.jsonl"
    long = row(1, "y" * (longest + 2 * size))
    path.write_bytes(row(0) + long + row(2) + long + long + row(3) + long[:-1])
    frame, findings = read_json_lines(path, SPEC, "rows.jsonl")
    assert list(frame["at_s"]) == [0.0, 2.0, 3.0]
    assert [(one.severity, one.text) for one in findings] == [
        ("error", "4 lines are longer than 4 MiB and were left out")
    ]


def test_blocks_end_at_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\nthree")
    assert b"".join(Blocks(path, 13)) == b"one\ntwo\nthree"
    assert list(Blocks(path, 8)) == [b"one\ntwo\n"]


def test_pipe_is_not_read_as_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a file"):
        opened(pipe)
    with pytest.raises(OSError, match="not a file"):
        content(tmp_path)


def test_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * (1 << 20))
    assert len(content(path, 1 << 20)) == 1 << 20
    path.write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(OSError, match="larger than 1 MiB"):
        content(path, 1 << 20)


def _report(run: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "perfanalysis", "report", str(run)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_pipes_in_place_of_files_are_reported_without_waiting(small_run: Path) -> None:
    for path in [path for path in small_run.rglob("*") if path.is_file() and path.name != "run.json"]:
        path.unlink()
        os.mkfifo(path)
    done = _report(small_run)
    assert "settings.yml: the file cannot be read: it is not a file" in done.stderr
    assert "transitions.jsonl: it cannot be read: it is not a file" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.deep
@pytest.mark.slow
def test_huge_line_is_one_error_and_uses_no_memory(small_run: Path) -> None:
    for name in ("transitions.jsonl", "timeline.csv", "run.json"):
        (path,) = small_run.rglob(name)
        with path.open("ab") as stream:
            stream.write(b'{"message":"' + b"x" * LARGE + b'"}\n')
    done = _report(small_run)
    assert done.returncode == 5, done.stderr
    assert done.stderr.count("lines are longer than 4 MiB and were left out\n") == 2, done.stderr
    assert done.stderr.count("the file cannot be read: it is larger than 64 MiB") == 2
