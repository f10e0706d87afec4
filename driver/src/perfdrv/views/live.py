"""The live view of a run on a terminal."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from perfanalysis.files.documents import finite_number
from perfanalysis.output import Drawn, drawing_stream
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from perfdrv.runs.durations import duration_text, step_seconds, utc_now
from perfdrv.runs.tree import Step
from perfdrv.views.remarks import remark_text
from perfdrv.views.scene import Scene

_MARKS = {
    "ok": ("✔", "green"),
    "failed": ("✘", "red"),
    "interrupted": ("■", "yellow"),
    "running": ("●", "cyan"),
    "": ("·", "dim"),
}
_REMARK_STYLES = {"failed": "red", "running": "cyan"}
_BAR_WIDTH = 20
_OTHER_LINES = 6  # heading, activities, the line of the shell


class LiveView:
    """Redraws a run in place; messages and Ansible's output scroll above it."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(file=drawing_stream())
        self._spinner = Spinner("dots")
        self._live = Live(console=self.console, auto_refresh=False, vertical_overflow="crop")
        self._live.start()

    def refresh(self, scene: Scene) -> None:
        """Redraw."""
        self._live.update(Drawn(self._picture(scene, self.console.size.height - _OTHER_LINES)), refresh=True)

    def print_line(self, text: str) -> None:
        """Print a message above the picture."""
        self.console.print(Drawn(Text(text)))

    def close(self, scene: Scene) -> None:
        """Draw all steps a last time, and release the terminal."""
        self._live.vertical_overflow = "visible"
        self._live.update(Drawn(steps_table(scene.steps, utc_now(), None)), refresh=True)
        self._live.stop()

    def _picture(self, scene: Scene, height: int) -> RenderableType:
        now = utc_now()
        heading = Table.grid(padding=(0, 1))
        title = Text.assemble((scene.flow, "bold"), f" on {scene.site}" if scene.site else "", overflow="ellipsis")
        title.no_wrap = True
        title.append(f"  {duration_text((now - scene.started).total_seconds())}  ", "dim")
        title.append(scene.directory.name, "dim")
        heading.add_row(self._spinner, title)
        lines: list[RenderableType] = [heading]
        if scene.stopping:
            lines.append(Text("  stopping: finalizers run; Ctrl-C again to stop immediately", "yellow"))
        lines += [Text(f"  {each.text(now)}", "dim", no_wrap=True, overflow="ellipsis") for each in scene.bookings]
        for name, activity in scene.activities.items():
            prefix = "" if name == scene.directory.name else f"{name}: "
            lines.append(Text(f"  {prefix}{activity}", "dim", no_wrap=True, overflow="ellipsis"))
        if not scene.activities:
            lines.append(Text("  starting Ansible", "dim"))
        lines.append(steps_table(scene.steps, now, max(4, height - len(lines))))
        return Group(*lines)


def steps_table(steps: Sequence[Step], now: datetime.datetime, height: int | None) -> Table:
    """Draw the steps as an indented list.

    Args:
        height: Number of lines; if set, each step gets one line, and steps that ended first are left out.
    """
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    rows = [row for step in steps for row in _rows(step, 0)]
    if height is not None and len(rows) > height:
        shown = _most_recent(rows, height - 1)
        table.add_row(Text(f"  … {len(rows) - len(shown)} more", "dim"), "", "")
        rows = shown
    for step, depth in rows:
        mark, style = _MARKS.get(_state(step), _MARKS[""])
        label = Text("  " * (depth + 1))
        label.append(f"{mark} ", style)
        label.append(f"{step.number:03d} ", "dim")
        label.append(_label(step), "bold" if step.kind != "command" else "")
        took = duration_text(step_seconds(step.status, step.started, step.ended, now))
        table.add_row(label, Text(took, "dim"), _remark(step, now, one_line=height is not None))
    return table


def _rows(step: Step, depth: int) -> list[tuple[Step, int]]:
    return [(step, depth), *(row for child in step.children for row in _rows(child, depth + 1))]


def _most_recent(rows: Sequence[tuple[Step, int]], count: int) -> list[tuple[Step, int]]:
    """Return at most *count* rows: those of running steps, then those of the steps that ended last."""
    by_worth = sorted(range(len(rows)), key=lambda number: (_state(rows[number][0]) == "running", number))
    return [rows[number] for number in sorted(by_worth[-count:])]


def _state(step: Step) -> str:
    """Return the status of a step; the status of a group or a lane results from its steps."""
    if step.status:
        return step.status
    states = {_state(child) for child in step.children}
    return next((state for state in ("running", "failed", "interrupted", "ok") if state in states), "")


def _label(step: Step) -> str:
    return f"{step.kind} {step.name}" if step.kind in ("lane", "cell") else step.name


def _remark(step: Step, now: datetime.datetime, one_line: bool) -> RenderableType:
    text = Text(remark_text(step, now), _REMARK_STYLES.get(step.status, "dim"))
    if one_line:
        text.no_wrap, text.overflow = True, "ellipsis"
    aim = finite_number(step.progress.get("of")) if step.progress else None
    if step.status != "running" or step.progress is None or not aim:
        return text
    both = Table.grid(padding=(0, 1))
    both.add_column(no_wrap=True, min_width=_BAR_WIDTH)
    both.add_column()
    both.add_row(
        ProgressBar(total=aim, completed=finite_number(step.progress.get("done")) or 0, width=_BAR_WIDTH), text
    )
    return both
