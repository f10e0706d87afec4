"""The timeline of a run as a figure: rows for phases, cells and lanes, and their contents."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.drawing.matplotlib import image
from perfanalysis.drawing.plotly import plotly_figure
from perfanalysis.files.discovery import Cell, Command, Run, Span
from perfanalysis.reports.timeline import timeline_figure


def _command(directory: str, begin: float | None, end: float | None, lane: str = "", status: str = "ok") -> Command:
    role = directory.rpartition("__")[2]
    return Command(directory, role, status, "sutest", lane or None, begin, end, None, None)


def _run(commands: list[Command], cells: tuple[Cell, ...] = (), timeline: tuple[Span, ...] = ()) -> Run:
    return Run(Path("/run"), {"lab": {"simulated": ["nodes"]}}, {}, "ok", tuple(commands), cells, (), (), timeline, ())


def _rows(run: Run) -> dict[str, list[tuple[str, float, float, str]]]:
    """Return name, begin, end and layer of each row's contents; rows of one name are numbered."""
    figure = timeline_figure(run)
    assert figure is not None
    [[chart]] = figure.rows
    rows: dict[str, list[tuple[str, float, float, str]]] = {
        f"{name} {place}": [] for place, name in enumerate(chart.y.categories)
    }
    for layer in chart.layers:
        assert layer.high is not None
        for name, begin, end, row in zip(layer.names, layer.x, layer.high, layer.y, strict=True):
            rows[f"{chart.y.categories[int(row)]} {int(row)}"].append((name, begin, end, layer.label))
    return {name: sorted(members, key=lambda one: one[1]) for name, members in rows.items()}


def test_overlapping_lanes_have_separate_rows() -> None:
    run = _run(
        [
            _command("001__prepare/lane__gpus/001__gpu_operator__deploy", 100, 160, "gpus"),
            _command("001__prepare/lane__data/001__storage__download", 105, 130, "data"),
            _command("001__prepare/lane__data/002__cluster__preload", 130, 150, "data", "failed"),
            _command("002__cell__0/001__job", 170, 190),
            _command("002__cell__0/001__job/001__nested", 171, 180),
        ],
        (Cell("002__cell__0", 0, {}, "ok"),),
        (Span("play", "Prepare", None, "ended", 100, 165), Span("task", "x", None, "ok", 100, 101)),
    )
    assert _rows(run) == {
        "phases 0": [("Prepare", 0, 65, "phases")],
        "cells 1": [("cell 0", 70, 90, "cells")],
        "main 2": [("job", 70, 90, "commands")],
        "gpus 3": [("deploy", 0, 60, "commands")],
        "data 4": [("download", 5, 30, "commands"), ("preload", 30, 50, "failed or interrupted")],
    }


def test_concurrent_cells_have_rows_and_open_ends_are_extended() -> None:
    cells = tuple(Cell(f"00{place}__cell__{place}", place, {}, "ok") for place in range(2))
    run = _run(
        [
            _command("000__cell__0/001__job", 0, 30),
            _command("001__cell__1/001__job", 10, None, status="interrupted"),
            _command("002__late", None, None),
        ],
        cells,
    )
    assert _rows(run) == {
        "cells 0": [("cell 0", 0, 30, "cells")],
        "cells 1": [("cell 1", 10, 30, "cells")],
        "main 2": [("job", 0, 30, "commands")],
        "main 3": [("job", 10, 30, "failed or interrupted")],
    }


def test_run_without_steps_has_no_timeline() -> None:
    assert timeline_figure(_run([])) is None


def test_timeline_marks_simulation_and_uses_names() -> None:
    figure = timeline_figure(_run([_command("001__server__deploy", 0, 5)]))
    assert figure is not None
    assert figure.marks == ("simulated: nodes",)
    [[chart]] = figure.rows
    drawn = plotly_figure(chart)
    assert drawn["data"][0]["text"] == ["deploy"]
    assert drawn["layout"]["xaxis"]["title"]["text"] == "time since the run began (s)"
    assert b">deploy<" in image(figure, "svg")


@pytest.mark.parametrize("count", [41, 60])
def test_run_of_many_lanes_shows_the_first(count: int) -> None:
    run = _run(
        [_command(f"{place:03}__x/lane__{place}/001__a", place, place + 100, f"l{place}") for place in range(count)]
    )
    figure = timeline_figure(run)
    assert figure is not None
    assert f"The first 40 of {count} rows" in figure.caption
    assert len(figure.rows[0][0].y.categories) == 40
