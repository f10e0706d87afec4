"""The report of a failed run in headless Chromium: what failed first, the switch of colours, tables by the keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.reports.writing import make_report

from tests.browser.test_report_page import WIDTHS, look_at
from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.browser
LOOK = """
<script>
window.addEventListener("load", () => setTimeout(() => {
  const shade = () => getComputedStyle(document.body).backgroundColor;
  const pixels = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const ink = (canvas) => { let sum = 0; pixels(canvas).forEach((part) => { sum += part; }); return sum; };
  const canvases = [...document.querySelectorAll("canvas")];
  const empty = canvases.filter((canvas) => !pixels(canvas).some(Boolean)).length;
  const switched = document.getElementById("scheme");
  const shades = [shade()], inks = [ink(canvases[0])], words = [switched.textContent];
  for (let time = 0; time < 3; time++) {
    switched.click();
    shades.push(shade()); inks.push(ink(canvases[0])); words.push(switched.textContent);
  }
  const entry = document.querySelector(".legend button");
  const chart = entry.closest(".chart").querySelector("canvas");
  const shown = ink(chart);
  entry.click();
  const hidden = ink(chart), pressed = entry.getAttribute("aria-pressed");
  entry.click();
  const table = document.querySelector("#percentiles table.sortable");
  const column = [...table.querySelectorAll("th button")].find((button) => button.textContent.includes("P50"));
  column.focus();
  const focused = document.activeElement === column;
  column.click();
  const values = [...table.tBodies[0].rows].map((row) => row.cells[1].firstChild.textContent);
  const first = document.querySelector("main section");
  const unnamed = [...document.querySelectorAll("button, input, [tabindex='0'][role=region]")].filter(
    (one) => !(one.textContent.trim() || one.getAttribute("aria-label"))).length;
  window.parent.postMessage(JSON.stringify({
    problems: window.problems, pageWidth: document.documentElement.scrollWidth, empty, shades, inks, words,
    legend: [shown !== hidden, pressed, shown === ink(chart)], focused, values, unnamed,
    first: [first.id, first.querySelector(".message").textContent, first.querySelector(".log").scrollWidth > 0],
  }), "*");
}, 200));
</script>
"""
FACTORS = {"\u00b5s": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


def seconds(text: str) -> float:
    number, unit = text.rsplit("\u202f", 1)
    return float(number.replace("\u202f", "")) * FACTORS[unit]


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_a_failed_run(width: int, tmp_path: Path) -> None:
    shape = Shape(workloads=120, nodes=4, duration=3.0, failing=0.1)
    page = make_report(write_run(tmp_path, [shape], status="failed")).index
    found = look_at(page, width, tmp_path, look=LOOK)
    assert (found["problems"], found["empty"], found["pageWidth"], found["unnamed"]) == ([], 0, width, 0)
    assert found["first"] == [
        "errors",
        "12 of 300 workloads failed: BackoffLimitExceeded\nThe log is in artifacts/recorder.log",
        True,
    ]
    # system (light here), light, dark, system
    shades, inks = found["shades"], found["inks"]
    assert isinstance(shades, list)
    assert isinstance(inks, list)
    assert found["words"] == ["Colours: system", "Colours: light", "Colours: dark", "Colours: system"]
    assert shades[0] == shades[1] == shades[3] != shades[2]
    assert inks[0] == inks[1] == inks[3] != inks[2]
    assert found["legend"] == [True, "false", True]
    assert found["focused"] is True
    values = found["values"]
    assert isinstance(values, list)
    ordered = [seconds(value) for value in values if value != "\u2013"]
    assert len(ordered) > 8
    assert ordered == sorted(ordered)
