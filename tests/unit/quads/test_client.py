"""The client: supported servers, logins, and requests."""

from __future__ import annotations

import http.server
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.booked import Wanted
from ansible_collections.psap.perf.plugins.module_utils.quads.booking import Booker
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Order, Quads, detect
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import (
    Account,
    Connection,
    HttpTransport,
    RealTiming,
    Reply,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import (
    LostAnswerError,
    QuadsError,
    RefusedError,
    UnfitServerError,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Journal, Record, Records, tag
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import release
from perflab.control_plane.certificates import Authority

from tests.standins.http_servers import Quiet, served
from tests.standins.quads.faults import Killed, over_http
from tests.standins.quads.lab import OLD, SSM, SSM_215, SSM_216, SSM_226, Settings
from tests.unit.quads.sessions import Session


@pytest.mark.parametrize(
    ("mode", "kind"),
    [(OLD, "OLD"), (SSM_215, "SSM-early"), (SSM_216, "SSM-early"), (SSM_226, "SSM-early"), (SSM, "SSM")],
)
def test_server_kind_follows_from_its_answers(tmp_path: Path, mode: str, kind: str) -> None:
    assert Session(tmp_path, Settings(mode=mode)).client().server.kind == kind


def test_server_without_tenant_release_is_refused_before_booking(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(mode=SSM_215))
    with pytest.raises(UnfitServerError, match=r"2\.1\.5.* lets no user release .*ask the lab for QUADS 2\.1\.6"):
        session.book(1)
    assert not session.lab.assignments


def test_server_with_unknown_offset_is_refused_before_booking(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(mode=OLD))
    session.journal().note(phase="planned", offset_s=None)
    with pytest.raises(UsageError, match="set utc_offset"):
        session.book(1)
    assert not session.lab.assignments


def test_release_of_an_assignment_without_hosts_needs_no_offset(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(mode=OLD))
    session.lab.assign("cloud02", "root", f"x {tag(session.mark)}")
    record = Record(session.mark, session.account.url, session.account.user, admin=True)
    assert [each.cloud for each in release(session.client(), record).ended] == ["cloud02"]
    assert not session.own


def test_server_without_tickets_explains_its_500(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(mode=SSM_226))
    with pytest.raises(LostAnswerError, match=r"\(500\): .*2\.2\.0 to 2\.2\.6 .*ssm_jira_create_ticket"):
        session.book(1)
    session.settings.tickets = True
    assert len(session.book(1).rows) == 1
    session.release()
    assert not session.own


@pytest.mark.parametrize(
    ("mode", "hours"), [(SSM_226, 0), (SSM, 120)], ids=["the deadline does not wrap", "the deadline wraps"]
)
def test_booking_after_the_weekly_deadline_names_the_deadline(tmp_path: Path, mode: str, hours: int) -> None:
    session = Session(tmp_path, Settings(mode=mode, tickets=True))
    # Sunday, 22:00 by the server's clock
    session.time.pause((7 * 24 - 12) * 3600)
    assert f"{session.lab.local():%a %H}" == "Sun 22"
    if hours:
        assert round(session.book(1).reservation.left.total_seconds() / 3600) == hours
        return
    with pytest.raises(QuadsError, match="weekly deadline for self-scheduling has passed"):
        session.book(1)
    assert not session.own


def test_server_without_self_scheduling_refuses_tenants(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(mode=OLD))
    session.settings.mode = OLD
    account = Account("http://quads.test", "jane@example.com", "planted-quads-w0rd")
    connection = Connection(account, session.wire, session.time)
    from_tenant = Quads(connection, detect(connection))
    assert not from_tenant.server.self_service
    records = Records(tmp_path)
    record = Record("run-1/cluster", account.url, account.user)
    wanted = Wanted(tuple(session.lab.hosts), 1)
    with pytest.raises(UnfitServerError, match=r"\(QUADS version 2.1.0 bowie\) has no self-scheduling, .*set admin if"):
        Booker(from_tenant, Journal(records, record)).book(Order("x", ticket="1"), wanted)
    with pytest.raises(RefusedError, match="this account has no permission"):
        from_tenant.request_as_admin(Order("x", ticket="1"), "cloud02")
    assert not session.lab.assignments


def test_login_is_sent_unasked_and_again_after_token_expiry(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.settings.token_s = 100
    session.book(1)
    session.time.pause(300)
    session.book(2)
    assert session.wire.calls.count("POST /login/") == 2
    session.wire.faults = {len(session.wire.calls) + 8: "expired token"}
    session.book(3)
    assert len(session.own) == 1


def test_wrong_password_and_invalid_api_token_are_reported(tmp_path: Path) -> None:
    session = Session(tmp_path)
    wrong = Connection(Account("http://q", "jane@example.com", "wrong"), session.wire, session.time)
    with pytest.raises(ClusterError, match=r"refused the login of jane@example.com"):
        wrong.write("POST", "/assignments/self/", "ask", {})
    unknown = Connection(Account("http://q", "jane@example.com", token="qat_gone"), session.wire, session.time)
    with pytest.raises(RefusedError, match="the token is wrong, expired or logged out"):
        unknown.write("POST", "/assignments/self/", "ask", {})
    assert session.wire.calls.count("POST /login/") == 1, "an API token is no reason to log in"


def test_path_before_the_api_is_kept() -> None:
    assert Account("https://lab.example.com/quads/").root == "https://lab.example.com/quads/api/v3"
    assert Account("https://lab.example.com/api/v3").root == "https://lab.example.com/api/v3"


@pytest.mark.parametrize(
    ("account", "message"),
    [
        (Account("lab.example.com"), "invalid address of a QUADS server"),
        (Account("https://jane:word@lab.example.com"), "contains credentials"),
        (Account("https://lab.example.com", "jane", "x"), "email address"),
        (Account("https://lab.example.com", "jane@example.com"), "booking needs a login"),
    ],
)
def test_unusable_account_is_refused_before_any_call(account: Account, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        account.check(writes=True)


class Recorded:
    """Return the same answer to every request, and record the requests."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.sent: list[tuple[str, str, Mapping[str, str], bytes | None]] = []

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        self.sent.append((method, url, headers, body))
        return self.reply


def test_html_response_is_not_quads(tmp_path: Path) -> None:
    wire = Recorded(Reply(200, b"<html>welcome"))
    with pytest.raises(UnfitServerError, match="is not QUADS"):
        detect(Connection(Account("http://q"), wire, Session(tmp_path).time))


def test_booleans_are_sent_in_the_servers_format(tmp_path: Path) -> None:
    session = Session(tmp_path)
    quads = session.client()
    quads.request(Order("x (psap.perf a/b)", ticket="1", cc_users=("joe", "jim")))
    (record,) = session.lab.assignments
    assert record["wipe"] is True and record["ccuser"] == ["joe", "jim"]
    assert session.wire.calls[1].endswith("can_self_schedule=true")
    assert not any("1" in host[:1] for host in quads.available(None, None)) and len(quads.available(None, None)) == 9


def test_created_object_without_an_id_is_an_error(tmp_path: Path) -> None:
    wire = Recorded(Reply(200, json.dumps({"id": None, "auth_token": "t"}).encode()))
    quads = Quads(
        Connection(Account("http://q", "a@b", "w"), wire, Session(tmp_path).time), Session(tmp_path).client().server
    )
    with pytest.raises(Exception, match="no id of the assignment"):
        quads.request(Order("x"))


def test_assignment_with_another_mark_is_not_ended(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.book(1)
    (mine,) = session.own
    other = Record("run-2/cluster", session.account.url, session.account.user, assignment=int(str(mine["id"])))
    assert release(session.client(), other).ended == ()
    assert session.own == [mine]
    assert tag("a/b") == "(psap.perf a/b)" and not f"x {tag('aa/b')}".endswith(tag("a/b"))
    with pytest.raises(UsageError, match="invalid mark"):
        tag("a b")


def test_booking_is_recorded_before_its_request(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.wire.faults = {4: "killed before"}
    with pytest.raises(Killed):
        session.book(1)
    assert session.wire.calls[4] == "POST /assignments/self/"
    (record,) = Records(tmp_path).all()
    assert (record.phase, record.mark, record.url) == ("requesting", "run-1/cluster", "http://quads.test/base")


def test_unreleasable_assignment_is_reported_with_the_first_error(tmp_path: Path) -> None:
    session = Session(tmp_path, Settings(mode=SSM_216, host_limit=0))
    with pytest.raises(
        QuadsError, match=r"booked 0 hosts.*could not be released .*has no hosts.*release run-1/cluster"
    ):
        session.book(1)


# over HTTP


def test_booking_works_over_http_and_a_refused_connection_is_reported(tmp_path: Path) -> None:
    session = Session(tmp_path)
    with over_http(session.server) as address:
        wire = HttpTransport()
        connection = Connection(Account(f"{address}/lab", "jane@example.com", "planted-quads-w0rd"), wire, RealTiming())
        quads = Quads(connection, detect(connection))
        number = quads.request(Order("x", ticket="1"))
        row, clock = quads.add_host("cloud02", sorted(session.lab.hosts)[0], None, None)
        assert row.assignment == number and clock.offset is not None
        wire.close()
    closed = Connection(Account(address), HttpTransport(), session.time, patience_s=5)
    with pytest.raises(LostAnswerError, match="did not answer"):
        closed.read("/version/")


class Secured(Quiet, http.server.BaseHTTPRequestHandler):
    """Return a version."""

    def do_GET(self) -> None:
        self.send_response_only(200)
        self.end_headers()
        self.wfile.write(b'"QUADS version 2.2.4"')


@pytest.fixture
def secured_server(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Serve with a certificate of a private authority; return the address and the authority's file."""
    (tmp_path / "tls").mkdir()
    authority = Authority(tmp_path / "tls")
    pair = authority.issue_server("server", [])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server = http.server.HTTPServer(("127.0.0.1", 0), Secured)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}", str(authority.pair.certificate)
    server.shutdown()
    server.server_close()


def test_certificate_is_verified_by_default_or_the_labs_authority(
    secured_server: tuple[str, str], tmp_path: Path
) -> None:
    address, authority = secured_server
    time = Session(tmp_path).time
    trusting = HttpTransport(authority)
    assert Connection(Account(address), trusting, time).read("/version/") == "QUADS version 2.2.4"
    trusting.close()
    with pytest.raises(UnfitServerError, match=r"is not trusted: .*set its file"):
        Connection(Account(address), HttpTransport(), time).read("/version/")
    with pytest.raises(UsageError, match="as a PEM file"):
        HttpTransport(str(tmp_path / "none.pem"))


def test_https_to_an_http_port_is_named(tmp_path: Path) -> None:
    session = Session(tmp_path)
    with over_http(session.server) as address:
        wire = HttpTransport()
        secure = Connection(Account(address.replace("http:", "https:")), wire, session.time)
        with pytest.raises(UnfitServerError, match="does not use TLS: set an address with http://"):
            secure.read("/version/")
        wire.close()


def test_login_is_not_sent_to_a_redirect(tmp_path: Path) -> None:
    seen: list[str] = []

    class Redirecting(Quiet, http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.path)
            self.send_response_only(307)
            self.send_header("Location", "http://elsewhere.example/login/")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with served(Redirecting) as address:
        wire = HttpTransport()
        connection = Connection(Account(address, "jane@example.com", "word"), wire, Session(tmp_path).time)
        with pytest.raises(UnfitServerError, match=r"redirects to http://elsewhere.example: set that address"):
            connection.write("POST", "/assignments/self/", "ask", {})
        wire.close()
    assert seen == ["/api/v3/login/"]


def test_api_token_books_without_a_login(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.lab.tokens["qat_planted"] = ("jane@example.com", session.time.now() + timedelta(days=90))
    account = Account("http://quads.test", "jane@example.com", token="qat_planted")
    connection = Connection(account, session.wire, session.time)
    assert Quads(connection, detect(connection)).request(Order("x", ticket="1")) == session.lab.assignments[0]["id"]
    assert "POST /login/" not in session.wire.calls
