"""Files of regress in addition to its summary: trends, JUnit, the common verdict file; and its other options."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from perfanalysis.__main__ import run
from perfanalysis.errors import UsageError
from perfanalysis.results.history.documents import Entry, entries_of
from perfanalysis.results.history.folder import add
from perfanalysis.verdicts.regression.methods import levels_of
from perfanalysis.verdicts.regression.page import axis_labels, newest, trend_chart, write_history_page
from perfanalysis.verdicts.regression.series import Selection
from perfanalysis.verdicts.regression.verdict import Options, regress
from perfanalysis.verdicts.regression.watched import Acknowledged, Watch, read_watched
from perfanalysis.workloads.trend import t_95

from tests.schemas import check
from tests.unit.analysis.histories import document, kpi
from tests.unit.analysis.pages import figures_in

CALM = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.01)


def kpis_of(day: int, slow: float) -> list[dict[str, Any]]:
    """Return a day's KPIs: one worse at the end, one better, one without direction, one constant, one added later."""
    noise = CALM[day % len(CALM)]
    late = [kpi("late", noise)] if day > 9 else []
    return [
        kpi("wait", noise * slow),
        kpi("rate", noise * slow, "higher", "widgets/s"),
        kpi("load", noise * slow, "neither", "1"),
        kpi("calm", noise),
        kpi("accepted", noise * slow),
        *late,
    ]


@pytest.fixture(name="history")
def _history(tmp_path: Path) -> Path:
    """Return twelve runs, the last two slower by half, with an acknowledgement of one KPI."""
    folder = tmp_path / "history"
    for day in range(12):
        add(folder, document(day, kpis_of(day, 1.5 if day >= 10 else 1.0)))
    text = "- {kpi: accepted, run: run-010, expires: 2999-01-01, reason: TLS}\n"
    (tmp_path / "accepted.yml").write_text(text)
    return folder


def write_files(history: Path, *words: str, code: int) -> Path:
    """Judge run-011 and return the folder of the output files."""
    output = history.parent / "out"
    asked = ["regress", "run-011", "--history", str(history), "--output", str(output)]
    assert run([*asked, "--acknowledged", str(history.parent / "accepted.yml"), *words]) == code
    return output


def test_every_output_file_agrees(history: Path) -> None:
    output = write_files(history, code=4)
    result = json.loads((output / "regression.json").read_text())
    assert check(result) == "psap.perf/regression/1"
    words = Counter(each["verdict"] for each in result["recordings"][0]["kpis"])
    counts = {"worse": 1, "different": 1, "better": 1, "acknowledged": 1, "same": 1, "too little history": 1}
    assert words == counts == {name.replace("_", " "): count for name, count in result["counts"].items()}
    summary = (output / "regression.md").read_text()
    assert "1 worse, 1 different, 1 better, 1 acknowledged, 1 same, 1 too little history." in summary
    assert sum(line.startswith("| ") for line in summary.splitlines()) - 2 == 4
    page = (output / "regression.html").read_text()
    assert all(f">{count} {word}</span>" in page for word, count in counts.items())
    root = ElementTree.fromstring((output / "regression.xml").read_text())
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("6", "1", "1")
    cases = root[0]
    assert (cases.get("tests"), cases.get("failures"), cases.get("skipped")) == ("6", "1", "1")


def test_verdict_file_keeps_the_threshold_results(history: Path) -> None:
    output = history.parent / "out"
    output.mkdir()
    thresholds = {"exit_code": 5, "reason": "2 were lost"}
    before = {
        "schema": "psap.perf/verdict/1",
        "run": "run-011",
        "flow": "scale_test",
        "lab": {"simulated": [], "emulated": [], "real": []},
        "exit_code": 5,
        "reason": "2 were lost",
        "thresholds": thresholds,
        "unjudged_allowed": False,
        "data_errors": ["2 were lost"],
        "recordings": [],
    }
    (output / "verdict.json").write_text(json.dumps(before))
    write_files(history, code=4)
    after = json.loads((output / "verdict.json").read_text())
    assert check(after) == "psap.perf/verdict/1"
    assert (after["exit_code"], after["regression"]["exit_code"], after["thresholds"]) == (5, 4, thresholds)
    assert after["reason"].startswith("2 were lost; 1 KPI worse than before")
    (output / "verdict.json").write_text(json.dumps({**before, "run": "another"}))
    write_files(history, code=4)
    assert "thresholds" not in json.loads((output / "verdict.json").read_text())


