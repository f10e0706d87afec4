"""The timeline of a run as a figure: phases, cells, and the commands of each lane."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer
from perfanalysis.files.discovery import Command, Run

PHASES, CELLS, MAIN = "phases", "cells", "main"
PLAY_COLOUR, CELL_COLOUR, COMMAND_COLOUR, FAILED_COLOUR = 8, 3, 0, 5
MOST_ROWS = 40
ROW_HEIGHT, FRAME = 24, 70


@dataclass(frozen=True)
class Stretch:
    """Something with a duration; `row` is what it belongs to, times are seconds since the epoch."""

    row: str
    name: str
    colour: int
    begin_s: float
    end_s: float


def timeline_figure(run: Run) -> Figure | None:
    """Return the timeline; None if no start is known."""
    now = _last_known(run)
    found = [*_phases(run), *_cells(run, now), *_commands(run, now)]
    if not found or now is None:
        return None
    start = min(stretch.begin_s for stretch in found)
    rows = _packed(found)
    shown = rows[:MOST_ROWS]
    names = tuple(name for name, _ in shown)
    placed = [(place, stretch) for place, (_, members) in enumerate(shown) for stretch in members]
    layers = tuple(
        _layer(label, colour, [(place, one) for place, one in placed if one.colour == colour], start)
        for label, colour in (
            ("phases", PLAY_COLOUR),
            ("cells", CELL_COLOUR),
            ("commands", COMMAND_COLOUR),
            ("failed or interrupted", FAILED_COLOUR),
        )
        if any(one.colour == colour for _, one in placed)
    )
    end = max(stretch.end_s for stretch in found) - start
    time = Axis("time since the run began", "s", low=0.0, high=max(end, 1e-3))
    chart = Chart("", time, Axis("", categories=names), layers, height=FRAME + ROW_HEIGHT * len(names))
    caption = "Parallel lanes have separate rows. Nested commands are only in the table."
    if len(rows) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(rows)} rows."
    return Figure("timeline", "Timeline", caption, ((chart,),), run.lab.phrases)


def _layer(label: str, colour: int, members: list[tuple[int, Stretch]], start: float) -> Layer:
    x = np.array([stretch.begin_s - start for _, stretch in members], dtype=float)
    high = np.array([stretch.end_s - start for _, stretch in members], dtype=float)
    y = np.array([place for place, _ in members], dtype=float)
    names = tuple(stretch.name for _, stretch in members)
    return Layer("stretches", label, x, y, colour, high=high, names=names)


def _last_known(run: Run) -> float | None:
    moments = [*(span.ended_s for span in run.timeline), *(command.ended_s for command in run.commands)]
    moments += [command.started_s for command in run.commands]
    return max((moment for moment in moments if moment is not None), default=None)


def _phases(run: Run) -> Iterable[Stretch]:
    for span in run.timeline:
        if span.kind == "play" and span.started_s is not None and span.ended_s is not None:
            yield Stretch(PHASES, span.name, PLAY_COLOUR, span.started_s, span.ended_s)


def _cells(run: Run, now: float | None) -> Iterable[Stretch]:
    """Return the cells: from the start of the first command to the end of the last one."""
    for cell in run.cells:
        own = [one for one in run.commands if one.directory.startswith(f"{cell.directory}/")]
        begins = [one.started_s for one in own if one.started_s is not None]
        ends = [one.ended_s if one.ended_s is not None else now for one in own]
        known = [end for end in ends if end is not None]
        if begins and known:
            yield Stretch(CELLS, f"cell {cell.index}", CELL_COLOUR, min(begins), max(known))


def _commands(run: Run, now: float | None) -> Iterable[Stretch]:
    outer = {command.directory for command in run.commands}
    for command in run.commands:
        end = command.ended_s if command.ended_s is not None else now
        if command.started_s is None or end is None or _is_inside(command, outer):
            continue
        colour = COMMAND_COLOUR if command.status in ("ok", "running") else FAILED_COLOUR
        yield Stretch(command.lane or MAIN, command.role, colour, command.started_s, end)


def _is_inside(command: Command, directories: set[str]) -> bool:
    parts = command.directory.split("/")
    return any("/".join(parts[:count]) in directories for count in range(1, len(parts)))


def _packed(found: list[Stretch]) -> list[tuple[str, list[Stretch]]]:
    """Return rows with names: items that overlap, such as parallel cells, are in separate rows."""
    names = {PHASES: 0, CELLS: 1, MAIN: 2}
    first = {stretch.row: stretch.begin_s for stretch in sorted(found, key=lambda one: -one.begin_s)}
    order = sorted(first, key=lambda row: (names.get(row, len(names)), first[row]))
    rows: list[tuple[str, list[Stretch]]] = []
    for row in order:
        own: list[list[Stretch]] = []
        for stretch in sorted((one for one in found if one.row == row), key=lambda one: one.begin_s):
            free = next((members for members in own if members[-1].end_s <= stretch.begin_s + 1e-3), None)
            if free is None:
                own.append([stretch])
            else:
                free.append(stretch)
        rows += [(row, members) for members in own]
    return rows
