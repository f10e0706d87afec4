"""Two reports of one run are the same bytes: page, Markdown, KPIs, tables, PNG and SVG, in whatever order sets are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.synthetic_runs import Shape, write_run


def _report(run: Path, output: Path, hash_seed: str) -> dict[str, bytes]:
    """What a process of its own writes; sets and dictionaries of hashes are in another order for each seed."""
    command = [sys.executable, "-m", "perfanalysis", "report", str(run), "--output", str(output), "--png", "--svg"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return {str(path.relative_to(output)): path.read_bytes() for path in output.rglob("*") if path.is_file()}


@pytest.fixture(name="run", scope="module")
def _run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shape = Shape(workloads=60, nodes=4, pods=2, rate=10.0, duration=3.0, failing=0.05, everything=True)
    return write_run(tmp_path_factory.mktemp("runs"), [shape])


def test_two_reports_of_one_run_are_the_same_bytes(run: Path, tmp_path: Path) -> None:
    first, second = (_report(run, tmp_path / name, seed) for name, seed in (("one", "1"), ("two", "2")))
    kinds = {Path(name).suffix for name in first}
    assert {".html", ".md", ".png", ".svg", ".json", ".prom", ".parquet"} <= kinds
    assert first.keys() == second.keys()
    assert [name for name, content in first.items() if second[name] != content] == []
