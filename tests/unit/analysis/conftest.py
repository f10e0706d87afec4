"""Synthetic runs for the tests of the analysis."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.synthetic_runs import Shape, write_run

DATA = Path(__file__).resolve().parents[2] / "data"
RECORDED = next((DATA / "runs" / "v1").iterdir())


@pytest.fixture
def small_run(tmp_path: Path) -> Path:
    """Return a finished run of 60 workloads on 16 GPUs, so that a queue forms."""
    return write_run(tmp_path, [Shape(workloads=60, nodes=2, duration=3.0)])


@pytest.fixture
def killed_run(tmp_path: Path) -> Path:
    """Return a run whose recorder was killed after 4 s: no accounting, every file truncated."""
    return write_run(tmp_path, [Shape(workloads=60, nodes=2, duration=3.0, cut_after=4.0)], status="running")


@pytest.fixture
def matrix_run(tmp_path: Path) -> Path:
    """Return a run of two cells."""
    shapes = [Shape(workloads=30, nodes=2, duration=2.0), Shape(workloads=20, nodes=2, pods=2, kind="PyTorchJob")]
    return write_run(tmp_path, shapes)


@pytest.fixture(scope="session")
def recorded_run() -> Path:
    """Return the small run of the first major version that the repository contains."""
    return RECORDED


@pytest.fixture
def quick_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip drawing, which test_matplotlib.py tests; elsewhere it would take most of the time."""
    monkeypatch.setattr("perfanalysis.drawing.page.image", lambda figure, _: figure.name.encode())
