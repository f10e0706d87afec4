"""Faults at every call: no double booking, no end of others' assignments, no leftovers."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.quads.awaiting import wait
from ansible_collections.psap.perf.plugins.module_utils.quads.booked import Booked, Partial, summary
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import QuadsError
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Record, Records
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import (
    left_alone,
    release,
    unfinished,
)
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.standins.quads.faults import FAULTS, LATE_S, Direct, Killed
from tests.standins.quads.lab import OLD, SSM, SSM_216, SSM_226, Json, Settings
from tests.unit.quads.sessions import Session

_CALLS = 60
faults = some.dictionaries(some.integers(0, _CALLS), some.sampled_from(FAULTS), max_size=4)


def others_assignments(session: Session) -> list[Json]:
    """Create assignments that are not ours: another user's, and another one of our user."""
    lab, now = session.lab, session.lab.local()
    owner = session.account.owner
    found = []
    for number, (name, text) in enumerate((("joe", "[SSM] theirs"), (owner, "[SSM] ours (psap.perf run-11/cluster)"))):
        record = lab.assign(f"cloud{number + 2:02}", name, text, open=True)
        lab.schedule(record, sorted(lab.hosts)[number], now, lab.lease_end(now))
        found.append(record)
    return found


def check_invariants(session: Session) -> None:
    """Check at every moment that there is at most one booking with the mark and one row of each host in it."""

    def watch() -> None:
        assert len(session.own) <= 1
        hosts = [host for each in session.own for host in session.rows(each["id"])]
        assert len(hosts) == len(set(hosts))

    session.wire.watch = watch


def book_despite_faults(session: Session) -> Booked | None:
    """Book, and start again after each kill."""
    while True:
        try:
            return session.book()
        except Killed:
            continue
        except PerfError:
            return None


def release_despite_faults(session: Session) -> PerfError | None:
    """Release, and start again after each kill or server error; return the last error."""
    error: PerfError | None = None
    for _try in range(6):
        try:
            session.release()
        except Killed:
            continue
        except PerfError as last:
            error = last
        else:
            return None
    return error


def finish_late_work(session: Session) -> None:
    """Let the server finish its pending work."""
    session.time.pause(LATE_S)
    session.wire.work_late()


@pytest.mark.slow
@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(mode=some.sampled_from([SSM, SSM_226, SSM_216, OLD]), at=faults, later=faults)
def test_any_failure_leaves_one_booking_and_then_none(mode: str, at: dict[int, str], later: dict[int, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder), Settings(mode=mode, tickets=mode == SSM_226))
        foreign = others_assignments(session)
        before = [dict(each) for each in foreign]
        session.wire.faults = dict(at)
        check_invariants(session)

        result = book_despite_faults(session)

        if result is not None:
            assert [each["id"] for each in session.own] == [result.assignment.id]
            hosts = session.rows(result.assignment.id)
            assert sorted(hosts) == sorted({row.host.name for row in result.rows}), "a host with two rows"
            assert len(hosts) == 3
        session.wire.faults = {len(session.wire.calls) + number: fault for number, fault in later.items()}
        error = release_despite_faults(session)
        finish_late_work(session)

        left = session.own
        if mode == SSM_216 and left:
            # Only an administrator can end an assignment without hosts; one with hosts ends with the next moves.
            assert all(not session.rows(each["id"]) for each in left)
        elif mode == OLD and left:
            assert all(not session.rows(each["id"]) for each in left)
            assert error is None
        else:
            assert not left and error is None
        keys = ("id", "active", "cloud", "owner", "description")
        assert [[each[key] for key in keys] for each in foreign] == [[each[key] for key in keys] for each in before]
        assert all(session.rows(each["id"]) for each in foreign)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", ["POST /assignments/self/", "POST /schedules/", "POST /login/"])
def test_fault_at_any_write_leaves_one_booking(tmp_path: Path, method: str, fault: str) -> None:
    clean = Session(tmp_path / "clean")
    clean.runs.mkdir()
    clean.book(2)
    session = Session(tmp_path)
    session.wire.faults = {clean.wire.calls.index(method): fault}

    try:
        session.book(2)
    except Killed:
        session.book(2)

    (assignment,) = session.own
    assert len(session.rows(assignment["id"])) == 2
    session.release()
    finish_late_work(session)
    assert not session.own


