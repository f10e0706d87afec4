"""Repeat requests while a cluster does not answer: a restart of the API server takes some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError

_PAUSE_S = 0.5


class UnavailableError(ClusterError):
    """The cluster did not respond, or is temporarily unavailable; it did not refuse the request.

    Attributes:
        untouched: Whether the request certainly had no effect, so that even a creation may be repeated.
    """

    def __init__(self, message: str, *, untouched: bool) -> None:
        super().__init__(message)
        self.untouched = untouched


class Outage:
    """The time since a cluster last answered.

    After *patience_s* every further request is tried once, until one is answered. *check* raises if the user interrupts
    the run.
    """

    def __init__(self, patience_s: float = 0.0, check: Callable[[], None] = lambda: None) -> None:
        self._patience_s = patience_s
        self.check = check
        self._since: float | None = None
        self.answered: bool | None = None
        """Whether the last request was answered; None before the first."""

    @property
    def lasts(self) -> bool:
        """Whether the last request got no response."""
        return self._since is not None

    def end(self) -> None:
        """Record that the cluster answered."""
        self._since, self.answered = None, True

    def pause(self, error: ClusterError) -> None:
        """Sleep before the next attempt.

        Raises:
            ClusterError: *error*, if the outage exceeds *patience_s*.
        """
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        self.check()
        if now - self._since >= self._patience_s:
            self.answered = False
            raise error
        time.sleep(_PAUSE_S)
