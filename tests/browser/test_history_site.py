"""The page over a history in headless Chromium: filters, the chart of a selected KPI, and the same view by its link."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.__main__ import run
from perfanalysis.results.history.folder import add

from tests.browser.chromium import WHOLE, WIDTHS, open_page
from tests.unit.analysis.histories import document, kpi

pytestmark = pytest.mark.browser
SHOWN = """
const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)].filter((row) => !row.hidden);
const filter = (values) => {
  const form = document.getElementById("filters");
  for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
  form.dispatchEvent(new Event("input"));
};
const state = () => ({ kpis: rows("kpis").map((row) => row.cells[0].textContent), runs: rows("runs").length,
  title: document.getElementById("chart-title").textContent, found: document.getElementById("found").textContent });
"""


@pytest.fixture(scope="module", name="page")
def _page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of 24 runs of two flows, of which `wait` is worse at the end."""
    root = tmp_path_factory.mktemp("site")
    for day in range(24):
        noise = 1.0 + day % 3 / 100
        points = [kpi("wait", noise * (1.5 if day > 19 else 1.0)), kpi("calm", noise)]
        add(root / "history", document(day, points, flow=("scale_test", "kserve")[day % 2]))
    words = ["--to", str(root), "--reports", "{run}.html"]
    assert run(["history", "site", str(root / "history"), *words]) == 0
    return root / "history.html"


@pytest.mark.parametrize("device", list(WIDTHS))
def test_site_fits_at_every_width(page: Path, device: str, tmp_path: Path) -> None:
    with open_page(page, WIDTHS[device], tmp_path) as tab:
        found = tab.find("return looked()")
    assert found == {**WHOLE, "pageWidth": WIDTHS[device], "plots": 1}


def test_filters_select_kpis_and_runs(page: Path, tmp_path: Path) -> None:
    with open_page(page, WIDTHS["desktop"], tmp_path) as tab:
        whole = tab.find(f"{SHOWN} return state()")
        flow = tab.find(f"{SHOWN} filter({{ flow: 'kserve', verdict: 'same' }}); return state()")
        version = tab.find(f"{SHOWN} filter({{ flow: '', verdict: '', version: '4.2' }}); return state()")
        link = tab.find("return location.hash")
    with open_page(page, WIDTHS["desktop"], tmp_path / "again") as tab:
        tab.leave(f"location.hash = '{link}'; location.reload()")
        again = tab.find(f"{SHOWN} return state()")
    assert (whole["kpis"], whole["runs"]) == (["wait", "wait", "calm", "calm"], 24)
    assert whole["title"].startswith("wait: ")
    assert flow["kpis"] == ["calm"]
    assert flow["title"] == "calm: kserve: 001__scale_test__submit"
    assert flow["found"] == "1 of 4 KPIs of tests, 12 of 24 runs"
    # 4.2 and 4.20 to 4.23
    assert version["runs"] == 5
    assert again == version


def test_run_links_to_its_report(page: Path, tmp_path: Path) -> None:
    (page.parent / "run-023.html").write_text("<title>the report</title>")
    with open_page(page, WIDTHS["desktop"], tmp_path) as tab:
        links = tab.find("return [...document.querySelectorAll('#runs a')].map((link) => link.getAttribute('href'))")
        tab.leave("document.querySelector('#runs a').click()")
        title = tab.find("return document.title")
    assert links[0] == "run-023.html"
    assert title == "the report"