@pytest.mark.parametrize("fault", ["killed late", "timeout late", "killed before"])
def test_release_waits_for_an_assignment_that_the_server_still_makes(tmp_path: Path, fault: str) -> None:
    session = Session(tmp_path)
    session.wire.faults = {4: fault, **({5: "killed before"} if "timeout" in fault else {})}
    with pytest.raises(Killed):
        session.book(1)
    assert session.wire.calls[4] == "POST /assignments/self/"
    assert not session.own

    released = session.release_all()

    finish_late_work(session)
    assert not session.own
    made = fault != "killed before"
    assert [bool(each.ended) for each in released] == [made]
    assert [bool(each.lost) for each in released] == [not made], "what may still appear is reported"


def test_second_booking_waits_for_the_assignment_of_a_killed_one(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.wire.faults = {4: "killed late"}
    with pytest.raises(Killed):
        session.book(1)
    session.book(1)
    finish_late_work(session)
    assert len(session.lab.assignments) == 1


def test_failed_request_leaves_an_assignment_of_another_command_as_it_was(tmp_path: Path) -> None:
    session = Session(tmp_path / "first")
    session.runs.mkdir()
    session.book(2)
    again = Session(tmp_path / "second", session.settings, session.time)
    again.runs.mkdir()
    again.lab, again.server, again.wire = session.lab, session.server, Direct(session.server, session.time)
    again.time.pause(110 * 3600)
    with pytest.raises(QuadsError, match=r"lease is too short: .*made by another command and was not released"):
        again.book(2)
    assert len(session.rows(session.own[0]["id"])) == 2


def test_only_unfinished_bookings_of_the_run_are_released() -> None:
    def record(mark: str, phase: str, asked_at: str = "") -> Record:
        return Record(mark, "http://q", "jane@example.com", phase=phase, asked_at=asked_at)

    moment = "2026-11-23T15:00:00.000Z"
    records = [
        record("a/one", "requesting", moment),
        record("a/two", "planned"),
        record("a/three", "booked", moment),
        record("a/four", "unheard of", moment),
        record("a/five", ""),
        record("a/split", "booked", moment),
        record("a/split+2", "requesting", moment),
        record("a/split+3", "planned"),
        record("a/other", "booked"),
    ]
    assert [each.mark for each in unfinished(records)] == ["a/one", "a/split", "a/split+2"]
    assert [each.split()[2] for each in left_alone(records)] == ["a/four", "a/five"]


def test_record_without_a_known_phase_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown phase"):
        Records(tmp_path).write(Record("a/b", "http://q", "jane@example.com"))
    Records(tmp_path).note_end("a/b", "2026-11-23T15:00:00.000Z")
    assert not list(tmp_path.iterdir())


def test_host_taken_concurrently_is_given_up(tmp_path: Path) -> None:
    session = Session(tmp_path)
    lab = session.lab

    def race(row: Json) -> None:
        theirs = lab.assign("cloud05", "joe", "[SSM] theirs", open=True)
        other = lab.schedule(theirs, row["host"], row["start"], row["end"])
        # Their request is executed first.
        row["id"], other["id"] = other["id"], row["id"]

    session.server.after.append(("POST", "/schedules", race))
    first = sorted(lab.hosts)[0]

    result = session.book(2)

    assert first not in {row.host.name for row in result.rows}
    assert "is booked for assignment" in result.refused[first]
    assert len(session.own) == 1


def test_cloud_taken_concurrently_is_given_up(tmp_path: Path) -> None:
    session = Session(tmp_path)

    def race(record: Json) -> None:
        other = session.lab.assign(record["cloud"], "joe", "[SSM] theirs", open=True)
        record["id"], other["id"] = other["id"], record["id"]

    session.server.after.append(("POST", "/assignments", race))

    result = session.book(2)

    (theirs,) = [each for each in session.lab.assignments if each["owner"] == "joe"]
    assert theirs["active"] and result.assignment.cloud != theirs["cloud"]


@pytest.mark.parametrize(
    ("partial", "taken", "booked_hosts"),
    [(Partial.SUBSTITUTE, 2, 5), (Partial.ACCEPT, 2, 3), (Partial.RELEASE, 2, 0)],
    ids=lambda value: str(value),
)
def test_partial_success_follows_the_policy(tmp_path: Path, partial: Partial, taken: int, booked_hosts: int) -> None:
    session = Session(tmp_path)
    theirs = session.lab.assign("cloud05", "joe", "[SSM] theirs", open=True)
    now = session.lab.local()
    for name in sorted(session.lab.hosts)[1 : taken + 1]:
        session.lab.schedule(theirs, name, now, session.lab.lease_end(now))

    if booked_hosts:
        booked = session.book(5, partial)
        assert len(booked.rows) == booked_hosts
        short = f"{booked_hosts} of 5 hosts booked; f01-h01-r650.lab.example.com was refused: Host is not available"
        assert summary([booked], 5).startswith(short) == (booked_hosts < 5)
    else:
        with pytest.raises(QuadsError, match=r"booked 1 hosts of at least 5, which were released: .*not available"):
            session.book(5, partial)
        assert not session.own


def test_too_short_lease_is_released(tmp_path: Path) -> None:
    session = Session(tmp_path)
    # Saturday, 22:00 by the server's clock: until Sunday, 21:00
    session.time.pause((6 * 24 - 12) * 3600)
    assert f"{session.lab.local():%a %H}" == "Sat 22"
    assert session.book(1).reservation.left.total_seconds() < 23 * 3600 + 60
    session.release()
    session.time.pause(14 * 3600)

    with pytest.raises(QuadsError, match=r"too short, and was released: until 2026-11-30T02:00Z, in 9 h 0 min"):
        session.book(1)

    assert not session.own


def test_kill_between_any_calls_is_resumed_or_released(tmp_path: Path) -> None:
    clean = Session(tmp_path / "clean")
    clean.runs.mkdir()
    clean.book(2)
    for number in range(len(clean.wire.calls)):
        for then in ("book", "release"):
            session = Session(tmp_path / f"{number}{then}")
            session.runs.mkdir()
            session.wire.faults = {number: "killed after"}
            check_invariants(session)
            with pytest.raises(Killed):
                session.book(2)
            if then == "book":
                assert len(session.book(2).rows) == 2
            session.release()
            assert not session.own, clean.wire.calls[number]
            assert len(session.lab.assignments) <= 1, clean.wire.calls[number]


def test_concurrent_runs_get_distinct_hosts_and_clouds(tmp_path: Path) -> None:
    clean = Session(tmp_path / "clean")
    clean.runs.mkdir()
    clean.book(2)
    for number in range(len(clean.wire.calls)):
        one = Session(tmp_path / str(number))
        one.runs.mkdir()
        other = Session(one.runs, time=one.time, mark="run-2/cluster")
        other.lab = one.lab
        other.wire = Direct(one.server, one.time)
        results: list[Booked] = []

        def race(one: Session = one, other: Session = other, at: int = number, results: list[Booked] = results) -> None:
            if len(one.wire.calls) == at + 1 and not results:
                results.append(other.book(2))

        one.wire.watch = race
        results.append(one.book(2))
        first, second = results
        assert first.assignment.cloud != second.assignment.cloud
        assert len({row.host.name for each in results for row in each.rows}) == 4


def test_request_executed_late_is_ended(tmp_path: Path) -> None:
    session = Session(tmp_path)
    lab = session.lab

    def late(record: Json) -> None:
        lab.assign("cloud06", record["owner"], record["description"], open=True)

    session.server.after.append(("POST", "/assignments", late))
    result = session.book(2)
    assert [each["id"] for each in session.own] == [result.assignment.id]
    assert any("which a request without a response made" in text for text in session.messages)


def test_assignment_ended_concurrently_gets_no_more_hosts(tmp_path: Path) -> None:
    session = Session(tmp_path)

    def end(row: Json) -> None:
        session.lab.assignments[0]["active"] = False
        # Another user gets its cloud immediately.
        session.lab.assign(session.lab.assignments[0]["cloud"], "joe", "[SSM] theirs", open=True)
        row["end"] = session.lab.local()

    session.server.after.append(("POST", "/schedules", end))
    with pytest.raises(QuadsError, match="ended while hosts were added: another client ended it"):
        session.book(2)
    (theirs,) = [each for each in session.lab.assignments if each["active"]]
    assert theirs["owner"] == "joe" and session.rows(theirs["id"]) == []


def test_token_expired_during_a_wait_is_replaced_for_the_release(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(token_s=3600))
    session.book(1)
    quads, record = session.client(), session.journal().record
    quads.connection.write(
        "POST", "/schedules/", "add", {"cloud": "cloud02", "hostname": "f01-h01-r650.lab.example.com"}
    )
    logins = session.wire.calls.count("POST /login/")
    # The move and the validation take two hours.
    assert wait(quads, [(record, record.hosts)], timedelta(hours=4), timedelta(minutes=5))[0].ready
    assert session.wire.calls.count("POST /login/") == logins, "reading needs no login"

    release(quads, record)

    assert not session.own
    assert session.wire.calls.count("POST /login/") == logins + 1
