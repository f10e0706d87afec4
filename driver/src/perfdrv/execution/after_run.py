"""What other packages do after a run: functions that entry points of the group `perfdrv.after_run` name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from perfdrv.entry_points import load_entry_points

GROUP = "perfdrv.after_run"


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that has ended.

    Attributes:
        exit_code: of the run.
        finalized: Whether `perfdrv runs finalize` ended it.
    """

    directory: Path
    exit_code: int
    finalized: bool = False


Hook = Callable[[EndedRun], int]


def load_hooks() -> Callable[[EndedRun], int]:
    """Load the hooks before a run, so that a broken one is reported first.

    Returns:
        A function that calls all hooks and returns the exit code of the command: the run's, or the first failed hook's.

    Raises:
        DriverError: A hook cannot be loaded.
    """
    hooks: list[Hook] = list(load_entry_points(GROUP, Callable).values())

    def call(run: EndedRun) -> int:
        codes = [run.exit_code, *(hook(run) for hook in hooks)]
        return next(filter(None, codes), 0)

    return call
