"""Messages about server errors, whose codes, bodies and content types contain little information."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads, detect
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Account, Connection
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import LostAnswerError, Refusal, RefusedError

from tests.standins.quads.accounts import DISABLED
from tests.standins.quads.lab import OLD, SSM_216, Settings
from tests.unit.quads.sessions import Session

SELF, ROWS = "/assignments/self/", "/schedules/"
ORDER = {"description": "x", "ticket": "1"}
FIRST, CLOSED, BROKEN = "f00-h01-r640", "f11-h01-r750", "f09-h01-r640"


def host(cloud: str, name: str) -> dict[str, str]:
    return {"cloud": cloud, "hostname": f"{name}.lab.example.com"}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Return a session in which Joe has a host in cloud02, and cloud03 is no self-service cloud."""
    session = Session(tmp_path)
    lab, now = session.lab, session.lab.local()
    lab.schedule(lab.assign("cloud02", "joe", "x", open=True), f"{FIRST}.lab.example.com", now, lab.lease_end(now))
    lab.assign("cloud03", "joe", "x")
    return session


@pytest.mark.parametrize(
    ("path", "body", "limits", "refusal"),
    [
        (SELF, ORDER, {"enabled": False}, Refusal.DISABLED),
        (SELF, ORDER, {"cloud_limit": 0}, Refusal.CLOUD_LIMIT),
        (SELF, {"ticket": "1"}, {}, Refusal.OTHER),
        (SELF, {"description": "x"}, {}, Refusal.TICKET),
        (SELF, {**ORDER, "cloud": "cloud01"}, {}, Refusal.CLOUD_BUSY),
        (SELF, {**ORDER, "cloud": "cloud02"}, {}, Refusal.CLOUD_BUSY),
        (SELF, {**ORDER, "cloud": "cloud99"}, {}, Refusal.NOT_FOUND),
        (SELF, {**ORDER, "vlan": 7}, {}, Refusal.NOT_FOUND),
        (SELF, {**ORDER, "qinq": "two"}, {}, Refusal.DATABASE),
        (SELF, ORDER, {"mode": OLD}, Refusal.ROUTE),
        (SELF, ORDER, {"mode": SSM_216}, Refusal.OTHER),
        ("/assignments/", ORDER, {}, Refusal.ROLE),
        ("/assignments/terminate/1/", None, {}, Refusal.OWNER),
        ("/assignments/terminate/99/", None, {}, Refusal.NOT_FOUND),
        ("/assignments/terminate/1/", None, {"mode": OLD}, Refusal.ROUTE),
        (ROWS, {"cloud": "cloud02"}, {}, Refusal.OTHER),
        (ROWS, host("cloud99", FIRST), {}, Refusal.NOT_FOUND),
        (ROWS, host("cloud05", FIRST), {}, Refusal.NOT_FOUND),
        (ROWS, host("cloud03", FIRST), {}, Refusal.NOT_SELF_SERVICE),
        (ROWS, host("cloud02", FIRST), {"host_limit": 1}, Refusal.HOST_LIMIT),
        (ROWS, host("cloud02", "f77"), {}, Refusal.NOT_FOUND),
        (ROWS, host("cloud02", CLOSED), {}, Refusal.HOST_CLOSED),
        (ROWS, host("cloud02", FIRST), {}, Refusal.HOST_UNAVAILABLE),
        (ROWS, host("cloud02", BROKEN), {}, Refusal.HOST_UNAVAILABLE),
        (ROWS, host("cloud02", "f03-h01-r640"), {"model_share": 0.25}, Refusal.OTHER),
        ("/schedules/batch/", host("cloud02", FIRST), {}, Refusal.ROLE),
    ],
)
def test_refused_write_is_explained(
    session: Session, path: str, body: dict[str, object] | None, limits: dict[str, object], refusal: Refusal
) -> None:
    for name, value in limits.items():
        setattr(session.settings, name, value)
    with pytest.raises(RefusedError) as raised:
        Connection(session.account, session.wire, session.time).write("POST", path, "try", body)
    assert raised.value.refusal is refusal, raised.value.reason
    assert raised.value.reason
    assert str(raised.value).endswith(refusal.value)


@pytest.mark.parametrize(
    "path", ["/hosts?disks.foo=1", "/hosts?model__in=R640", "/schedules/current?date=2026-11-25", "/schedules/two"]
)
def test_server_error_is_retried_and_reported_as_such(session: Session, path: str) -> None:
    with pytest.raises(LostAnswerError, match=r"failed to read .* \(500\): 500 Internal Server Error"):
        Connection(session.account, session.wire, session.time, patience_s=3).read(path)
    assert len(session.wire.calls) > 1


def test_disabled_account_is_reported(session: Session) -> None:
    session.lab.users["jane@example.com"] = ("planted-quads-w0rd", DISABLED)
    with pytest.raises(RefusedError, match="this account has no permission, or is disabled"):
        session.client().terminate(1)


def test_new_account_logs_in_despite_its_registration_token(session: Session) -> None:
    body = json.dumps({"email": "new@example.com", "password": "planted-new-w0rd"}).encode()
    reply = session.wire.send("POST", "http://q/api/v3/register/", {"Content-Type": "application/json"}, body)
    token = json.loads(reply.body)["auth_token"]
    useless = Connection(Account("http://q", "new@example.com", token=token), session.wire, session.time)
    with pytest.raises(RefusedError, match="the token is wrong, expired or logged out"):
        useless.write("POST", SELF, "ask", ORDER)

    booking = Connection(Account("http://q", "new@example.com", "planted-new-w0rd"), session.wire, session.time)
    assert booking.write("POST", SELF, "ask", ORDER)[0]["owner"] == "new"


def test_exhausted_model_is_refused_host_by_host(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(model_share=0.25))
    booked = session.book(4)
    assert [row.host.model for row in booked.rows] == ["R640", "R650", "R750"]
    assert "Model R640 has reached its share of self-scheduling" in booked.refused.values()


def test_clouds_listed_as_free_by_an_old_server_are_checked(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(mode=OLD))
    lab, now = session.lab, session.lab.local()
    theirs = lab.assign("cloud02", "joe", "theirs")
    one, other, *_ = sorted(lab.hosts)
    lab.schedule(theirs, one, now - timedelta(days=9), now - timedelta(days=1))
    lab.schedule(theirs, other, now - timedelta(days=1), now + timedelta(days=1))
    connection = Connection(session.account, session.wire, session.time)
    assert "cloud02" in Quads(connection, detect(connection)).free_clouds()
    assert session.book(1).assignment.cloud == "cloud03"
