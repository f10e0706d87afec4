"""How long a cluster that no longer answers is borne with: an API server that restarts is away for some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError

_PAUSE_S = 0.5


class UnavailableError(ClusterError):
    """The cluster gave no answer, or says that it cannot answer at present; nothing was refused.

    *untouched* says that the request certainly had no effect, so that even one that creates may be repeated.
    """

    def __init__(self, message: str, *, untouched: bool) -> None:
        super().__init__(message)
        self.untouched = untouched


class Outage:
    """The time since a cluster last answered.

    After *patience_s* every further request is tried once, until one is answered.

    :param check: raises when the user asked to stop.
    """

    def __init__(self, patience_s: float = 0.0, check: Callable[[], None] = lambda: None) -> None:
        self._patience_s = patience_s
        self.check = check
        self._since: float | None = None
        self.answered: bool | None = None
        """Whether the last request was answered; None before the first."""

    @property
    def lasts(self) -> bool:
        """Whether the cluster answers no request, or has only just begun to."""
        return self._since is not None

    def over(self) -> None:
        """The cluster answered."""
        self._since, self.answered = None, True

    def bear(self, error: ClusterError) -> None:
        """Wait a moment before the next try.

        :raises ClusterError: *error*, when this has lasted too long.
        """
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        self.check()
        if now - self._since >= self._patience_s:
            self.answered = False
            raise error
        time.sleep(_PAUSE_S)
