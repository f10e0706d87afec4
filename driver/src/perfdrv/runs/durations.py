"""Times and durations as text."""

from __future__ import annotations

import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc


def parse(moment: object) -> datetime.datetime | None:
    """Return the time of ISO text such as `2026-11-21T00:38:47.123Z`; None for any other value."""
    try:
        return parse_utc(moment) if isinstance(moment, str) and moment else None
    except ValueError:
        return None


def seconds_between(start: str | None, end: str | None, now: datetime.datetime) -> float | None:
    """Return the seconds from start to end, or to now if there is no end; None without a start."""
    begun = parse(start)
    if begun is None:
        return None
    return max(0.0, ((parse(end) or now) - begun).total_seconds())


def duration_text(seconds: float | None) -> str:
    """Return a duration such as `0.4 s`, `12 s`, `3m05s`, `2h07m`; empty for None."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def step_seconds(status: str, start: str | None, end: str | None, now: datetime.datetime) -> float | None:
    """Return the duration of a step so far; None if it has ended at an unknown time."""
    return seconds_between(start, end, now) if end or status == "running" else None


def when_text(moment: str | None) -> str:
    """Return a time as local time, such as `2026-11-21 00:38:47`; empty if it cannot be read."""
    parsed = parse(moment)
    try:
        return "" if parsed is None else parsed.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        # the first or last day of the calendar, which local time would exceed
        return ""


def utc_now() -> datetime.datetime:
    """Return the current time."""
    return datetime.datetime.now(datetime.UTC)