def test_levels_and_intervals_match_hand_computation() -> None:
    """Two levels of logarithms ±0.1 and 1 ± 0.1: s² = 4 · 0.01 / 2, mean ± t s / √2."""
    values = np.exp([-0.1, 0.1, 0.9, 1.1])
    first, second = levels_of(values.tolist(), (2,))
    reach = t_95(2) * np.sqrt(0.02) / np.sqrt(2)
    assert (first.begin, first.end, second.begin, second.end) == (0, 2, 2, 4)
    assert [first.value, second.value] == pytest.approx([1.0, np.e])
    assert [second.low, second.high] == pytest.approx([np.exp(1 - reach), np.exp(1 + reach)])
    (alone,) = levels_of([-2.0], ())
    assert (alone.value, alone.low, alone.high) == (-2.0, None, None)


def test_trend_marks_changes_this_run_and_levels(history: Path) -> None:
    entries = [entry for day in range(12) for entry in entries_of(document(day, kpis_of(day, 1.5 if day > 9 else 1)))]
    regression = regress(entries[-1:], entries, Options(), Acknowledged())
    verdict = next(each for each in regression.kpis() if each.kpi.name == "wait")
    layers = {layer.label: layer for layer in trend_chart(regression, verdict, 200).layers}
    assert layers["worse"].x.tolist() == [9.5]
    assert layers["runs"].y.tolist() == [entry.kpis["wait"].number for entry in entries]
    assert layers["this run"].x.tolist() == [11.0]
    assert layers["level"].x.tolist() == [-0.5, 9.5, 9.5, 11.5]
    assert layers["level"].y[2] == pytest.approx(layers["level"].y[0] * 1.5, rel=0.02)
    assert axis_labels(entries, (), ()) == ("cluster.version", tuple(f"4.{day}" for day in range(12)))


def test_history_page_has_a_section_per_test_kind(history: Path, tmp_path: Path) -> None:
    others = [document(day, [kpi("wait", 1.0)], run=f"other-{day}", keys={"scale_test_count": 7}) for day in range(3)]
    entries = [
        *(entry for day in range(12) for entry in entries_of(document(day, kpis_of(day, 1.0)))),
        *(entry for other in others for entry in entries_of(other)),
        *entries_of(document(13, [kpi("wait", 1.0)], run="failed", status="failed")),
    ]
    assert [entry.run for entry in newest(entries)] == ["other-2", "run-011"]
    page = write_history_page(entries, "nightly", tmp_path / "page" / "nightly.html", Options())
    text = page.read_text()
    # KPIs without a trend are not counted with the runs that have one.
    assert "<title>Trends of nightly" in text
    assert "<dt>Runs in trends</dt><dd>15</dd>" in text
    assert "<dt>Not in a trend</dt><dd>1 failed</dd>" in text
    assert "Against 2 earlier runs with the same keys: scale_test_count 7." in text
    assert "other-2: 001__scale_test__submit" in text
    assert "run-011: 001__scale_test__submit" in text
    assert "nightly.unchanged_1" in figures_in(page)


