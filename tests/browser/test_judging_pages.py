"""Comparison and trends in headless Chromium: from disk, at desktop and phone width, with every chart drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.__main__ import run
from perfanalysis.results.history.folder import add

from tests.browser.chromium import WHOLE, WIDTHS, open_page
from tests.data.synthetic_runs import Shape, write_run
from tests.unit.analysis.histories import document, kpi

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write a comparison of two runs, and the trends of a run that is worse than its history."""
    root = tmp_path_factory.mktemp("judging")
    shapes = [[Shape(workloads=30, nodes=4, duration=1.0, seed=seed)] for seed in (1, 2)]
    runs = [write_run(root, shape, run=name) for shape, name in zip(shapes, ("a", "b"), strict=True)]
    assert run(["compare", *map(str, runs), "--output", str(root)]) == 0
    for day in range(12):
        slow = 1.5 if day > 9 else 1.0 + day % 3 / 100
        add(root / "history", document(day, [kpi("wait", slow), kpi("calm", 1.0 + day % 3 / 100)]))
    assert run(["regress", "run-011", "--history", str(root / "history"), "--output", str(root)]) == 4
    return {"comparison": root / "comparison.html", "regression": root / "regression.html"}


@pytest.mark.parametrize("device", list(WIDTHS))
@pytest.mark.parametrize(("name", "charts"), [("comparison", 2), ("regression", 2)])
def test_page_fits_at_every_width(pages: dict[str, Path], name: str, charts: int, device: str, tmp_path: Path) -> None:
    with open_page(pages[name], WIDTHS[device], tmp_path) as tab:
        found = tab.find("return looked()")
    assert found["plots"] >= charts
    assert found == {**WHOLE, "pageWidth": WIDTHS[device], "plots": found["plots"]}
