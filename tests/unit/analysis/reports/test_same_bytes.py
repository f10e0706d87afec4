"""Two reports of one run are identical: page, Markdown, KPIs, tables, PNG and SVG, for any order of sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.slow

# A figure of each sort: areas, distributions, a grid of colours
_FIGURES = """
schema: psap.perf/report/1
visualize:
  - id: index
    generate: [concurrency, latency_per_step, nodes]
"""


def _report(run: Path, output: Path, hash_seed: str, *options: str) -> dict[str, bytes]:
    """Write a report in a separate process; each seed orders sets and dictionaries of hashes differently."""
    command = [sys.executable, "-m", "perfanalysis", "report", str(run), "--output", str(output), *options]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run(command, check=True, env=environment, capture_output=True)
    return {str(path.relative_to(output)): path.read_bytes() for path in output.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("everything", "options", "kinds"),
    [
        (True, (), {".html", ".md", ".json", ".prom", ".parquet"}),
        pytest.param(False, ("--layout", "figures.yml", "--png", "--svg"), {".png", ".svg"}, marks=pytest.mark.deep),
    ],
    ids=["everything", "image files"],
)
def test_two_reports_of_one_run_are_identical(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, everything: bool, options: tuple[str, ...], kinds: set[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("figures.yml").write_text(_FIGURES)
    shape = Shape(workloads=30, nodes=4, pods=2, rate=10.0, duration=3.0, failing=0.05, everything=everything)
    run = write_run(tmp_path / "run", [shape])
    first, second = (_report(run, tmp_path / name, seed, *options) for name, seed in (("one", "1"), ("two", "2")))
    assert kinds <= {Path(name).suffix for name in first}
    assert first.keys() == second.keys()
    assert [name for name, content in first.items() if second[name] != content] == []
