"""Refusals that pass: an API server that has just started does not know yet who may do what."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import Answer

_UNAUTHORIZED = 401
_FORBIDDEN = 403
# how the authorizer says that a right is missing; quotas, webhooks and namespaces that end say other things
_LACKS_RIGHT = re.compile(rb"cannot (create|get|list|watch|delete) resource")
_PASSES_WITHIN_S = 30.0


class UnsettledRights:
    """Tells refusals to repeat from those that are meant: we had the right before, and lack it not for long."""

    def __init__(self, now: Callable[[], float] = time.monotonic, *, granted: bool = False) -> None:
        """*now* is a clock, in seconds; *granted* is whether we had the right before, as far as anybody knows."""
        self._now = now
        self._granted = granted
        self._refused_since: float | None = None

    def excuses(self, answer: Answer) -> bool:
        """Whether this answer is to be asked for again."""
        if answer.succeeded:
            self._granted = True
            self._refused_since = None
        if not self._granted or not _lacks_right(answer):
            return False
        now = self._now()
        self._refused_since = now if self._refused_since is None else self._refused_since
        return now - self._refused_since < _PASSES_WITHIN_S


def _lacks_right(answer: Answer) -> bool:
    if answer.status == _FORBIDDEN:
        return _LACKS_RIGHT.search(answer.body) is not None
    return answer.status == _UNAUTHORIZED
