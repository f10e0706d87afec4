"""Moments and durations, as people read them."""

from __future__ import annotations

import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc


def parse(moment: object) -> datetime.datetime | None:
    """An aware moment from ISO text such as `2026-11-21T00:38:47.123Z`; None for anything else that a file may hold."""
    try:
        return parse_utc(moment) if isinstance(moment, str) and moment else None
    except ValueError:
        return None


def seconds_between(start: str | None, end: str | None, now: datetime.datetime) -> float | None:
    """Seconds from one moment to another, or to *now* when there is no end yet; None without a start."""
    begun = parse(start)
    if begun is None:
        return None
    return max(0.0, ((parse(end) or now) - begun).total_seconds())


def duration_text(seconds: float | None) -> str:
    """`0.4 s`, `12 s`, `3m05s`, `2h07m`; an empty text for None."""
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
    """How long something took, or has taken so far; None when nobody knows when it ended."""
    return seconds_between(start, end, now) if end or status == "running" else None


def when_text(moment: str | None) -> str:
    """A moment in local time: `2026-11-21 00:38:47`; an empty text for an unreadable one."""
    parsed = parse(moment)
    try:
        return "" if parsed is None else parsed.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        # of the first or the last day that there is, and another one here
        return ""


def utc_now() -> datetime.datetime:
    """The present moment."""
    return datetime.datetime.now(datetime.UTC)
