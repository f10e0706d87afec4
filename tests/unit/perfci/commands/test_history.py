"""`perfdrv history site`: the page in a folder, and places that are refused."""

from __future__ import annotations

from pathlib import Path

from perfanalysis.results.history.folder import add

from tests.unit.analysis.histories import document, kpi
from tests.unit.driver.conftest import Perfdrv


def write_history(folder: Path) -> Path:
    """Create a history of six runs."""
    for day in range(6):
        add(folder, document(day, [kpi("wait", 1.0 + day / 100)]))
    return folder


def test_page_links_to_reports_of_the_runs_folder(perfdrv: Perfdrv, runs: Path, tmp_path: Path) -> None:
    report = runs / "run-002" / "report" / "index.html"
    report.parent.mkdir(parents=True)
    report.write_text("")
    done = perfdrv("history", "site", str(write_history(tmp_path / "history")), "--to", str(tmp_path / "site"))
    assert done.exit_code == 0, done.output
    assert f"page    {tmp_path}/site/history.html" in done.output
    assert "../runs/run-002/report/index.html" in (tmp_path / "site" / "history.html").read_text()


def test_invalid_store_is_refused_before_the_history_is_read(perfdrv: Perfdrv, tmp_path: Path) -> None:
    done = perfdrv("history", "site", str(tmp_path / "missing"), "--to", "s3://B")
    assert "'s3://B' is not a location in an S3 store" in str(done.exception)
