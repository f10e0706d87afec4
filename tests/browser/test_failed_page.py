"""The report of a failed run in headless Chromium: the first failure, the colour switch, tables by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.reports.writing import make_report

from tests.browser.chromium import WHOLE, WIDTHS, open_page
from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.browser
LOOK = """
const [plot] = await drawn();
// a chart takes the colours when it is in sight
plot.scrollIntoView({ behavior: "instant" });
const shade = () => getComputedStyle(document.body).backgroundColor;
const ink = () => { const style = getComputedStyle(marks(plot)[0]); return style.fill + style.stroke; };
const switched = document.getElementById("scheme");
const shades = [shade()], inks = [ink()], words = [switched.textContent];
for (let time = 0; time < 3; time++) {
  const before = switched.textContent, was = ink();
  switched.click();
  // the page's own system colours are the light ones here: from system to light nothing changes but the word
  for (let wait = 0; wait < 100 && (switched.textContent === before || (time > 0 && ink() === was)); wait++)
    await pause(200);
  shades.push(shade()); inks.push(ink()); words.push(switched.textContent);
}
const named = [...document.querySelectorAll(".plot")].find((one) => one.layout.showlegend && one.data.length > 1);
const shown = marks(named).length;
const entry = named.querySelector(".legendtoggle");
const click = async () => {
  for (const kind of ["mousedown", "mouseup"]) entry.dispatchEvent(new MouseEvent(kind, { bubbles: true }));
  await pause(1500);
};
const states = [];
for (let time = 0; time < 2; time++) {
  await click();
  states.push(named.data.filter((trace) => trace.visible === "legendonly").length);
}
const table = document.querySelector("#percentiles table.sortable");
const column = [...table.querySelectorAll("th button")].find((button) => button.textContent.includes("P50"));
column.focus();
const focused = document.activeElement === column;
column.click();
const values = [...table.tBodies[0].rows].map((row) => row.cells[1].firstChild.textContent);
const first = document.querySelector("main section");
const unnamed = [...document.querySelectorAll("button, input, [tabindex='0'][role=region]")].filter(
  (one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.dataset.title)).length;
return {
  shades, inks, words, states, focused, values, unnamed,
  first: [first.id, first.querySelector(".message").textContent, first.querySelector(".log").scrollWidth > 0],
};
"""
FACTORS = {"\u00b5s": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


def seconds(text: str) -> float:
    number, unit = text.rsplit("\u202f", 1)
    return float(number.replace("\u202f", "")) * FACTORS[unit]


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_failed_run_shows_its_reason_and_files(width: int, tmp_path: Path) -> None:
    shape = Shape(workloads=120, nodes=4, duration=3.0, failing=0.1)
    page = make_report(write_run(tmp_path, [shape], status="failed")).index
    with open_page(page, width, tmp_path / "profile") as tab:
        found = tab.find(LOOK)
        whole = tab.find("return looked()")
    assert whole == {**WHOLE, "pageWidth": width, "plots": whole["plots"]}
    assert found["unnamed"] == 0
    assert found["first"] == [
        "errors",
        "12 of 300 workloads failed: BackoffLimitExceeded\nThe log is in artifacts/recorder.log",
        True,
    ]
    # system (light here), light, dark, system
    shades, inks = found["shades"], found["inks"]
    assert found["words"] == ["Colours: system", "Colours: light", "Colours: dark", "Colours: system"]
    assert shades[0] == shades[1] == shades[3] != shades[2]
    assert inks[0] == inks[1] == inks[3] != inks[2]
    # a click on a legend entry hides its series, another shows it again
    assert found["states"] == [1, 0]
    assert found["focused"] is True
    ordered = [seconds(value) for value in found["values"] if value != "\u2013"]
    assert len(ordered) > 8
    assert ordered == sorted(ordered)
