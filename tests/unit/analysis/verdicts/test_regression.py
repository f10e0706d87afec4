"""Verdicts on a run by earlier ones: comparable runs, the meaning of a change, and the output."""

from __future__ import annotations

import datetime
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from perfanalysis.cli import cli
from perfanalysis.errors import DataQualityError, HistoryError, ThresholdError, UsageError
from perfanalysis.results.history.documents import Entry, entries_of, history_document
from perfanalysis.results.history.folder import add
from perfanalysis.verdicts.regression.series import Selection, alike
from perfanalysis.verdicts.regression.verdict import Options, Regression, regress
from perfanalysis.verdicts.regression.watched import Acknowledged, read_acknowledged
from perfanalysis.verdicts.regression.write import markdown_text, regression_document, sentence
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.synthetic_runs import Shape, write_run
from tests.schemas import check
from tests.unit.analysis.histories import document, kpi
from tests.unit.analysis.pages import figures_in

RUN = Path(__file__).resolve().parents[3] / "data" / "runs" / "v1" / "scale_test-20261120T093000Z-5f3a1c"
# Ten runs at about 1.0 that never vary by more than 2 %
CALM = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.01)


def entries(values: tuple[float, ...], name: str = "wait", direction: str = "lower") -> list[Entry]:
    """Return one run for each day, each with one KPI."""
    found: list[Entry] = []
    for day, value in enumerate(values):
        found += entries_of(document(day, [kpi(name, value, direction)]))
    return found


def judge_last(values: tuple[float, ...], direction: str = "lower", **options: Any) -> Regression:
    """Return the verdict on the last run of a series."""
    found = entries(values, direction=direction)
    return regress(found[-1:], found, Options(**options), Acknowledged())


def word(regression: Regression) -> str:
    """Return the verdict on the only KPI."""
    return regression.recordings[0].kpis[0].word


@pytest.mark.parametrize("method", ["change-point", "z-score"])
@pytest.mark.parametrize(
    ("last", "direction", "expected"),
    [
        (1.4, "lower", "worse"),
        (0.6, "lower", "better"),
        (1.4, "higher", "better"),
        (0.6, "higher", "worse"),
        (1.4, "neither", "different"),
        (1.01, "lower", "same"),
    ],
)
def test_direction_determines_the_verdict(method: Any, last: float, direction: str, expected: str) -> None:
    assert word(judge_last((*CALM, last), direction, method=method)) == expected


def test_change_below_the_margin_is_ignored() -> None:
    steady = (1.0, 1.001, 0.999, 1.0, 1.001, 0.999, 1.0, 1.03)
    assert word(judge_last(steady)) == "same"
    assert word(judge_last(steady, margin=0.02)) == "worse"


def test_change_names_its_first_run_and_an_old_one_is_history() -> None:
    regression = judge_last((*CALM, 1.4, 1.41, 1.39))
    change = regression.recordings[0].kpis[0].change
    assert change is not None
    assert (change.first.run, change.runs) == ("run-010", 3)
    assert isinstance(regression.error, ThresholdError)
    assert str(regression.error) == "1 KPI worse than before: 001__scale_test__submit: wait"
    old = judge_last((*CALM, 1.4, 1.41, 1.39), recent=2)
    assert (word(old), old.recordings[0].kpis[0].older) == ("same", ("run-010",))
    assert old.error is None


def test_effect_uses_only_levels_next_to_the_change() -> None:
    regression = judge_last((*(value * 3 for value in CALM), *CALM, 1.4, 1.41))
    verdict = regression.recordings[0].kpis[0]
    assert verdict.change is not None
    assert verdict.older == ("run-010",)
    assert verdict.change.effect.before == pytest.approx(1.0)
    assert verdict.change.effect.change == pytest.approx(0.405)


def test_too_little_history_is_reported_and_an_error_if_general() -> None:
    regression = judge_last((1.0, 1.0, 1.0, 9.0))
    assert word(regression) == "too little history"
    assert regression.recordings[0].kpis[0].reason == "change-point needs 4 earlier values, found 3"
    assert isinstance(regression.error, HistoryError)
    assert "3 of 3 other recordings in the history are comparable" in markdown_text(regression)


