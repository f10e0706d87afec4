"""Temporary refusals of an API server that has just started and has not loaded its access rules yet."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import Answer

_UNAUTHORIZED = 401
_FORBIDDEN = 403
# the authorizer's message about a missing right; those of quotas, webhooks and namespaces that end are different
_NO_RIGHT = re.compile(rb"cannot (create|get|list|watch|delete) resource")
_PASSES_WITHIN_S = 30.0


class UnsettledRights:
    """Distinguishes temporary refusals: the right was granted before, and has not been missing for long."""

    def __init__(self, now: Callable[[], float] = time.monotonic, *, granted: bool = False) -> None:
        """Store the clock *now*, in seconds, and whether the right is known to have been granted before."""
        self._now = now
        self._granted = granted
        self._refused_since: float | None = None

    def is_temporary(self, answer: Answer) -> bool:
        """Return whether to repeat the request after this answer."""
        if answer.succeeded:
            self._granted = True
            self._refused_since = None
        if not self._granted or not _misses_right(answer):
            return False
        now = self._now()
        self._refused_since = now if self._refused_since is None else self._refused_since
        return now - self._refused_since < _PASSES_WITHIN_S


def _misses_right(answer: Answer) -> bool:
    if answer.status == _FORBIDDEN:
        return _NO_RIGHT.search(answer.body) is not None
    return answer.status == _UNAUTHORIZED
