"""Points in time of the recording: seconds since the epoch, UTC, with microseconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc

WHOLE_SECONDS = 1.0
MICROSECONDS = 0.000001


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time that the server wrote, and how finely it writes it: both in seconds."""

    server_s: float
    resolution_s: float


@dataclass(frozen=True, slots=True)
class RunClock:
    """UTC by the monotonic clock: one reading of both ties them, so a stepped wall clock moves nothing."""

    utc_s: float
    monotonic_s: float
    monotonic: Callable[[], float] = time.monotonic

    @classmethod
    def tied(cls) -> RunClock:
        """A clock tied to UTC now. Processes of one machine may share it: their monotonic clock is one."""
        return cls(utc_s=time.time(), monotonic_s=time.monotonic())

    def now(self) -> float:
        """Seconds since the epoch, to the microsecond."""
        return round(self.utc_s + self.monotonic() - self.monotonic_s, 6)


def stamp(text: str | None) -> Stamp | None:
    """The time in a Kubernetes field: whole seconds for ``Time``, microseconds for ``MicroTime``."""
    return _parsed(text) if text else None


# a thousand objects of the same second carry the same text
@lru_cache(maxsize=4096)
def _parsed(text: str) -> Stamp:
    return Stamp(parse_utc(text).timestamp(), MICROSECONDS if "." in text else WHOLE_SECONDS)
