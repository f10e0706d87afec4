"""The state of a run that views show, and the interface of views."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from perfdrv.runs.bookings import Booking
from perfdrv.runs.durations import utc_now
from perfdrv.runs.tree import Step


@dataclass(frozen=True, slots=True)
class Activity:
    """The current play and task of one Ansible process."""

    play: str
    task: str = ""

    def __str__(self) -> str:
        # the first task of a play often has the name of the play
        task = "" if self.play.startswith(self.task) else self.task
        return " - ".join(filter(None, (self.play, task)))


@dataclass(slots=True)
class Scene:
    """The state of a run that views show.

    Attributes:
        activities: Name of the run or of a cell → activity of its Ansible.
        bookings: Hosts of QUADS that the run has booked.
    """

    flow: str
    site: str
    directory: Path
    started: datetime.datetime = field(default_factory=utc_now)
    activities: dict[str, Activity] = field(default_factory=dict)
    steps: Sequence[Step] = ()
    bookings: Sequence[Booking] = ()
    stopping: bool = False


class View(Protocol):
    """Shows a scene."""

    def refresh(self, scene: Scene) -> None:
        """Show what has changed."""

    def print_line(self, text: str) -> None:
        """Show one message."""

    def close(self, scene: Scene) -> None:
        """Show the last state and leave the terminal as it was."""


class SurvivingView:
    """Stops showing after an error of the stream: a run continues without its terminal."""

    def __init__(self, view: View) -> None:
        self._view: View | None = view

    def refresh(self, scene: Scene) -> None:
        """Show what has changed."""
        self._attempt(lambda view: view.refresh(scene))

    def print_line(self, text: str) -> None:
        """Show one message."""
        self._attempt(lambda view: view.print_line(text))

    def close(self, scene: Scene) -> None:
        """Show the last state and leave the terminal as it was."""
        self._attempt(lambda view: view.close(scene))

    def _attempt(self, show: Callable[[View], None]) -> None:
        if self._view is None:
            return
        try:
            show(self._view)
        except OSError:
            self._view = None
