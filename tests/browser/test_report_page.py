"""The report in headless Chromium: from disk, without a network, at desktop and phone width, in light and dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from perfanalysis.reports.writing import make_report

from tests.browser.chromium import WHOLE, WIDTHS, open_page
from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.browser
SEARCH = """
const search = document.querySelector("#settings input[type=search]");
const rows = () => [...document.querySelectorAll("#settings tbody tr")].filter((row) => !row.hidden).length;
const before = rows();
search.value = "smoke rate";
search.dispatchEvent(new Event("input"));
return [before, rows()];
"""
CHARTS = """
const figures = JSON.parse(document.getElementById("chart-data").textContent);
return Object.values(figures).flatMap((figure) => figure.rows.flat()).length;
"""
POINT = """
const plot = document.querySelector(".plot");
plot.scrollIntoView({ behavior: "instant", block: "center" });
await pause(100);
const boxes = marks(plot).map((mark) => mark.getBoundingClientRect());
const box = boxes[Math.floor(boxes.length / 2)];
return [box.x + box.width / 2, box.y + box.height / 2];
"""
INSIDE = """
const box = document.querySelector(".plot .nsewdrag").getBoundingClientRect();
return [box.x, box.y, box.width, box.height];
"""
RANGE = "return document.querySelector('.plot').layout.xaxis.range;"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shape = Shape(workloads=120, nodes=4, duration=3.0, failing=0.05, refused=0.05)
    return make_report(write_run(tmp_path_factory.mktemp("runs"), [shape])).index


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_page_fits_and_loads_nothing(page: Path, width: int, tmp_path: Path) -> None:
    with open_page(page, width, tmp_path) as tab:
        assert tab.find("return looked()") == {**WHOLE, "pageWidth": width, "plots": tab.find(CHARTS)}
        assert tab.find(SEARCH) == [9, 1]


def test_charts_show_values_and_zoom(page: Path, tmp_path: Path) -> None:
    with open_page(page, WIDTHS["desktop"], tmp_path) as tab:
        tab.find("await drawn()")
        x, y = tab.find(POINT)
        tab.mouse("mouseMoved", x, y)
        shown = tab.find("await pause(300); return document.querySelector('.plot .hoverlayer').textContent")
        assert re.search(r"\d.* at .*\d", shown)
        left, top, width, height = tab.find(INSIDE)
        low, high = tab.find(RANGE)
        tab.mouse("mousePressed", left + width / 4, top + height / 2)
        for part in (0.3, 0.4, 0.5):
            tab.mouse("mouseMoved", left + part * width, top + height / 2)
        tab.mouse("mouseReleased", left + width / 2, top + height / 2)
        first, last = tab.find(f"await pause(500); {RANGE}")
        assert first == pytest.approx(low + (high - low) / 4, rel=0.05)
        assert last == pytest.approx(low + (high - low) / 2, rel=0.05)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_page_of_everything_fits_and_loads_nothing(width: int, tmp_path: Path) -> None:
    shape = Shape(workloads=120, nodes=6, pods=2, rate=20.0, duration=5.0, everything=True)
    page = make_report(write_run(tmp_path, [shape])).index
    with open_page(page, width, tmp_path / "profile") as tab:
        assert tab.find("return looked()") == {**WHOLE, "pageWidth": width, "plots": tab.find(CHARTS)}


def test_page_of_cells_fits_a_phone(tmp_path: Path) -> None:
    shapes = [Shape(workloads=40, nodes=2, duration=1.0), Shape(workloads=40, nodes=2, pods=2, kind="PyTorchJob")]
    page = make_report(write_run(tmp_path, shapes)).index
    with open_page(page, WIDTHS["phone"], tmp_path / "profile") as tab:
        assert tab.find("return looked()") == {**WHOLE, "pageWidth": WIDTHS["phone"], "plots": tab.find(CHARTS)}


def test_page_follows_the_dark_and_light_scheme(page: Path, tmp_path: Path) -> None:
    colours = []
    for scheme in ("dark", "light"):
        with open_page(page, WIDTHS["desktop"], tmp_path / scheme, scheme) as tab:
            colours.append(tab.find("await drawn(); return getComputedStyle(document.body).backgroundColor"))
            colours.append(tab.find("return getComputedStyle(marks(document.querySelector('.plot'))[0]).fill"))
    assert colours == ["rgb(14, 19, 26)", "rgb(122, 161, 255)", "rgb(244, 246, 249)", "rgb(47, 63, 240)"]
