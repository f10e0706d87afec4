"""Remarks that occur once: marks of figures in one word, findings of many recordings in one line."""

from __future__ import annotations

import pytest
from perfanalysis.drawing.blocks import Remarks
from perfanalysis.drawing.charts import Figure
from perfanalysis.files.findings import Finding


@pytest.mark.parametrize(
    ("marks", "short"),
    [
        (("simulated: nodes, pods; emulated: volumes; real: kueue",), ("simulated",)),
        (("simulated: pods", "first 20 workloads"), ("simulated", "first 20 workloads")),
        ((), ()),
    ],
)
def test_report_states_once_that_data_is_partly_simulated(marks: tuple[str, ...], short: tuple[str, ...]) -> None:
    assert Figure("a", "A", "", (), marks).short_marks == short


def test_same_finding_of_many_recordings_is_one_line_and_notes_come_last() -> None:
    notes = [Finding("note", f"cell_{number}", "the same") for number in range(5)]
    lost = Finding("error", "cell_1", "lost")
    assert Remarks((*notes, lost), frozenset()).grouped() == (
        (lost, ("cell_1",)),
        (notes[0], ("cell_0", "cell_1", "cell_2", "and 2 more")),
    )
