"""The report of a matrix of fine-tuning jobs in headless Chromium: charts drawn, and a table that can be sorted."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.reports.writing import make_report

from tests.browser.test_report_page import WIDTHS, look_at
from tests.data.fine_tuning_runs import Training, write_tuning_run

pytestmark = pytest.mark.browser
TRAININGS = [Training(gpus=2), Training(gpus=8), Training(gpus=1, outcome="failed"), Training(gpus=1)]
"""The third has no throughput, so that a missing value has to be sorted too."""
LOOK = """
<script>
window.addEventListener("load", () => setTimeout(() => {
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
  const canvases = [...document.querySelectorAll("canvas")];
  const drawn = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean);
  const problems = window.problems;
  const pageWidth = document.documentElement.scrollWidth;
  const empty = canvases.filter((canvas) => !drawn(canvas)).length;
  window.parent.postMessage(JSON.stringify({ problems, pageWidth, empty, orders, sorts }), "*");
}, 200));
</script>
"""


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_the_table_of_a_matrix_is_sorted_by_its_headings(width: int, tmp_path: Path) -> None:
    page = make_report(write_tuning_run(tmp_path, TRAININGS)).index
    found = look_at(page, width, tmp_path, look=LOOK)
    assert (found["problems"], found["empty"], found["pageWidth"]) == ([], 0, width)
    assert found["orders"] == [
        ["cell 0", "cell 1", "cell 2", "cell 3"],
        ["cell 3", "cell 0", "cell 1", "cell 2"],
        ["cell 1", "cell 0", "cell 3", "cell 2"],
    ]
    assert found["sorts"] == [["ascending"], ["descending"]]
