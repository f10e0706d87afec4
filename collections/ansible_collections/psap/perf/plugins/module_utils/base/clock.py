"""Points in time in the artifacts' format: UTC, ISO 8601, milliseconds, ``Z``."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from functools import lru_cache

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

WHOLE_SECONDS = 1.0
MICROSECONDS = 0.000001
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
LONGEST_S = 100 * 365 * 86400.0
_LETTERS_SHOWN = 40
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time that the server wrote, and the resolution in which it writes; both in seconds."""

    server_s: float
    resolution_s: float


def utc_now() -> str:
    """Return the current time, for example ``2026-11-21T00:38:47.123Z``."""
    return utc_text(datetime.datetime.now(datetime.UTC))


def utc_text(moment: datetime.datetime) -> str:
    """Return *moment* (aware) in UTC with milliseconds."""
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_utc(text: str) -> datetime.datetime:
    """Return the aware moment that `utc_text` (or Kubernetes) wrote as *text*."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def stamp(text: str | None) -> Stamp | None:
    """Return the time in a Kubernetes field: whole seconds for ``Time``, microseconds for ``MicroTime``."""
    return _parsed(text) if text else None


# a thousand objects of the same second have the same text
@lru_cache(maxsize=4096)
def _parsed(text: str) -> Stamp:
    return Stamp(parse_utc(text).timestamp(), MICROSECONDS if "." in text else WHOLE_SECONDS)


def seconds(duration: object) -> float:
    """Return the seconds of ``90``, ``"90s"``, ``"1h30m"``, ``"500ms"``.

    Raises:
        UsageError: If it is not a duration, or is longer than a hundred years.
    """
    found = _seconds(duration)
    if found > LONGEST_S:
        raise UsageError(f"{_shown(duration)} is longer than a hundred years")
    return found


class Seconds(float):
    """A duration in seconds, the type of an argument that `seconds` parses."""

    __slots__ = ()

    @classmethod
    def parse(cls, duration: object) -> Seconds:
        """Return *duration* as `Seconds`.

        Raises:
            UsageError: As `seconds`.
        """
        return cls(seconds(duration))


def _seconds(duration: object) -> float:
    if isinstance(duration, int | float) and not isinstance(duration, bool) and duration >= 0:
        return math.inf if duration > LONGEST_S else float(duration)
    text = str(duration).strip()
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise UsageError(f"{_shown(duration)} is not a duration: write seconds or a text like 90s, 1h30m, 500ms")
    return sum(float(number) * _SECONDS[unit or "s"] for number, unit in parts)


def seconds_text(number: float) -> str:
    """Return *number* of seconds in decimal digits, to the millisecond: ``30``, ``0.5``, ``2592000``."""
    return f"{number:.3f}".rstrip("0").rstrip(".")


def _shown(duration: object) -> str:
    text = repr(duration)
    return text if len(text) <= _LETTERS_SHOWN else f"{text[:_LETTERS_SHOWN]}…"
