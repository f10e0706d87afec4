"""The report in headless Chromium: from disk, at desktop and phone width, in light and dark.

A script put into a copy of the page looks at the page from within and writes what it found into the document, which
Chromium then prints. The network is closed: whatever the page tried to load would be an error it reports.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from perfanalysis.reports.writing import make_report

from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or "chromium"
WIDTHS = {"desktop": 1440, "phone": 390}
WATCH = """
<script>
window.problems = [];
const note = (text) => window.problems.push(text);
for (const name of ["error", "unhandledrejection"]) {
  window.addEventListener(name, (event) => note(`${name}: ${event.message || event.reason}`), true);
}
document.addEventListener("securitypolicyviolation", (event) => note(`tried to load ${event.blockedURI}`));
for (const name of ["error", "warn"]) console[name] = (...words) => note(`console.${name}: ${words.join(" ")}`);
const drawn = (canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i]) return true;
  return false;
};
</script>
"""
LOOK = """
<script>
window.addEventListener("load", () => setTimeout(() => {
  const figures = JSON.parse(document.getElementById("chart-data").textContent);
  const canvases = [...document.querySelectorAll("canvas")];
  const search = document.querySelector("#settings input[type=search]");
  const rows = () => [...document.querySelectorAll("#settings tbody tr")].filter((row) => !row.hidden).length;
  const before = rows();
  search.value = "smoke rate";
  search.dispatchEvent(new Event("input"));
  const chart = canvases[0].closest(".chart");
  const box = canvases[0].getBoundingClientRect();
  let tip = "";
  for (let x = 60; x < box.width && !tip; x += 4) for (let y = 10; y < box.height && !tip; y += 4) {
    chart.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y }));
    const shown = chart.querySelector(".tip");
    if (!shown.hidden) tip = shown.textContent;
  }
  const found = {
    problems: window.problems,
    loaded: performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => !/^data:/.test(name)),
    pageWidth: document.documentElement.scrollWidth,
    viewport: document.documentElement.clientWidth,
    canvases: canvases.length,
    charts: Object.values(figures).flatMap((figure) => figure.rows.flat()).length,
    empty: canvases.filter((canvas) => !drawn(canvas)).length,
    settings: [before, rows()],
    tip,
    background: getComputedStyle(document.body).backgroundColor,
  };
  window.parent.postMessage(JSON.stringify(found), "*");
}, 200));
</script>
"""

# Chromium has no window narrower than 500 pixels, so the page stands in a frame of the wanted width.
FRAME = """<!DOCTYPE html><iframe src="page.html" style="width:{width}px;height:900px;border:0"></iframe>
<script>
window.addEventListener("message", (event) => {{
  const found = document.createElement("pre");
  found.id = "found";
  found.textContent = event.data;
  document.body.append(found);
}});
</script>
"""


def look_at(page: Path, width: int, tmp_path: Path, *options: str, look: str = LOOK) -> dict[str, object]:
    """Open a watched copy of a page; returns what the script within, `look`, found."""
    text = page.read_text().replace("<head>", f"<head>{WATCH}", 1)
    (tmp_path / "page.html").write_text(text.replace("</body>", f"{look}</body>", 1))
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(width=width))
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--hide-scrollbars",
        "--window-size=1600,1000",
        "--virtual-time-budget=5000",
        *options,
        "--dump-dom",
        frame.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-2000:]
    parsed: dict[str, object] = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    return parsed


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shape = Shape(workloads=120, nodes=4, duration=3.0, failing=0.05, refused=0.05)
    return make_report(write_run(tmp_path_factory.mktemp("runs"), [shape])).index


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_the_page_fits_and_loads_nothing(page: Path, width: int, tmp_path: Path) -> None:
    found = look_at(page, width, tmp_path)
    assert found["problems"] == []
    assert found["loaded"] == []
    assert found["viewport"] == width
    assert found["pageWidth"] == width
    assert found["canvases"] == found["charts"]
    assert found["empty"] == 0
    assert found["settings"] == [9, 1]
    assert re.search(r"\d", str(found["tip"]))


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_a_page_of_everything_fits_and_loads_nothing(width: int, tmp_path: Path) -> None:
    shape = Shape(workloads=120, nodes=6, pods=2, rate=20.0, duration=5.0, everything=True)
    page = make_report(write_run(tmp_path, [shape])).index
    found = look_at(page, width, tmp_path)
    assert (found["problems"], found["loaded"], found["empty"]) == ([], [], 0)
    assert (found["pageWidth"], found["canvases"]) == (width, found["charts"])


def test_a_page_of_cells_fits_a_phone(tmp_path: Path) -> None:
    shapes = [Shape(workloads=40, nodes=2, duration=1.0), Shape(workloads=40, nodes=2, pods=2, kind="PyTorchJob")]
    page = make_report(write_run(tmp_path, shapes)).index
    found = look_at(page, WIDTHS["phone"], tmp_path)
    assert (found["problems"], found["loaded"], found["empty"]) == ([], [], 0)
    assert found["pageWidth"] == WIDTHS["phone"]


def test_dark_and_light_differ(page: Path, tmp_path: Path) -> None:
    colours = []
    for scheme in ("0", "1"):
        folder = tmp_path / scheme
        folder.mkdir()
        option = f"--blink-settings=preferredColorScheme={scheme}"
        colours.append(look_at(page, WIDTHS["desktop"], folder, option)["background"])
    assert colours == ["rgb(14, 19, 26)", "rgb(244, 246, 249)"]
