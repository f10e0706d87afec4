"""Synthetic runs for the tests of the analysis."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.synthetic_runs import Shape, write_run

DATA = Path(__file__).resolve().parents[2] / "data"
RECORDED = next((DATA / "runs" / "v1").iterdir())


@pytest.fixture
def small_run(tmp_path: Path) -> Path:
    """A finished run of 60 workloads on 16 GPUs, so that a queue forms."""
    return write_run(tmp_path, [Shape(workloads=60, nodes=2, duration=3.0)])


@pytest.fixture
def killed_run(tmp_path: Path) -> Path:
    """A run whose recorder was killed after 4 s: no accounting, every file torn."""
    return write_run(tmp_path, [Shape(workloads=60, nodes=2, duration=3.0, cut_after=4.0)], status="running")


@pytest.fixture
def matrix_run(tmp_path: Path) -> Path:
    """A run of two cells."""
    shapes = [Shape(workloads=30, nodes=2, duration=2.0), Shape(workloads=20, nodes=2, pods=2, kind="PyTorchJob")]
    return write_run(tmp_path, shapes)


@pytest.fixture(scope="session")
def recorded_run() -> Path:
    """The small run of the first major version that the repository keeps."""
    return RECORDED


@pytest.fixture
def quick_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing is tested in test_matplotlib.py; elsewhere it would take most of the time."""
    monkeypatch.setattr("perfanalysis.drawing.page.image", lambda figure, _: figure.name.encode())
