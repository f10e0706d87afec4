"""Times, refusals, host selection, leases and delivery, by the server's real messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    DataQualityError,
    UsageError,
    WaitTimeoutError,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.awaiting import read_delivery, wait
from ansible_collections.psap.perf.plugins.module_utils.quads.conditions import HostConditions
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import QuadsError, Refusal, meaning, message
from ansible_collections.psap.perf.plugins.module_utils.quads.extending import extend, warning
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import assignment_of
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import Reservation
from ansible_collections.psap.perf.plugins.module_utils.quads.selection import (
    HostOptions,
    Selection,
    host_request,
    select,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.times import (
    ServerClock,
    body_time,
    infer_clock,
    parse_offset,
    query_time,
    server_time,
)

from tests.standins.quads.lab import OLD, Settings
from tests.unit.quads.sessions import Session

MONDAY = datetime(2026, 11, 23, 15, 0, tzinfo=UTC)
OPTIONS = {"count": 2, "at_least": 1, "hosts": [], "exclude": [], "more_labels": {}}
MINUTE = timedelta(minutes=1)


def test_server_date_is_its_local_time_despite_its_label() -> None:
    wall = server_time("Fri, 20 Nov 2026 13:23:33 GMT")
    clock = infer_clock(wall, datetime(2026, 11, 20, 18, 23, 31, tzinfo=UTC))
    assert clock == ServerClock(timedelta(hours=-5))
    assert clock.to_utc(wall) == datetime(2026, 11, 20, 18, 23, 33, tzinfo=UTC)
    assert (body_time(wall), query_time(wall)) == ("2026-11-20 13:23", "2026-11-20T13:23")
    assert parse_offset("+05:45").offset == timedelta(hours=5, minutes=45)
    assert not infer_clock(wall, MONDAY).known, "three days are no zone"
    with pytest.raises(DataQualityError, match="an invalid date"):
        server_time(None)
    with pytest.raises(UsageError, match=r"write it like \+02:00"):
        parse_offset("EST")


@pytest.mark.parametrize(
    ("status", "message", "refusal"),
    [
        (403, "Service not enabled", Refusal.DISABLED),
        (403, "Self scheduling limit reached", Refusal.CLOUD_LIMIT),
        (403, "You don't have the permission to access the requested resource", Refusal.ROLE),
        (403, "You(a@b.c) don't have permission to create a schedule on cloud03", Refusal.NOT_SELF_SERVICE),
        (403, "You don't have permission to terminate this assignment", Refusal.OWNER),
        (401, "Invalid Authentication token!", Refusal.TOKEN),
        (401, "Invalid Credentials!", Refusal.PASSWORD),
        (400, "Missing authentication data", Refusal.NO_LOGIN),
        (400, "Assignment not found: 12", Refusal.NOT_FOUND),
        (400, "No active assignment for cloud: cloud03", Refusal.NOT_FOUND),
        (400, "No free clouds available", Refusal.NO_CLOUD),
        (400, "Host is not available for the specified date range", Refusal.HOST_UNAVAILABLE),
        (400, "Invalid date range for start or end, start must be before end", Refusal.DEADLINE),
        (400, "Host x is not allowed to self-schedule", Refusal.HOST_CLOSED),
        (400, "Cloud x has reached the maximum number of hosts", Refusal.HOST_LIMIT),
        (400, "Missing Jira ticket number while automatic ticket creation is disabled", Refusal.TICKET),
        (405, "Method Not Allowed", Refusal.ROUTE),
    ],
)
def test_refusal_is_reported_by_its_message(status: int, message: str, refusal: Refusal) -> None:
    assert meaning(status, message) is refusal


def test_message_is_read_with_any_content_type() -> None:
    assert message(b'{"message": "Invalid Credentials!", "error": "Unauthorized"}') == "Invalid Credentials!"
    assert message(b"<!doctype html><title>500 Internal Server Error</title>") == "500 Internal Server Error"
    assert message(b"Unauthorized Access") == "Unauthorized Access"


def test_object_refused_by_the_database_has_no_id() -> None:
    with pytest.raises(DataQualityError, match="its database rejected the write"):
        assignment_of({"id": None, "active": True})


# host selection


def select_hosts(tmp_path: Path, options: dict[str, object], labels: tuple[str, ...] = ()) -> Selection:
    quads = Session(tmp_path).client()
    given = {**OPTIONS, "labels": labels, **options}
    return select(quads.hosts(), host_request(convert(given, HostOptions), convert(given, HostConditions)))


def short_names(selection: Selection) -> list[str]:
    return [host.name.partition(".")[0] for host in selection.hosts]


def test_selection_explains_each_rejected_host(tmp_path: Path) -> None:
    found = select_hosts(tmp_path, {"models": ["r650"], "exclude": ["f04-*"], "hosts": ["f0*"]})
    assert short_names(found) == ["f01-h01-r650", "f07-h01-r650"]
    assert str(found).startswith("2 of 2 matching hosts: f01-h01-r650, f07-h01-r650; not ")
    assert "1 host (f04-h01-r650.lab.example.com) is excluded" in str(found)
    why = {name.partition("-")[0]: text for name, text in found.refused.items()}
    assert why["f00"] == "is a R640, not r650"
    assert why["f04"] == "is excluded"
    assert why["f09"] == "is broken; is a R640, not r650"
    assert why["f10"] == "is not among the requested hosts; is retired"
    assert why["f11"] == "is not among the requested hosts; is not open to self-scheduling; is a R750, not r650"


@pytest.mark.parametrize(
    ("options", "labels", "hosts"),
    [
        ({"disks": [{"type": "nvme", "size_gb": 3200, "count": 2}]}, (), ["f01-h01-r650", "f07-h01-r650"]),
        (
            {"nics": [{"vendor": "mellanox", "gigabits": 100, "driver": "mlx5_core"}]},
            (),
            ["f00-h01-r640", "f03-h01-r640"],
        ),
        ({"gpus": 1}, (), ["f02-h01-r750", "f05-h01-r750"]),
        ({}, ("dell_640", "disk_nvme", "sriov_intel"), ["f00-h01-r640", "f03-h01-r640"]),
        (
            {"memory_gb": 256, "cores": 40, "threads": 80, "processor": "xeon"},
            ("gpu",),
            ["f02-h01-r750", "f05-h01-r750"],
        ),
        ({"more_labels": {"ours": {"gpus": 1}}}, ("ours",), ["f02-h01-r750", "f05-h01-r750"]),
        ({"count": 0, "models": ["R640"]}, (), ["f00-h01-r640", "f03-h01-r640", "f06-h01-r640"]),
    ],
)
def test_hosts_are_selected_by_their_hardware(
    tmp_path: Path, options: dict[str, object], labels: tuple[str, ...], hosts: list[str]
) -> None:
    assert (
        short_names(
            select_hosts(tmp_path, {**options, "exclude": ["f04-*", "f08-*"]} if not labels else options, labels)
        )
        == hosts
    )


def test_too_few_hosts_and_contradicting_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(QuadsError, match=r"has 0 of at least 1 matching hosts: .*has 256 of 257 GB of memory"):
        select_hosts(tmp_path, {"memory_gb": 257})
    with pytest.raises(UsageError, match="unknown label disk_nvm; did you mean disk_nvme"):
        select_hosts(tmp_path, {}, ("disk_nvm",))
    with pytest.raises(UsageError, match="at least 3 of 2 hosts is impossible"):
        select_hosts(tmp_path, {"at_least": 3})
    with pytest.raises(UsageError, match=r"label red: unknown key disks\.colour"):
        select_hosts(tmp_path, {"more_labels": {"red": {"disks": [{"colour": "red"}]}}})
    with pytest.raises(UsageError, match=r"label big: cores: Expected `int`"):
        select_hosts(tmp_path, {"more_labels": {"big": {"cores": "many"}}})
    with pytest.raises(QuadsError, match="has 3 of at least 4 matching hosts"):
        # All requested hosts, unless fewer are accepted
        select_hosts(tmp_path, {"count": 4, "at_least": 0, "models": ["R640"]})


# delivery


def test_delivery_requires_all_four_conditions(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.book(2)
    quads, record = session.client(), session.journal().record

    first = read_delivery(quads, record, record.hosts)
    assert first.unmet == ("it is not provisioned", "it is not validated")
    assert set(first.laggards) == set(record.hosts)
    session.time.pause(700)
    moved = read_delivery(quads, record, record.hosts)
    assert moved.unmet == ("it is not validated",)
    assert set(moved.laggards.values()) == {"is not validated"}
    session.time.pause(7200)
    assert read_delivery(quads, record, record.hosts).ready
    # The flags stay for a while when a host is added.
    session.book(3)
    later = read_delivery(quads, record, record.hosts)
    assert later.assignment.validated and not later.ready
    assert list(later.laggards.values()) == ["is still in cloud01"]
    # A requested host without a row
    assert (
        read_delivery(quads, record, [*record.hosts, "gone"]).laggards["gone"] == "has no current row in the schedule"
    )


def test_host_flag_is_ignored_without_a_wipe(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.book(2)
    session.own[0]["wipe"] = False  # type: ignore[index]
    session.time.pause(700)
    assert read_delivery(session.client(), session.journal().record, ()).ready


def test_wait_ends_at_its_deadline_and_names_late_hosts(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.settings.stuck = {sorted(session.lab.hosts)[1]}
    session.book(2)
    messages: list[str] = []
    with pytest.raises(
        WaitTimeoutError, match=r"cloud02 within 2 h 30 min: 0 of 2 hosts there; .*IPMI timeout"
    ) as raised:
        wait(session.client(), [(session.journal().record, ())], timedelta(minutes=150), MINUTE, messages.append)
    assert session.settings.stuck < set(raised.value.result["laggards"])
    assert len(messages) == 2, "an unchanged state is reported once"


def test_failed_validation_is_a_hint_that_may_pass(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.settings.invalid = {sorted(session.lab.hosts)[0]}
    session.book(2)
    session.time.pause(8000)
    quads, record = session.client(), session.journal().record
    assert "which may be fixed already" in str(read_delivery(quads, record, ()))
    session.settings.invalid.clear()
    assert wait(quads, [(record, ())], timedelta(hours=1), MINUTE)[0].ready
    assert session.own[0]["notification"] == {"fail": True, "success": True}


def test_wait_survives_an_outage_and_detects_an_ended_assignment(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.book(1)
    quads, record = session.client(), session.journal().record
    begin = len(session.wire.calls)
    session.wire.faults = {begin + number: "error before" for number in range(40)}
    messages: list[str] = []
    assert wait(quads, [(record, ())], timedelta(hours=4), MINUTE, messages.append)[0].ready
    assert "tried again" in messages[0]
    session.release()
    with pytest.raises(QuadsError, match="ended before it was delivered"):
        wait(quads, [(record, ())], timedelta(hours=1), MINUTE)


# leases


def test_tenant_message_has_the_end_and_that_only_the_lab_extends(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.book(1)
    until = session.time.now() + timedelta(days=7)
    with pytest.raises(QuadsError, match=r"can extend a lease of QUADS. This one lasts until 2026-11-28T15:00Z"):
        extend(session.client(), session.journal().record, until)


def test_administrator_extends_all_rows_unless_a_host_is_booked(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(mode=OLD))
    result = session.book(2)
    assert round(result.reservation.left.total_seconds() / 3600) == 48, "where dates are obeyed, they are asked for"
    until = session.time.now() + timedelta(hours=60)
    quads, record = session.client(), session.journal().record
    session.wire.faults = {len(session.wire.calls) + 8: "timeout after"}

    reservation, rows = extend(quads, record, until)

    assert len(rows) == 2 and round(reservation.left.total_seconds() / 3600) == 60
    assert extend(quads, record, until)[1] == []
    wall = session.lab.local()
    joe = session.lab.assign("cloud05", "joe", "theirs")
    session.lab.schedule(joe, result.rows[0].host.name, wall + timedelta(hours=70), wall + timedelta(hours=80))
    with pytest.raises(QuadsError, match="another booking uses them"):
        extend(quads, record, until + timedelta(hours=20))


def test_warning_precedes_the_end() -> None:
    reservation = Reservation(MONDAY, timedelta(minutes=50), exact=True)
    assert warning(reservation, 3600) == "the lease ends in 50 min: release the hosts, or ask the lab to extend it"
    assert not warning(reservation, 600)
    assert not replace(reservation, left=timedelta(hours=24)).too_short(timedelta(hours=24))
