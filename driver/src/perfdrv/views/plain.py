"""A run as dated lines, if stdout is not a terminal."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TextIO

from perfdrv.runs.bookings import Booking
from perfdrv.runs.durations import duration_text, seconds_between, utc_now
from perfdrv.runs.tree import Step
from perfdrv.views.remarks import awaited_text, remark_text
from perfdrv.views.scene import Scene

_WAIT_LINE_SECONDS = 30.0


class PlainView:
    """Prints a dated line when a step begins or ends, and regularly the condition that a step waits for."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown: dict[Path, str] = {}
        self._reminded: dict[Path, datetime.datetime] = {}
        self._plays: dict[str, str] = {}
        self._booked: frozenset[Booking] = frozenset()

    def refresh(self, scene: Scene) -> None:
        """Print a line for each change."""
        for name, activity in scene.activities.items():
            if self._plays.get(name) != activity.play:
                self._plays[name] = activity.play
                cell = "" if name == scene.directory.name else f" ({name})"
                self.print_line(f"{'play':<11} {activity.play}{cell}")
        now = utc_now()
        for booking in scene.bookings:
            if booking not in self._booked:
                self.print_line(f"{'booked':<11} {booking.text(now)}")
        self._booked = frozenset(scene.bookings)
        for step in scene.steps:
            self._show_all(scene, step, now)

    def print_line(self, text: str) -> None:
        """Print a line."""
        self._stream.write(f"{utc_now().astimezone():%H:%M:%S} {text}\n")
        self._stream.flush()

    def close(self, scene: Scene) -> None:
        """Print what ended since the last call."""
        self.refresh(scene)

    def _show_all(self, scene: Scene, step: Step, now: datetime.datetime) -> None:
        """Show a step and the steps below it: its start before them, its end after them."""
        if step.status == "running":
            self._show(scene, step, now)
        for child in step.children:
            self._show_all(scene, child, now)
        if step.status != "running":
            self._show(scene, step, now)

    def _show(self, scene: Scene, step: Step, now: datetime.datetime) -> None:
        place = step.directory.relative_to(scene.directory)
        if step.status and self._shown.get(place) != step.status:
            self._shown[place] = step.status
            running = step.status == "running"
            took = "" if running else duration_text(seconds_between(step.started, step.ended, now))
            remark = step.label if running else remark_text(step, now)
            self.print_line("  ".join(filter(None, (f"{step.status:<11} {place}", took, remark))))
        elif (text := awaited_text(step, now)) and self._due(place, now):
            self.print_line(f"{'…':<11} {place} {text}")

    def _due(self, place: Path, now: datetime.datetime) -> bool:
        last = self._reminded.setdefault(place, now)
        due = (now - last).total_seconds() >= _WAIT_LINE_SECONDS
        if due:
            self._reminded[place] = now
        return due