def test_too_little_history_lists_why_runs_do_not_count() -> None:
    found = entries((1.0,) * 6)
    others = [
        replace(found[0], status="failed"),
        replace(found[1], keys={**found[1].keys, "scale_test_rate": 40}),
        replace(found[2], keys={**found[2].keys, "scale_test_rate": 80}),
        replace(found[3], kind="other"),
        found[5],
    ]
    [note] = regress(found[4:5], others, Options(), Acknowledged()).notes
    assert note == (
        "001__scale_test__submit: 0 of 5 other recordings in the history are comparable: "
        "2 other scale_test_rate; 1 failed, not ok; 1 of another kind; 1 later"
    )
    [note] = regress(found[4:5], found[4:5], Options(), Acknowledged()).notes
    assert note == "001__scale_test__submit: the history has no other run"


def test_more_kpis_require_more_certain_changes() -> None:
    """The same p-value means a change for one KPI, and none among forty unchanged ones."""
    last = 1.056
    assert word(judge_last((*CALM, last), method="z-score")) == "worse"
    found: list[Entry] = []
    for day, value in enumerate((*CALM, last)):
        others = [kpi(f"other_{number}", 1.0) for number in range(40)]
        found += entries_of(document(day, [kpi("wait", value), *others]))
    regression = regress(found[-1:], found, Options(method="z-score"), Acknowledged())
    change = regression.recordings[0].kpis[0].change
    assert change is not None
    assert change.q == pytest.approx(41 * change.p)
    assert word(regression) == "same"


def test_only_equal_setups_are_compared() -> None:
    current = entries_of(document(9, [kpi("wait", 1.0)]))[0]
    history = [
        *entries_of(document(1, [], keys={"scale_test_count": 200})),
        *entries_of(document(2, [], status="failed")),
        *entries_of(document(3, [], lab=None)),
        *entries_of(document(4, [], flow="fine_tuning")),
        *entries_of(document(5, [])),
        *entries_of(document(6, [], keys={"scale_test_count": 100, "new": 1})),
        *entries_of(document(9, [])),
        *entries_of(document(10, [])),
    ]
    assert [entry.run for entry in alike(current, history, Selection())] == ["run-005"]
    free = Selection(compared=frozenset(["scale_test_count"]), ignored=frozenset(["new"]))
    assert [entry.run for entry in alike(current, history, free)] == ["run-001", "run-005", "run-006"]


def test_runs_can_be_ordered_by_version() -> None:
    found = [*entries_of(document(9, [])), *entries_of(document(10, [])), *entries_of(document(2, []))]
    current = entries_of(document(1, [], run="current", facts={"cluster.version": "4.11"}))[0]
    by_version = alike(current, found, Selection(sorted_by=("cluster.version",)))
    assert [entry.facts["cluster.version"] for entry in by_version] == ["4.2", "4.9", "4.10"]
    # By time, all of them are later.
    assert alike(current, found, Selection()) == ()


def test_acknowledged_change_is_ignored_until_its_expiry(tmp_path: Path) -> None:
    path = tmp_path / "acknowledged.yml"
    path.write_text(
        "- {kpi: wait, run: run-010, expires: 2026-06-30, reason: TLS is on now}\n"
        "- {kpi: wait, run: run-010, keys: {scale_test_count: 7}, expires: 2026-01-01, reason: old}\n"
    )
    found = entries((*CALM, 1.4, 1.41))
    on_the_day = read_acknowledged(path, datetime.date(2026, 6, 30))
    regression = regress(found[-1:], found, Options(), on_the_day)
    assert word(regression) == "acknowledged"
    assert regression.recordings[0].kpis[0].reason == "until 2026-06-30: TLS is on now"
    assert regression.notes == ("the acknowledgement of wait since run-010 expired on 2026-01-01: old",)
    assert regression.error is None
    after = regress(found[-1:], found, Options(), read_acknowledged(path, datetime.date(2026, 7, 1)))
    assert word(after) == "worse"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kpi: wait", "must be a list"),
        ("- {kpi: wait, run: a, expires: 2026-01-01}", "has no reason"),
        ("- {kpi: wait, run: a, expires: soon, reason: x}", "expires must be a date such as 2027-01-31, not 'soon'"),
        ("- {kpi: wait, run: a, expires: 2026-01-01, reason: x, until: y}", "unknown key until"),
        ("[", "no YAML"),
    ],
)
def test_invalid_acknowledgements_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "acknowledged.yml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_acknowledged(path, datetime.date(2026, 1, 1))


