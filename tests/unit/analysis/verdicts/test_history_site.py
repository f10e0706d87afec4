"""The page over a history: its data, what it leaves out, and refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.__main__ import run
from perfanalysis.results.history.folder import add, load
from perfanalysis.results.scrubbing import STANDARD
from perfanalysis.verdicts.regression.methods import corrected
from perfanalysis.verdicts.regression.verdict import Options
from perfanalysis.verdicts.site.commands import link_to
from perfanalysis.verdicts.site.document import SiteOptions, site_document

from tests.unit.analysis.histories import document, kpi

CALM = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.01)


@pytest.fixture(name="history")
def _history(tmp_path: Path) -> Path:
    """Return 20 runs: `wait` is better from the sixth to the twelfth, then as before, and worse at the end."""
    folder = tmp_path / "nightly"
    for day in range(20):
        factor = 0.5 if 6 <= day < 13 else 1.5 if day >= 18 else 1.0
        values = [kpi("wait", factor * CALM[day % 10])]
        values += [kpi("renamed", CALM[day % 10])] if day < 10 else [kpi("calm", CALM[day % 10])]
        add(folder, document(day, values))
    add(folder, document(20, [kpi("wait", 9.0)], status="failed"))
    add(folder, document(21, [kpi("wait", 2.0)], keys={"scale_test_count": 200}))
    return folder


def data_of(history: Path, link: Any = lambda _run: "") -> Any:
    """Return the data of the history's site."""
    return site_document(load(history).documents, SiteOptions(Options(), link, STANDARD))


def test_series_have_values_steps_and_verdicts(history: Path) -> None:
    data = data_of(history)
    wait = next(each for each in data["series"] if each["kpi"] == "wait" and len(each["runs"]) > 1)
    assert wait["runs"] == list(range(20))
    assert wait["values"][:3] == [1.0, 1.01, 0.99]
    assert (wait["word"], wait["unit"], wait["newest"]) == ("worse", "s", "1.52\u202fs")
    assert [(step["at"], step["word"]) for step in wait["steps"]] == [(6, "better"), (13, "worse"), (18, "worse")]
    # by hand: the medians of 1.02, 0.98, 1.00, 1.01, 0.99 and of 1.5, 1.515
    assert wait["change"] == wait["steps"][-1]["text"] == "+50.8\u202f%"
    assert [level[:2] for level in wait["levels"]] == [[0, 6], [6, 13], [13, 18], [18, 20]]


def test_kpi_that_newest_runs_lack_is_shown(history: Path) -> None:
    renamed = next(each for each in data_of(history)["series"] if each["kpi"] == "renamed")
    assert renamed["runs"] == list(range(10))
    assert renamed["word"] == "same"


def test_other_keys_are_another_test_and_failed_runs_have_no_value(history: Path) -> None:
    data = data_of(history)
    assert [test["keys"] for test in data["tests"]] == [{"scale_test_count": "100"}, {"scale_test_count": "200"}]
    assert data["runs"][20]["status"] == "failed"
    assert all(20 not in each["runs"] for each in data["series"])
    alone = next(each for each in data["series"] if each["runs"] == [21])
    assert alone["word"] == "too little history"


def test_page_is_scrubbed_and_has_versions(history: Path, tmp_path: Path) -> None:
    labelled = {**kpi("wait", 2.0), "labels": {"at": "https://api.bench.example.com:6443"}}
    add(history, document(22, [labelled], flow="kserve"))
    assert run(["history", "site", str(history), "--to", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "history.html").read_text()
    assert "bench-7" not in text
    assert "api.bench" not in text
    assert '"cluster.version":"4.7"' in text
    assert not re.findall(r'(?:src|href)="(?!#|data:)', text)
    assert len(text) < 5e6


def test_links_lead_to_reports_that_exist(history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "runs" / "run-003" / "report" / "index.html"
    report.parent.mkdir(parents=True)
    report.write_text("")
    links = [each["report"] for each in data_of(history, link_to(tmp_path / "runs", tmp_path / "out"))["runs"]]
    assert links[3] == "../runs/run-003/report/index.html"
    assert set(links) == {"", links[3]}
    words = ["history", "site", str(history), "--to", str(tmp_path / "out")]
    assert run([*words, "--reports", "https://pages.example.com/{run}.html"]) == 0
    found = json.loads(
        re.findall(r'id="history">(.*?)</script>', (tmp_path / "out" / "history.html").read_text(), re.DOTALL)[0]
    )
    assert found["runs"][3]["report"] == "https://pages.example.com/run-003.html"
    assert run([*words, "--reports", "https://pages.example.com"]) == 2
    assert "write {run} in place of the run's ID" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("nothing", "nothing is not a history; create it with"),
        ("s3://bucket/history", "s3://bucket/history is not a history; pass a folder, or the https:// address"),
        ("http://127.0.0.1:9", "cannot connect to http://127.0.0.1:9"),
    ],
)
def test_source_that_is_no_history_is_refused(
    source: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["history", "site", source, "--to", "out"]) in (2, 3)
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_empty_history_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert run(["history", "site", str(tmp_path / "empty"), "--to", str(tmp_path / "out")]) == 2
    assert "empty contains no run: nothing to show" in capsys.readouterr().err


def test_corrected_p_values_are_those_of_benjamini_and_hochberg() -> None:
    # by hand: 0.01 · 4 / 1, 0.02 · 4 / 2, 0.03 · 4 / 3, 0.9 · 4 / 4, each at most the next
    assert corrected([0.9, 0.02, 0.03, 0.01]) == pytest.approx((0.9, 0.04, 0.04, 0.04))
    assert corrected([0.5, 0.8]) == pytest.approx((0.8, 0.8))
    assert corrected([]) == ()
