"""The times of a QUADS server: its own wall clock, without a zone, spelled in three ways."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError

_QUARTER_S = 900
# the zones of the world, from UTC-12 to UTC+14
WEST, EAST = timedelta(hours=-12), timedelta(hours=14)


def server_time(text: object) -> datetime:
    """The wall clock, naive, of a date that the server wrote; the zone of its text, GMT, is not true.

    :raises DataQualityError: for anything else.
    """
    try:
        return parsedate_to_datetime(str(text)).replace(tzinfo=None)
    except (TypeError, ValueError) as error:
        raise DataQualityError(f"QUADS returned an invalid date: {text!r}") from error


def header_time(text: str | None) -> datetime | None:
    """The moment, aware, of the header ``Date``, whose GMT is true; None without one."""
    try:
        return parsedate_to_datetime(text).astimezone(UTC) if text else None
    except (TypeError, ValueError):
        return None


def body_time(moment: datetime) -> str:
    """*moment*, naive, as the body of ``POST /schedules`` wants it: with a space."""
    return f"{moment:%Y-%m-%d %H:%M}"


def query_time(moment: datetime) -> str:
    """*moment*, naive, as queries and ``PATCH /schedules`` want it: with a T."""
    return f"{moment:%Y-%m-%dT%H:%M}"


@dataclass(frozen=True, slots=True)
class ServerClock:
    """How far the server's wall clock is from UTC.

    :param offset: what is added to UTC; None where nothing told it yet.
    """

    offset: timedelta | None = None

    @property
    def known(self) -> bool:
        """Whether it is known."""
        return self.offset is not None

    def to_server(self, moment: datetime) -> datetime:
        """The server's wall clock, naive, at an aware moment; UTC where the offset is not known."""
        return moment.astimezone(UTC).replace(tzinfo=None) + (self.offset or timedelta())

    def to_utc(self, wall: datetime) -> datetime:
        """The aware moment of the server's wall clock; of UTC where the offset is not known."""
        return (wall - (self.offset or timedelta())).replace(tzinfo=UTC)

    def surely_after(self, moment: datetime) -> datetime:
        """A wall clock, naive, that no zone of the world reaches before *moment* where the offset is not known."""
        return self.to_server(moment) + (timedelta() if self.known else EAST)


def learned(wall: datetime, moment: datetime) -> ServerClock:
    """The clock of a server whose wall clock said *wall* at *moment*: to a quarter of an hour, as zones are.

    Of a difference that is no zone's nothing is learned.
    """
    difference = wall - moment.astimezone(UTC).replace(tzinfo=None)
    offset = timedelta(seconds=round(difference.total_seconds() / _QUARTER_S) * _QUARTER_S)
    return ServerClock(offset) if WEST <= offset <= EAST else ServerClock()


def parse_offset(text: str) -> ServerClock:
    """``+02:00``, ``-05:00``, or nothing, which is not known.

    :raises UsageError: for anything else.
    """
    if not text:
        return ServerClock()
    try:
        offset = datetime.strptime(text, "%z").utcoffset()
    except ValueError as error:
        raise UsageError(f"{text!r} is not an offset from UTC: write it like +02:00 or -05:00") from error
    return ServerClock(offset)