def test_history_page_is_written_from_the_command_line(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["history", "show", str(history)]
    assert run([*words, "--page", str(tmp_path / "page" / "trends.html"), "--sort-by", "cluster.version"]) == 0
    assert "run-011: 001__scale_test__submit" in (tmp_path / "page" / "trends.html").read_text()
    damaged = f"{'0' * 32}.json"
    (history / damaged).write_text("{")
    assert run([*words, "--page", str(tmp_path / "page" / "trends.html")]) == 0
    assert f"warning: {damaged}: left out: cannot read the file" in capsys.readouterr().err
    assert f"{damaged}: left out" in (tmp_path / "page" / "trends.html").read_text()
    (history / damaged).unlink()
    assert run(words) == 2
    assert "pass a RUN to print, or --page FILE" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert run(["history", "show", str(tmp_path / "empty"), "--page", str(tmp_path / "no.html")]) == 2
    assert "no successful run" in capsys.readouterr().err


def entries_with(values: tuple[float, ...], **facts: Any) -> list[Entry]:
    """Return one run for each day, with facts; a callable fact depends on the day."""
    found: list[Entry] = []
    for day, value in enumerate(values):
        facts_of_day = {name: fact(day) if callable(fact) else fact for name, fact in facts.items()}
        found += entries_of(document(day, [kpi("wait", value)], facts=facts_of_day))
    return found


def test_facts_can_become_keys_and_runs_be_excluded() -> None:
    found = entries_with((*CALM, 1.0), **{"cluster.version": lambda day: "4.9" if day % 2 else "4.10", "site": "a"})
    same = regress(found[-1:], found, Options(selection=Selection(same=frozenset(["cluster.version"]))), Acknowledged())
    assert [entry.run for entry in same.recordings[0].earlier] == [f"run-{day:03d}" for day in range(0, 10, 2)]
    skipped = Options(selection=Selection(skipped=(("cluster.version", "4.9"),)))
    left = regress(found[-1:], found, skipped, Acknowledged())
    assert [entry.run for entry in left.recordings[0].earlier] == [f"run-{day:03d}" for day in range(0, 10, 2)]


@pytest.mark.parametrize(
    "selection",
    [
        Selection(compared=frozenset(["scale_test_cout"])),
        Selection(ignored=frozenset(["scale_test_cout"])),
        Selection(sorted_by=("scale_test_cout",)),
        Selection(same=frozenset(["scale_test_cout"])),
        Selection(skipped=(("scale_test_cout", "1"),)),
    ],
)
def test_unknown_key_is_refused(selection: Selection) -> None:
    found = entries_with(CALM)
    with pytest.raises(UsageError, match="no run of the history has the key or fact scale_test_cout; did you mean"):
        regress(found[-1:], found, Options(selection=selection), Acknowledged())


def test_sort_keys_apply_in_order() -> None:
    versions = ["5.0.0-rc.1", "4.10", "4.9", "4.10", "5.0.0", "4.9"]
    builds = [1, 2, 9, 10, 1, 10]
    found = entries_with(
        (*CALM[:6], 1.0),
        **{"cluster.version": lambda day: (*versions, "5.1")[day], "build": lambda day: (*builds, 1)[day]},
    )
    options = Options(selection=Selection(sorted_by=("cluster.version", "build")))
    earlier = regress(found[-1:], found, options, Acknowledged()).recordings[0].earlier
    assert [(entry.value("cluster.version"), entry.value("build")) for entry in earlier] == [
        ("4.9", 9),
        ("4.9", 10),
        ("4.10", 2),
        ("4.10", 10),
        ("5.0.0-rc.1", 1),
        ("5.0.0", 1),
    ]


def judge_watched(*watches: Watch) -> dict[str, str]:
    """Return the verdicts on the last of twelve runs, by KPI."""
    entries = [entry for day in range(12) for entry in entries_of(document(day, kpis_of(day, 1.5 if day > 9 else 1)))]
    regression = regress(entries[-1:], entries, Options(watched=watches), Acknowledged())
    return {each.kpi.name: each.word for each in regression.kpis()}


def test_selected_kpis_are_judged_by_their_rules() -> None:
    assert judge_watched(Watch("wait"), Watch("calm")) == {"wait": "worse", "calm": "same"}
    assert judge_watched(Watch("wait", direction="higher")) == {"wait": "better"}
    assert judge_watched(Watch("load", direction="either")) == {"load": "worse"}
    assert judge_watched(Watch("rate", direction="either")) == {"rate": "worse"}
    assert judge_watched(Watch("wait", margin=0.6), Watch("*")) | {"wait": "same"} == judge_watched(
        Watch("wait", margin=0.6), Watch("*")
    )
    assert judge_watched(Watch("wait", keys={"scale_test_count": 7})) == {}
    assert judge_watched(Watch("wait", confirmed_by="rate"), Watch("rate"))["wait"] == "worse"
    assert judge_watched(Watch("wait", confirmed_by="calm"), Watch("calm"))["wait"] == "same"
    assert judge_watched(Watch("wait", confirmed_by="gone"))["wait"] == "same"


def test_watched_kpis_are_read_from_a_file(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = history.parent / "watched.yml"
    path.write_text(
        "- {kpi: wait, margin: 60%}\n- {kpi: 'l*', direction: either, confirmed_by: wait, within: 0}\n- {kpi: gone}\n"
    )
    assert read_watched(path)[:2] == (
        Watch("wait", margin=0.6),
        Watch("l*", direction="either", confirmed_by="wait", within=0),
    )
    output = write_files(history, "--watch", str(path), code=4)
    result = json.loads((output / "regression.json").read_text())
    assert {each["name"]: each["verdict"] for each in result["recordings"][0]["kpis"]} == {
        "wait": "same",
        "load": "worse",
        "late": "too little history",
    }
    assert "watched, but missing in all recordings: gone" in result["notes"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kpi: wait", "must be a list"),
        ("- {kpi: wait, until: x}", r":1: unknown key until in an entry of the file; known: kpi, direction"),
        ("- {margin: 5%}", ":1: an entry of the file has no kpi"),
        ("- {kpi: wait, direction: up}", "direction cannot be up; "),
        ("- {kpi: wait, margin: much}", "margin must be a number, not 'much'"),
        ("- {kpi: wait, within: -1}", "within must be a number of runs"),
        ("[", "no YAML"),
    ],
)
def test_invalid_watches_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "watched.yml").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_watched(tmp_path / "watched.yml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody"], "has no run nobody; "),
        (["run-0"], "the beginning of 12 runs"),
        (["run-011", "--skip", "site"], "--skip site: write NAME=VALUE"),
    ],
)
def test_invalid_options_are_refused(
    history: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert run(["regress", *words, "--history", str(history), "--output", str(history.parent)]) == 2
    assert message in capsys.readouterr().err


def test_run_of_a_history_requires_an_output_folder(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["regress", "run-011", "--history", str(history)]) == 2
    assert "pass --output" in capsys.readouterr().err
