"""The end of a reservation: a warning, then a stop unless the lab extends it; and other losses of hosts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads, Server
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Connection
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Records
from ansible_collections.psap.perf.plugins.module_utils.quads.watching import watch

from tests.standins.quads.faults import ManualTime
from tests.unit.quads.sessions import Session

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


class Eventful(ManualTime):
    """A clock with an event at a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[datetime, Callable[[], None]]] = []

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        super().pause(seconds)
        for event in list(self.events):
            if event[0] <= self.now():
                self.events.remove(event)
                event[1]()


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Return two hosts for two hours; the last ten minutes are for the finalizers."""
    session = Session(tmp_path, time=Eventful())
    session.book(2)
    for row in session.lab.rows:
        row["end"] = row["start"] + 2 * HOUR
    session.journal().note(end="2026-11-23T17:00:00.000Z", warn_before_s=1800.0, stop_before_s=600.0)
    return session


def client(session: Session) -> Quads:
    return Quads(Connection(session.account, session.wire, session.time, 10.0), Server("", self_service=True))


def watched(session: Session) -> tuple[str, list[str], timedelta]:
    """Return why the run was stopped, the warnings, and the duration."""
    begun = session.time.now()
    warnings: list[str] = []
    why = watch(Records(session.runs), lambda _record: client(session), session.time, warnings.append)
    return why, warnings, session.time.now() - begun


def extend(session: Session) -> None:
    """Extend the reservation by an hour, as the lab does."""
    for row in session.lab.rows:
        row["end"] += HOUR


def schedule_event(session: Session, moment: timedelta, event: Callable[[], None]) -> None:
    assert isinstance(session.time, Eventful)
    session.time.events.append((session.time.now() + moment, event))


def test_run_is_warned_once_and_stopped_in_time(session: Session) -> None:
    why, warnings, lasted = watched(session)
    assert "the lease of cloud02 lasts until 2026-11-23T17:00Z, in 10 min: the run stops 10 min before its end" in why
    (warning,) = warnings
    assert warning.startswith("cloud02: the lease ends in ")
    assert 109 * MINUTE < lasted < 111 * MINUTE


def test_extended_lease_is_noticed_and_recorded(session: Session) -> None:
    schedule_event(session, 100 * MINUTE, lambda: extend(session))
    why, warnings, lasted = watched(session)
    assert "until 2026-11-23T18:00Z" in why
    assert len(warnings) == 2
    assert lasted > 169 * MINUTE
    assert session.journal().record.end.startswith("2026-11-23T18:00")


def test_server_outage_neither_ends_nor_hides_the_lease(session: Session) -> None:
    session.wire.faults = {len(session.wire.calls) + number: "timeout before" for number in range(2000)}
    why, warnings, lasted = watched(session)
    assert "the run stops" in why and len(warnings) == 1
    assert 109 * MINUTE < lasted < 115 * MINUTE


def test_removed_hosts_stop_the_run_immediately(session: Session) -> None:
    schedule_event(session, HOUR, lambda: session.lab.rows[0].update(end=session.lab.local()))
    why, _warnings, lasted = watched(session)
    assert "f00-h01-r640.lab.example.com of cloud02 cannot be used any more" in why
    assert lasted < HOUR + 3 * MINUTE


def test_foreign_end_stops_the_run_and_own_release_ends_the_watch(session: Session) -> None:
    schedule_event(session, HOUR, session.release)
    assert watched(session)[0] == ""
    session.journal().note(phase="booked")
    assert "no longer belongs to the run" in watched(session)[0]
