"""The documentation site, from disk: built without a warning, searched without a server, read on a phone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.chromium import WIDTHS, open_page
from tests.programs import PROJECT

pytestmark = pytest.mark.browser
COMMAND = "collection/cluster_enable_userworkload_monitoring_role.html"
# one page of each kind: the index, a command, settings, KPIs, wide tables and code, drawings
PAGES = ("index.html", COMMAND, "settings/scale_test.html", "kpis/index.html", "driver.html", "architecture.html")
FOUND = """
const links = () => [...document.querySelectorAll("#search-results ul.search li a")];
const summary = () => document.querySelector("#search-results .search-summary")?.textContent ?? "";
while (!/\\d|not match/.test(summary())) await pause(50);
return links().map((link) => link.href);
"""
READ = """
const wide = (one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX === "visible";
return {
  problems: window.problems,
  width: document.documentElement.scrollWidth,
  loaded: [...new Set(performance.getEntriesByType("resource").map((one) => new URL(one.name).protocol))],
  cut: [...document.querySelectorAll("article pre, article .table-wrapper")].filter(wide).length,
};
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site for these tests; return its folder."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    done = subprocess.run([sys.executable, "-m", "docs.website", folder], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_search_finds_the_command(site: Path, tmp_path: Path) -> None:
    with open_page(site / "index.html", WIDTHS["desktop"], tmp_path / "profile") as tab:
        tab.leave(
            'const asked = document.querySelector("input[name=q]"); asked.value = "user workload monitoring";'
            "asked.form.requestSubmit();"
        )
        found = tab.find(FOUND)
        [link] = [one for one in found if one.partition("#")[0].endswith(COMMAND) and "#" not in one]
        tab.leave(f'[...document.querySelectorAll("a")].find((one) => one.href === "{link}").click();')
        page = tab.find('return [location.pathname, document.querySelector("article pre").textContent.trim()]')
        problems = tab.find("return window.problems")
    assert page == [str(site / COMMAND), "$ perfdrv toolbox cluster enable-userworkload-monitoring"]
    assert problems == []


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_pages_fit(site: Path, width: int, tmp_path: Path) -> None:
    with open_page(site / "genindex.html", width, tmp_path / "profile") as tab:
        for page in PAGES:
            tab.leave(f'location.href = "{(site / page).as_uri()}"')
            expected = {"page": page, "problems": [], "width": width, "loaded": [], "cut": 0}
            assert {"page": page, **tab.find(READ)} == expected
