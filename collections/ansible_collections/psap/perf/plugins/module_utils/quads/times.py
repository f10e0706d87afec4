"""Times of a QUADS server: its local time, without a time zone, in three formats."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError

_QUARTER_S = 900
# the range of the world's time zones
WEST, EAST = timedelta(hours=-12), timedelta(hours=14)


def server_time(text: object) -> datetime:
    """Return a date of the server as naive local time; its text states GMT, which is wrong.

    Raises:
        DataQualityError: If *text* is not a date.
    """
    try:
        return parsedate_to_datetime(str(text)).replace(tzinfo=None)
    except (TypeError, ValueError) as error:
        raise DataQualityError(f"QUADS returned an invalid date: {text!r}") from error


def header_time(text: str | None) -> datetime | None:
    """Return the aware time of a header ``Date``, whose GMT is correct; None without one."""
    try:
        return parsedate_to_datetime(text).astimezone(UTC) if text else None
    except (TypeError, ValueError):
        return None


def body_time(moment: datetime) -> str:
    """Format the naive *moment* for the body of ``POST /schedules``: with a space."""
    return f"{moment:%Y-%m-%d %H:%M}"


def query_time(moment: datetime) -> str:
    """Format the naive *moment* for queries and ``PATCH /schedules``: with a T."""
    return f"{moment:%Y-%m-%dT%H:%M}"


@dataclass(frozen=True, slots=True)
class ServerClock:
    """The server's local time as an *offset* that is added to UTC; None if it is unknown."""

    offset: timedelta | None = None

    @property
    def known(self) -> bool:
        """Return whether the offset is known."""
        return self.offset is not None

    def to_server(self, moment: datetime) -> datetime:
        """Return the server's naive local time at an aware *moment*; in UTC if the offset is unknown."""
        return moment.astimezone(UTC).replace(tzinfo=None) + (self.offset or timedelta())

    def to_utc(self, wall: datetime) -> datetime:
        """Return the aware time of a naive local time; read as UTC if the offset is unknown."""
        return (wall - (self.offset or timedelta())).replace(tzinfo=UTC)

    def surely_after(self, moment: datetime) -> datetime:
        """Return *moment* in naive local time; if the offset is unknown, in the easternmost time zone."""
        return self.to_server(moment) + (timedelta() if self.known else EAST)


def infer_clock(wall: datetime, moment: datetime) -> ServerClock:
    """Return the clock of a server whose local time was *wall* at *moment*, rounded to a quarter of an hour.

    The offset is unknown if no time zone has the difference.
    """
    difference = wall - moment.astimezone(UTC).replace(tzinfo=None)
    offset = timedelta(seconds=round(difference.total_seconds() / _QUARTER_S) * _QUARTER_S)
    return ServerClock(offset) if WEST <= offset <= EAST else ServerClock()


def parse_offset(text: str) -> ServerClock:
    """Return the clock of an offset such as ``+02:00``; empty is unknown.

    Raises:
        UsageError: If *text* is not an offset.
    """
    if not text:
        return ServerClock()
    try:
        offset = datetime.strptime(text, "%z").utcoffset()
    except ValueError as error:
        raise UsageError(f"invalid offset from UTC {text!r}: write it like +02:00 or -05:00") from error
    return ServerClock(offset)