def test_verdict_states_size_certainty_and_begin() -> None:
    regression = judge_last((*CALM, 1.4, 1.41))
    text = sentence(regression.recordings[0].kpis[0])
    assert text.startswith("from 1.00\u202fs to 1.40\u202fs (+40.5%, 95 % interval +3")
    assert text.endswith(" since run-010")
    summary = markdown_text(regression)
    assert "# run-011 against its history\n\n1 worse.\n" in summary
    assert f"| worse | 001__scale_test__submit | wait | {text} |" in summary
    result = regression_document(regression)
    assert check(result) == "psap.perf/regression/1"
    assert sum(result["counts"].values()) == 1
    assert result["exit_code"] == 4


def test_run_names_are_escaped() -> None:
    named = [replace(entry, recording="a *cell* [1] | `x`") for entry in entries((*CALM, 1.4, 1.41))]
    regression = regress(named[-1:], named, Options(notes=("<b> & more",)), Acknowledged())
    text = markdown_text(regression)
    assert "| a \\*cell\\* \\[1\\] \\| \\`x\\` | wait |" in text
    assert "* \\<b\\> \\& more\n" in text


def with_history(folder: Path, values: dict[str, float]) -> None:
    """Return ten earlier runs of RUN, whose KPIs are those of *values* times CALM."""
    base = history_document(analyse_run(RUN, folder / "tables"))
    for day, factor in enumerate(CALM):
        earlier = json.loads(json.dumps(base))
        earlier |= {"run": f"earlier-{day}", "started": f"2026-10-{day + 1:02d}T00:00:00.000Z"}
        for each in earlier["recordings"][0]["kpis"]:
            each["value"] = values.get(each["name"], each["value"]) * factor
        add(folder / "history", earlier)


def test_run_is_judged_from_the_command_line(tmp_path: Path) -> None:
    with_history(tmp_path, {"completed_ratio": 1.2})
    words = ["regress", str(RUN), "--history", str(tmp_path / "history"), "--output", str(tmp_path)]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, ThresholdError)
    assert str(done.exception).endswith("completed_ratio")
    assert "| worse | 002__scale_test__submit | completed_ratio | from 120\u202f% to 85.0\u202f%" in done.output
    assert f"Page: {tmp_path / 'regression.html'}" in done.output
    written = json.loads((tmp_path / "regression.json").read_text())
    assert check(written) == "psap.perf/regression/1"
    assert written["counts"]["worse"] == 1
    suites = ElementTree.fromstring((tmp_path / "regression.xml").read_text())
    assert [case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None] == [
        "completed_ratio"
    ]
    assert suites[0].get("tests") == str(sum(written["counts"].values()))
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert check(verdict) == "psap.perf/verdict/1"
    assert (verdict["exit_code"], verdict["regression"]["counts"]) == (4, written["counts"])
    page = (tmp_path / "regression.html").read_text()
    assert '<span class="status worse">1 worse</span>' in page
    assert "regression.0_completed_ratio" in figures_in(tmp_path / "regression.html")


def test_run_without_history_has_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    words = ["regress", str(RUN), "--history", str(tmp_path / "history"), "--output", str(tmp_path), "--json"]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, HistoryError)
    assert str(done.exception).endswith(
        "has enough history: change-point needs 4 comparable earlier runs, found 0; add 4 more runs to the history"
    )
    assert json.loads(done.output)["exit_code"] == 6


def test_incomplete_run_is_reported_before_any_verdict(tmp_path: Path) -> None:
    run = write_run(tmp_path, [Shape(workloads=20, nodes=4, duration=1.0, lost=0.3)], run="torn")
    (tmp_path / "history").mkdir()
    words = ["regress", str(run), "--history", str(tmp_path / "history"), "--output", str(tmp_path), "--json"]
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, DataQualityError)
    written = json.loads(done.stdout)
    assert check(written) == "psap.perf/regression/1"
    assert (written["exit_code"], written["notes"][0][:6]) == (5, "torn: ")
    assert json.loads((tmp_path / "verdict.json").read_text())["exit_code"] == 5


def test_run_without_a_recording_cannot_be_judged(tmp_path: Path) -> None:
    copy = tmp_path / RUN.name
    copy.mkdir()
    shutil.copy(RUN / "run.json", copy)
    (tmp_path / "history").mkdir()
    done = CliRunner().invoke(cli, ["regress", str(copy), "--history", str(tmp_path / "history")])
    assert isinstance(done.exception, UsageError)
    assert "nothing to judge" in str(done.exception)
