"""Ticks: round, few, and told apart by their text."""

from __future__ import annotations

import pytest
from perfanalysis.drawing.charts import Axis
from perfanalysis.drawing.ticks import extent, ticks

LINEAR, WHOLE, LOG = Axis("x"), Axis("x", whole=True), Axis("x", scale="log")


def texts(axis: Axis, low: float, high: float, most: int) -> list[str]:
    return [tick.text for tick in ticks(axis, low, high, most)]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, ["0", "2", "4", "6", "8", "10"]),
        (0, 1.1, ["0.00", "0.25", "0.50", "0.75", "1.00"]),
        (-3, 3, ["\u22122", "0", "2"]),
        (0, 0.004, ["0.000", "0.001", "0.002", "0.003", "0.004"]),
        (0, 52_000, ["0", "20\u202f000", "40\u202f000"]),
        (99.5, 100.5, ["99.6", "99.8", "100.0", "100.2", "100.4"]),
    ],
)
def test_round_numbers(low: float, high: float, expected: list[str]) -> None:
    assert texts(LINEAR, low, high, 5) == expected


def test_counts_have_no_ticks_between() -> None:
    assert texts(WHOLE, 0, 2, 8) == ["0", "1", "2"]


def test_powers_of_ten_are_thinned() -> None:
    assert texts(LOG, 0.001, 150, 8) == ["0.001", "0.01", "0.1", "1", "10", "100"]
    assert texts(LOG, 0.001, 150, 3) == ["0.001", "0.1", "10"]
    assert texts(LOG, 2, 8, 3) == []
    assert texts(LOG, 1e-5, 1e4, 2) == ["0.00001", "1"]


def test_names_are_thinned() -> None:
    axis = Axis("", categories=tuple("abcdefg"))
    assert [(tick.at, tick.text) for tick in ticks(axis, -0.5, 6.5, 3)] == [(0, "a"), (3, "d"), (6, "g")]


def test_extent_is_as_declared_or_with_room() -> None:
    assert extent(Axis("x", low=0.0, high=5.0), [(1.0, 9.0)]) == (0.0, 5.0)
    assert extent(Axis("x", low=0.0), [(1.0, 4.0), (2.0, 10.0)]) == (0.0, 10.5)
    assert extent(Axis("x"), [(2.0, 12.0)]) == (2.0, 12.5)
    assert extent(Axis("x"), []) == (0.0, 1.0)
    assert extent(Axis("x", categories=("a", "b")), []) == (1.5, -0.5)
