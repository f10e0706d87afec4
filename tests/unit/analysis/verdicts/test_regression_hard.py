"""Regression verdicts on difficult series: no noise, ties, signs, gaps, one KPI and a thousand."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perfanalysis.results.history.documents import Entry, entries_of
from perfanalysis.verdicts.files import junit_text
from perfanalysis.verdicts.regression.page import trend_figures
from perfanalysis.verdicts.regression.series import Selection
from perfanalysis.verdicts.regression.verdict import Options, Regression, regress
from perfanalysis.verdicts.regression.watched import Acknowledged, read_acknowledged
from perfanalysis.verdicts.regression.write import markdown_text, regression_document, suites_of

from tests.schemas import check
from tests.unit.analysis.histories import document, kpi

METHODS = ("change-point", "z-score")


def history_of(series: dict[str, Sequence[float | None]], direction: str = "lower", **changes: Any) -> list[Entry]:
    """Return a run for each value of the series; None: the run does not have the KPI."""
    count = len(next(iter(series.values())))
    found: list[Entry] = []
    for day in range(count):
        kpis = [kpi(name, value, direction) for name, values in series.items() if (value := values[day]) is not None]
        found += entries_of(document(day, kpis, **changes))
    return found


def judge_last(series: dict[str, Sequence[float | None]], direction: str = "lower", **options: Any) -> Regression:
    """Return the verdict on the last run; check that every output format can be written."""
    found = history_of(series, direction)
    regression = regress(found[-1:], found, Options(**options), Acknowledged())
    assert check(regression_document(regression)) == "psap.perf/regression/1"
    assert markdown_text(regression)
    assert junit_text(regression.run, suites_of(regression))
    assert all(trend_figures(regression, each, 0) for each in regression.recordings)
    return regression


def word(values: Sequence[float | None], direction: str = "lower", **options: Any) -> str:
    """Return the verdict on the last value of the only KPI."""
    return judge_last({"wait": values}, direction, **options).recordings[0].kpis[0].word


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0] * 10 + [1.0], "same"),
        ([1.0] * 10 + [2.0], "worse"),
        ([1.0] * 10 + [0.5], "better"),
        ([0.0] * 10 + [0.0], "same"),
        ([0.0] * 10 + [1.0], "worse"),
        ([1.0] * 10 + [0.0], "better"),
        ([0.1 + 0.2] * 5 + [0.3] * 6, "same"),
        ([1e-300] * 10 + [2e-300], "worse"),
        ([1e300] * 10 + [2e300], "worse"),
    ],
)
def test_constant_series_have_no_change(method: str, values: list[float], expected: str) -> None:
    assert word(values, method=method) == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("direction", "expected"), [("lower", "better"), ("higher", "worse"), ("neither", "different")]
)
def test_negative_values_have_a_direction(method: str, direction: str, expected: str) -> None:
    """From -1 to -2 is down."""
    values = [-1.0, -1.02, -0.98, -1.01, -0.99, -1.0, -1.02, -0.98, -2.0]
    assert word(values, direction, method=method) == expected


def test_values_on_both_sides_of_zero() -> None:
    values = [-0.02, 0.01, 0.0, 0.02, -0.01, 0.01, -0.02, 0.0, 0.01, 3.0]
    assert word(values) == "worse"
    assert word(values, "higher") == "better"
    # The median before is exactly 0: no share of it exists.
    change = judge_last({"wait": values}).recordings[0].kpis[0].change
    assert change is not None
    assert change.effect.change is None or math.isfinite(change.effect.change)


def test_ties_are_not_changes() -> None:
    """Repeated whole numbers: two alternating values are noise, and so is one more of them."""
    for last in (3.0, 4.0):
        assert word([3.0, 4.0] * 10 + [last]) == "same"
        assert word([3.0, 4.0] * 20 + [last], method="percentile") == "same"
    assert word([3.0, 4.0] * 20 + [9.0], method="percentile") == "worse"


def test_improvements_of_any_size_pass() -> None:
    calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99]
    for method in METHODS:
        for factor in (0.001, 0.5, 0.9):
            regression = judge_last({"wait": [*calm, factor]}, method=method)
            assert (regression.recordings[0].kpis[0].word, regression.error) == ("better", None)
        regression = judge_last({"wait": [*calm, 1000.0]}, "higher", method=method)
        assert regression.error is None


def test_reverted_regression_is_history() -> None:
    calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99]
    regression = judge_last({"wait": [*calm, *(2 * value for value in calm), *calm]})
    verdict = regression.recordings[0].kpis[0]
    assert (verdict.word, verdict.older) == ("same", ("run-008", "run-016"))


def test_repaired_regression_does_not_hide_a_new_one() -> None:
    calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99]
    mended = [*calm, 2.0, 2.01, 2.02, 1.99, 2.0, *calm]
    assert word(mended) == "same"
    regression = judge_last({"wait": [*mended, 1.2, 1.21]})
    verdict = regression.recordings[0].kpis[0]
    assert (verdict.word, verdict.older) == ("worse", ("run-008", "run-013"))


def test_missing_values_are_left_out_and_counted() -> None:
    calm = [1.0, 1.01, None, 1.02, 0.98, None, None, 0.99, 1.0, 1.02]
    regression = judge_last({"wait": [*calm, 1.4], "other": [1.0, 1.01] * 5 + [1.0]})
    (recording,) = regression.recordings
    verdict = next(each for each in recording.kpis if each.kpi.name == "wait")
    assert (verdict.word, verdict.count, len(recording.earlier)) == ("worse", 7, 10)
    assert verdict.change is not None
    assert verdict.change.first.run == "run-010"


def test_too_many_gaps_are_too_little_history() -> None:
    assert word([1.0, None, None, 1.0, None, 1.0, None, 5.0]) == "too little history"


def test_non_finite_numbers_are_left_out() -> None:
    values = [1.0, 1.01, math.nan, 0.99, math.inf, 1.02, 0.98, 1.0, 1.4]
    regression = judge_last({"wait": values})
    assert (regression.recordings[0].kpis[0].word, regression.recordings[0].kpis[0].count) == ("worse", 6)
    # A run whose own value is missing has no verdict.
    assert count_judged_kpis([*values[:8], math.nan]) == 0


def count_judged_kpis(values: Sequence[float]) -> int:
    found = history_of({"wait": values})
    return len(regress(found[-1:], found, Options(), Acknowledged()).kpis())


def test_value_in_another_unit_is_another_kpi() -> None:
    found = [entry for day in range(6) for entry in entries_of(document(day, [kpi("wait", 1000.0, unit="1")]))]
    found += [entry for day in range(6, 12) for entry in entries_of(document(day, [kpi("wait", 1.0)]))]
    regression = regress(found[-1:], found, Options(), Acknowledged())
    assert regression.recordings[0].kpis[0].count == 5


@pytest.mark.parametrize("method", METHODS)
def test_few_of_a_thousand_flat_kpis_are_flagged(method: str) -> None:
    """q is at most 5 %: no more than about one in twenty reported changes is wrong; the seed is fixed."""
    noise = np.random.default_rng(7).normal(100, 3, (1000, 30))
    noise[:50, 25:] *= 1.3
    if method == "z-score":
        noise[:50, 25:29] /= 1.3
    series: dict[str, Sequence[float | None]] = {f"kpi_{number:04d}": row.tolist() for number, row in enumerate(noise)}
    found = history_of(series)
    regression = regress(found[-1:], found, Options(method=method), Acknowledged())  # type: ignore[arg-type]
    changes = [kpi.kpi.name for _, kpi in (*regression.of("worse"), *regression.of("better"))]
    wrong = [name for name in changes if name >= "kpi_0050"]
    assert len(changes) - len(wrong) == 50
    assert len(wrong) <= 5
    assert sum(regression.counts().values()) == 1000


def test_corrections_match_their_definition() -> None:
    """q of the i-th smallest p is the least of p_j m / j over j ≥ i, over all KPIs; a flat one counts as p = 1."""
    noise = np.random.default_rng(7).normal(100, 3, (40, 30))
    noise[:20, 25:] *= np.linspace(1.02, 1.3, 20)[:, None]
    found = history_of({f"kpi_{number:02d}": row.tolist() for number, row in enumerate(noise)})
    changes = [kpi.change for kpi in regress(found[-1:], found, Options(), Acknowledged()).kpis()]
    p = np.array([1.0 if change is None else change.p for change in changes])
    assert (p < 1).sum() > 10
    order = np.argsort(p)
    plain = p[order] * len(p) / np.arange(1, len(p) + 1)
    expected = np.empty(len(p))
    expected[order] = [min(1.0, plain[place:].min()) for place in range(len(p))]
    for change, q in zip(changes, expected, strict=True):
        assert change is None or change.q == pytest.approx(q)


@pytest.mark.parametrize(
    ("version", "earlier"),
    [
        ("4.9", []),
        ("4.10", ["4.9"]),
        ("5.0-rc.1", ["4.9", "4.10"]),
        ("5.0-rc.2", ["4.9", "4.10", "5.0-rc.1"]),
        ("5.0-rc.10", ["4.9", "4.10", "5.0-rc.1", "5.0-rc.2"]),
        ("5.0", ["4.9", "4.10", "5.0-rc.1", "5.0-rc.2", "5.0-rc.10"]),
        ("v5.0.1", ["4.9", "4.10", "5.0-rc.1", "5.0-rc.2", "5.0-rc.10", "5.0"]),
    ],
)
def test_versions_sort_as_versions(version: str, earlier: list[str]) -> None:
    """The runs are in another order; sorted as text, 4.10 would precede 4.9."""
    versions = ["5.0", "4.10", "5.0-rc.10", "v5.0.1", "4.9", "5.0-rc.2", "5.0-rc.1"]
    found = [
        entry
        for day, each in enumerate(versions)
        for entry in entries_of(document(day, [kpi("wait", 1.0)], facts={"cluster.version": each}))
    ]
    current = [entry for entry in found if entry.facts["cluster.version"] == version]
    options = Options(selection=Selection(sorted_by=("cluster.version",)))
    regression = regress(current, found, options, Acknowledged())
    assert [entry.facts["cluster.version"] for entry in regression.recordings[0].earlier] == earlier


def acknowledgement(folder: Path, expires: str, today: datetime.date) -> Acknowledged:
    path = folder / "acknowledged.yml"
    path.write_text(f"- {{kpi: wait, run: run-008, expires: {expires}, reason: TLS}}\n")
    return read_acknowledged(path, today)


@pytest.mark.parametrize(
    ("expires", "today", "expected"),
    [
        ("2026-06-30", datetime.date(2026, 6, 29), "acknowledged"),
        ("2026-06-30", datetime.date(2026, 6, 30), "acknowledged"),
        ("2026-06-30", datetime.date(2026, 7, 1), "worse"),
        ("2026-06-30 12:00:00", datetime.date(2026, 6, 30), "acknowledged"),
        ("2026-06-30 12:00:00", datetime.date(2026, 7, 1), "worse"),
        ("2024-02-29", datetime.date(2024, 3, 1), "worse"),
    ],
)
def test_acknowledgements_end_after_their_day(
    tmp_path: Path, expires: str, today: datetime.date, expected: str
) -> None:
    found = history_of({"wait": [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.4, 1.41]})
    regression = regress(found[-1:], found, Options(), acknowledgement(tmp_path, expires, today))
    assert regression.recordings[0].kpis[0].word == expected
    assert bool(regression.notes) == (expected == "worse")


def test_acknowledgement_does_not_cover_the_next_change(tmp_path: Path) -> None:
    """1.4 was accepted; 2.1, five runs later, was not."""
    calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99]
    accepted = acknowledgement(tmp_path, "2999-01-01", datetime.date(2026, 1, 1))
    found = history_of({"wait": [*calm, *(1.4 * value for value in calm[:5]), 2.1, 2.12]})
    regression = regress(found[-1:], found, Options(), accepted)
    verdict = regression.recordings[0].kpis[0]
    assert (verdict.word, verdict.older) == ("worse", ("run-008",))


def test_acknowledgement_covers_only_its_kpi_and_direction(tmp_path: Path) -> None:
    calm = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99]
    accepted = acknowledgement(tmp_path, "2999-01-01", datetime.date(2026, 1, 1))
    found = history_of({"wait": [*calm, 1.4, 1.41], "other": [*calm, 1.4, 1.41]})
    regression = regress(found[-1:], found, Options(), accepted)
    assert {each.kpi.name: each.word for each in regression.kpis()} == {"wait": "acknowledged", "other": "worse"}
    assert regression.error is not None


def test_counts_match_the_tables_for_any_mixture() -> None:
    random = np.random.default_rng(4)
    calm = 1 + 0.01 * random.standard_normal((60, 20))
    calm[:10, 17:] *= 1.5
    calm[10:25, 16:] *= 0.6
    series: dict[str, Sequence[float | None]] = {f"kpi_{number:02d}": row.tolist() for number, row in enumerate(calm)}
    for number in range(55, 60):
        series[f"kpi_{number:02d}"] = [None] * 18 + [1.0, 1.0]
    regression = judge_last(series)
    document_words = Counter(
        each["verdict"] for part in regression_document(regression)["recordings"] for each in part["kpis"]
    )
    assert {word: count for word, count in regression.counts().items() if count} == document_words
    assert (document_words["worse"], document_words["better"], document_words["too little history"]) == (10, 15, 5)
    rows = Counter(line.split(" | ")[0].removeprefix("| ") for line in markdown_text(regression).splitlines())
    assert (rows["worse"], rows["better"]) == (10, 15)
