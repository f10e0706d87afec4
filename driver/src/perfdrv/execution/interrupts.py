"""Ctrl-C while Ansible runs: once asks it to stop, twice ends it."""

from __future__ import annotations

import signal
import time
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Counts SIGINT, SIGTERM and SIGHUP instead of dying from them, as long as its block lasts.

    The block begins before the run directory is made: a directory without a run.json would say nothing of its end.

    The handler does nothing else: what a request to stop means is done by the loop, between two events.

    Args:
        grace: seconds after the first signal at whose end all is stopped at once, as a second one does; None where
            nobody kills what takes longer.
    """

    def __init__(self, grace: float | None = None) -> None:
        self._grace = grace
        self._signals = 0
        self._deadline: float | None = None
        self._former: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        """Begin to count."""
        self._former = {number: signal.signal(number, self._heard) for number in _SIGNALS if not _is_for_nohup(number)}
        return self

    def __exit__(self, *_error: object) -> None:
        """Give the signals back to whom they were taken from."""
        for number, handler in self._former.items():
            signal.signal(number, handler)

    @property
    def count(self) -> int:
        """How often a stop was asked for; twice also by the end of the grace."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return max(2, self._signals)
        return self._signals

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1
        if self._grace is not None and self._deadline is None:
            self._deadline = time.monotonic() + self._grace


def _is_for_nohup(number: signal.Signals) -> bool:
    """Whether it is the loss of the terminal, of which nohup said that it shall end nothing."""
    return number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
