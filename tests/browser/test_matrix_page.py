"""The report of a matrix of fine-tuning jobs in headless Chromium: charts are drawn, and a table can be sorted."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.reports.writing import make_report

from tests.browser.chromium import WHOLE, WIDTHS, open_page
from tests.data.fine_tuning_runs import Training, write_tuning_run
from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.browser
TRAININGS = [Training(gpus=2), Training(gpus=8), Training(gpus=1, outcome="failed"), Training(gpus=1)]
"""The third has no throughput, so that sorting covers a missing value."""
SORT = """
const table = document.querySelector("table.sortable");
const headings = [...table.querySelectorAll("thead th")];
const column = headings.findIndex((heading) => heading.textContent.trim() === "Samples");
const order = () => [...table.tBodies[0].rows].map((row) => row.cells[0].firstChild.textContent.trim());
const click = (name) => headings[column].querySelector("button").click();
const orders = [order()];
const sorts = [];
for (let time = 0; time < 2; time++) {
  click();
  orders.push(order());
  sorts.push(headings.map((heading) => heading.getAttribute("aria-sort")).filter(Boolean));
}
return { orders, sorts };
"""


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_matrix_table_is_sorted_by_its_headings(width: int, tmp_path: Path) -> None:
    page = make_report(write_tuning_run(tmp_path, TRAININGS)).index
    with open_page(page, width, tmp_path / "profile") as tab:
        whole = tab.find("return looked()")
        found = tab.find(SORT)
    assert whole == {**WHOLE, "pageWidth": width, "plots": whole["plots"]}
    assert found["orders"] == [
        ["cell 0", "cell 1", "cell 2", "cell 3"],
        ["cell 3", "cell 0", "cell 1", "cell 2"],
        ["cell 1", "cell 0", "cell 3", "cell 2"],
    ]
    assert found["sorts"] == [["ascending"], ["descending"]]


def test_small_matrix_results_fit_a_laptop(tmp_path: Path) -> None:
    shapes = [Shape(workloads=200, nodes=8, duration=2.0), Shape(workloads=20, nodes=2, pods=2, kind="PyTorchJob")]
    page = make_report(write_run(tmp_path, shapes)).index
    with open_page(page, 1300, tmp_path / "profile") as tab:
        found = tab.find(
            'return [...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth + 1)'
            '.map((one) => one.getAttribute("aria-label"))'
        )
    assert found == []
