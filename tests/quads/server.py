"""The routes of the stand-in: bodies, codes and content types as the servers answer them."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.quads.lab import EARLY, OLD, SPARE, SSM, VERSIONS, Json, Lab

HTML = "text/html; charset=utf-8"
_TRUTHS = {"true", "y", "yes"}
_COLUMNS = {"name", "model", "host_type", "cloud", "can_self_schedule"}
_LISTS = {
    "disks": {"disk_type", "size_gb", "count"},
    "interfaces": {"name", "vendor", "speed", "pxe_boot", "mac_address"},
    "memory": {"size_gb", "handle"},
    "processors": {"vendor", "product", "cores", "threads"},
}
_SUMS = {("disks", "count"), ("memory", "size_gb"), ("processors", "cores"), ("processors", "threads")}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answers."""

    status: int
    body: bytes
    content_type: str = "application/json"


class _Refusal(Exception):  # noqa: N818 - an answer, not an error
    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode())


def _page(status: int, title: str) -> Answer:
    body = f"<!doctype html>\n<html lang=en>\n<title>{status} {title}</title>\n<h1>{title}</h1>\n"
    return Answer(status, body.encode(), HTML)


def _logic(message: str, status: int = 400) -> _Refusal:
    error = "Bad Request" if status == 400 else "Forbidden"
    return _Refusal(_json({"status_code": status, "error": error, "message": message}, status))


def _access(message: str, status: int) -> _Refusal:
    # JSON that says it is HTML, without a status_code
    return _Refusal(Answer(status, json.dumps({"message": message, "error": "Unauthorized"}).encode(), HTML))


def _http_date(wall: datetime | None) -> str | None:
    """Local time that calls itself GMT."""
    return None if wall is None else f"{wall:%a, %d %b %Y %H:%M:%S} GMT"


def _true(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.lower() in _TRUTHS)


class StandIn:
    """Answers requests from the records of a lab."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        # what somebody else does just after a request has acted: (method, path begins with) → once
        self.after: list[tuple[str, str, Callable[[Json], None]]] = []

    @property
    def date(self) -> str:
        """The header ``Date``: true."""
        return format_datetime(self.lab.now().astimezone(UTC).replace(microsecond=0), usegmt=True)

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """The answer to a request."""
        self.lab.work()
        parts = urlsplit(target)
        given = {name.lower(): value for name, value in headers.items()}
        path = parts.path.rstrip("/")
        at = path.find("/api/v3")
        if at < 0:
            return _page(404, "Not Found")
        words = tuple(path[at + len("/api/v3") :].strip("/").split("/"))
        query = parse_qsl(parts.query, keep_blank_values=True)
        try:
            return self._route(method, words, query, given, body)
        except _Refusal as refusal:
            return refusal.answer
        except (ValueError, TypeError, KeyError, AttributeError):
            return _page(500, "Internal Server Error")

    def _route(
        self,
        method: str,
        words: tuple[str, ...],
        query: list[tuple[str, str]],
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> Answer:
        name = f"{method} {words[0]}"
        routes: dict[str, Callable[..., Answer]] = {
            "GET version": lambda *_: _json(f"QUADS version {VERSIONS[self.lab.settings.mode]}"),
            "GET available": self._available,
            "GET hosts": self._hosts,
            "GET clouds": self._clouds,
            "GET assignments": self._assignments,
            "GET schedules": self._schedules,
            "GET moves": self._moves,
            "POST login": self._login,
            "POST assignments": self._post_assignment,
            "POST schedules": self._post_schedule,
            "PATCH schedules": self._patch_schedule,
            "PATCH assignments": self._patch_assignment,
        }
        if name not in routes:
            known = {each.partition(" ")[2] for each in routes}
            return _page(405, "Method Not Allowed") if words[0] in known else _page(404, "Not Found")
        if method == "GET":
            return routes[name](words[1:], query)
        return routes[name](words[1:], headers, body)

    # access

    def _login(self, _words: tuple[str, ...], headers: Mapping[str, str], _body: bytes | None) -> Answer:
        user = self._basic(headers.get("authorization", ""))
        if user is None:
            return Answer(401, b"Unauthorized Access", HTML)
        token = f"eyJhbGciOiJIUzI1NiJ9.{secrets.token_urlsafe(12)}.{secrets.token_urlsafe(16)}"
        self.lab.tokens[token] = (user, self.lab.now() + timedelta(seconds=self.lab.settings.token_s))
        told = {"auth_token": token, "message": "Successful login", "status": "success", "status_code": 201}
        return _json(told)

    def _basic(self, header: str) -> str | None:
        try:
            user, _colon, password = base64.b64decode(header.partition(" ")[2]).decode().partition(":")
        except ValueError:
            return None
        known = self.lab.users.get(user)
        return user if known and known[0] == password else None

    def _user(self, headers: Mapping[str, str], admin: bool = False) -> str:
        header = headers.get("authorization")
        if header is None:
            raise _access("Missing authentication data", 400)
        scheme, _blank, rest = header.partition(" ")
        if not rest:
            raise _access("Authorization header malformed", 400)
        if scheme == "Basic":
            user = self._basic(header)
            if user is None:
                raise _access("Invalid Credentials!", 401)
        elif scheme == "Bearer":
            user, end = self.lab.tokens.get(rest, ("", self.lab.now()))
            if end <= self.lab.now():
                raise _access("Invalid Authentication token!", 401)
        else:
            raise ValueError(scheme)
        if admin and self.lab.users[user][1] != "admin":
            raise _access("You don't have the permission to access the requested resource", 403)
        return user

    def _body(self, headers: Mapping[str, str], body: bytes | None) -> Json:
        if headers.get("content-type") != "application/json":
            raise _Refusal(_page(400, "Bad Request"))
        try:
            return dict(json.loads(body or b""))
        except ValueError:
            raise _Refusal(_page(400, "Bad Request")) from None

    # reading

    def _available(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        window, filters = self._window(query)
        if words:
            free = words[0] in self.lab.hosts and self.lab.free(words[0], *window)
            return _json({words[0]: str(free)})
        found = [host for host in self._filtered(filters) if self._is_free(host, window)]
        return _json(sorted(str(host["name"]) for host in found))

    def _is_free(self, host: Json, window: tuple[datetime, datetime]) -> bool:
        return not host["broken"] and not host["retired"] and self.lab.free(host["name"], *window)

    def _window(self, query: list[tuple[str, str]]) -> tuple[tuple[datetime, datetime], list[tuple[str, str]]]:
        times = {"start": self.lab.local(), "end": self.lab.local()}
        for name in times:
            text = next((value for key, value in query if key == name), None)
            if text is not None:
                times[name] = self._time(text)
        start, end = times["start"], times["end"]
        window = (start, max(end, start + timedelta(minutes=1)))
        return window, [item for item in query if item[0] not in times]

    @staticmethod
    def _time(text: str, form: str = "%Y-%m-%dT%H:%M") -> datetime:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            raise _logic(f"Invalid date format: {text}") from None

    def _filtered(self, query: list[tuple[str, str]]) -> list[Json]:
        seen: set[str] = set()
        operator = "eq"
        tests: list[tuple[str, str, str]] = []
        for key, value in query:
            field, _mark, suffix = key.partition("__")
            if field in seen:
                continue
            seen.add(field)
            self._check_field(field)
            if suffix:
                if suffix not in ("ne", "lt", "lte", "gt", "gte"):
                    raise _logic(f"{suffix} is not a valid operator")
                # it stays in force for what follows
                operator = suffix
            tests.append((field, operator, value))
        hosts = list(self.lab.hosts.values())
        return [host for host in hosts if all(self._holds(host, *test) for test in tests)]

    def _check_field(self, field: str) -> None:
        whole, _dot, part = field.partition(".")
        if part and whole in _LISTS:
            if part not in _LISTS[whole]:
                raise ValueError(field)
        elif whole not in _COLUMNS or (whole == "can_self_schedule" and self.lab.settings.mode == OLD):
            raise _logic(f"{field} is not a valid field.")

    def _holds(self, host: Json, field: str, operator: str, text: str) -> bool:
        whole, _dot, part = field.partition(".")
        if whole == "can_self_schedule":
            # 1 counts as false, and then finds exactly the others
            return bool(host["open"] is _true(text))
        if whole == "cloud":
            rows = [row for row in self.lab.rows if row["host"] == host["name"] and self.lab.running(row)]
            return any((self.lab.of(row["assignment"]) or {}).get("cloud") == text for row in rows)
        if not part:
            return self._compare(str(host[whole]), operator, text)
        if (whole, part) in _SUMS and self.lab.settings.mode == SSM:
            return self._compare(sum(row[part] for row in host[whole]), operator, text)
        return any(self._compare(row[part], operator, text) for row in host[whole])

    def _compare(self, value: Any, operator: str, text: str) -> bool:
        other = type(value)(text)
        old = self.lab.settings.mode == OLD
        return bool(
            {
                "eq": value == other, "ne": value != other, "lt": value < other, "gt": value > other,
                "lte": value < other if old else value <= other, "gte": value > other if old else value >= other,
            }[operator]
        )  # fmt: skip

    def _hosts(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        if not words:
            return _json([self._host(each) for each in self._filtered(query)])
        if words[0] not in self.lab.hosts:
            raise _logic(f"Host not found: {words[0]}")
        return _json(self._host(self.lab.hosts[words[0]]))

    def _clouds(self, words: tuple[str, ...], _query: list[tuple[str, str]]) -> Answer:
        clouds = self.lab.free_clouds() if words[:1] == ("free",) else self.lab.clouds
        return _json([self._cloud(each["name"]) for each in clouds])

    def _assignments(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        lab = self.lab
        if words[:1] == ("active",):
            if words[1] not in {each["name"] for each in lab.clouds}:
                raise _logic(f"Cloud not found: {words[1]}")
            found = lab.active_on(words[1])
            return _json(self._assignment(found[0]) if found else {})
        if words:
            record = lab.of(int(words[0]))
            if record is None:
                raise _logic(f"Assignment not found: {words[0]}")
            return _json(self._assignment(record))
        fields = {"active": "active", "owner": "owner"} | (
            {} if lab.settings.mode == OLD else {"is_self_schedule": "open"}
        )
        for key, _value in query:
            if key not in fields:
                raise _logic(f"{key} is not a valid field.")
        found = [each for each in lab.assignments if all(self._is(each[fields[key]], value) for key, value in query)]
        return _json([self._assignment(each) for each in found])

    @staticmethod
    def _is(value: Any, text: str) -> bool:
        return value is _true(text) if isinstance(value, bool) else str(value) == text

    def _schedules(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        lab, given = self.lab, dict(query)
        rows = lab.rows
        if words[:1] == ("current",):
            rows = [row for row in rows if lab.running(row)]
            # a name that nobody has is no filter at all
            if given.get("host") in lab.hosts:
                rows = [row for row in rows if row["host"] == given["host"]]
            if given.get("cloud") in {each["name"] for each in lab.clouds}:
                rows = [row for row in rows if (lab.of(row["assignment"]) or {})["cloud"] == given["cloud"]]
            return _json([self._row(row) for row in rows])
        for key in given:
            if key not in ("assignment_id", "host"):
                raise _logic(f"{key} is not a valid field.")
        if "host" in given and given["host"] not in lab.hosts:
            raise _logic(f"Host not found: {given['host']}")
        rows = [row for row in rows if given.get("host") in (None, row["host"])]
        rows = [row for row in rows if given.get("assignment_id") in (None, str(row["assignment"]))]
        return _json([self._row(row) for row in rows])

    def _moves(self, words: tuple[str, ...], _query: list[tuple[str, str]]) -> Answer:
        if not words:
            return _json(self.lab.moves())
        if self.lab.settings.mode != SSM:
            return _page(404, "Not Found")
        stuck = self.lab.settings.stuck
        return _json([
            {"host": each["host"], "status": "failed" if each["host"] in stuck else "provisioning",
             "message": "", "error_message": "IPMI timeout" if each["host"] in stuck else None}
            for each in self.lab.moves()
        ])  # fmt: skip

    # writing

    def _post_assignment(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        old = self.lab.settings.mode == OLD
        if words == ("self",):
            if old:
                return _page(405, "Method Not Allowed")
            return self._request(self._user(headers), self._body(headers, body))
        if len(words) == 2 and words[0] == "terminate":
            return _page(404, "Not Found") if old else self._terminate(words[1], self._user(headers), headers)
        if words:
            return _page(405, "Method Not Allowed")
        self._user(headers, admin=True)
        return self._assign(self._body(headers, body))

    def _assign(self, given: Json) -> Answer:
        for name in ("description", "owner", "ticket", "cloud"):
            if not given.get(name):
                raise _logic(f"Missing argument: {name}")
        if self.lab.active_on(given["cloud"]):
            raise _logic(f"There is an already active assignment for {given['cloud']}")
        if not isinstance(given.get("wipe", True), bool):
            # the database refuses it, which nobody looks at
            return _json({"id": None, "cloud": self._cloud(given["cloud"]), "active": True})
        record = self.lab.assign(
            given["cloud"],
            given["owner"],
            given["description"],
            ticket=str(given["ticket"]),
            wipe=given.get("wipe", True),
        )
        self._others("POST", "/assignments", record)
        return _json(self._assignment(record))

    def _request(self, user: str, given: Json) -> Answer:
        lab, settings = self.lab, self.lab.settings
        early = settings.mode == EARLY
        if not settings.enabled:
            raise _logic("Service not enabled", 403)
        owner = str(given["owner"]) if early else user.partition("@")[0]
        mine = [each for each in lab.assignments if each["active"] and each["open"] and each["owner"] == owner]
        if len(mine) >= settings.cloud_limit:
            raise _logic("Self scheduling limit reached", 403)
        if not given.get("description"):
            raise _logic("Missing argument: description")
        cloud = self._chosen(given.get("cloud"))
        if "vlan" in given and int(given["vlan"]) not in range(1100, 1110):
            raise _logic(f"Vlan not found: {given['vlan']}")
        if not given.get("ticket") and not settings.tickets and not early:
            raise _logic("Missing Jira ticket number while automatic ticket creation is disabled")
        if not str(given.get("qinq", 0)).isdecimal():
            raise _logic("Failed to commit the assignment")
        record = lab.assign(
            cloud,
            owner,
            given["description"] if early else f"[SSM] {given['description']}",
            ticket="OPENED-1" if settings.tickets else str(given.get("ticket", "")),
            wipe=_true(given.get("wipe")),
            qinq=int(given.get("qinq", 0)),
            vlan=int(given["vlan"]) if "vlan" in given else None,
            ccuser=given.get("cc_user", "").replace(",", " ").split(),
            open=True,
        )
        self._others("POST", "/assignments", record)
        return _json(self._assignment(record), 200 if early else 201)

    def _chosen(self, wanted: str | None) -> str:
        free = [str(each["name"]) for each in self.lab.free_clouds()]
        if wanted:
            if wanted == SPARE:
                raise _logic(f"Cloud {wanted} is the spare pool")
            if wanted not in {each["name"] for each in self.lab.clouds}:
                raise _logic(f"Cloud not found: {wanted}")
            if wanted not in free:
                raise _logic(f"There is an already active assignment for {wanted}")
            return wanted
        if not free:
            raise _logic("No free clouds available")
        return free[0]

    def _post_schedule(self, _words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        lab, settings = self.lab, self.lab.settings
        user = self._user(headers, admin=settings.mode == OLD)
        given = self._body(headers, body)
        for name in ("cloud", "hostname"):
            if not given.get(name):
                raise _logic(f"Missing argument: {name}")
        cloud, host = given["cloud"], given["hostname"]
        if cloud not in {each["name"] for each in lab.clouds}:
            raise _logic(f"Cloud not found: {cloud}")
        active = lab.active_on(cloud)
        if not active:
            raise _logic(f"No active assignment for cloud: {cloud}")
        if settings.mode == OLD:
            if host not in lab.hosts:
                raise _logic(f"Host not found: {host}")
            start, end = (self._time(given[name], "%Y-%m-%d %H:%M") for name in ("start", "end"))
            # nothing is checked: a second row is a second booking
            return _json(self._row(lab.schedule(active[0], host, start, end)))
        return self._self_schedule(user, active, cloud, host)

    def _self_schedule(self, user: str, active: list[Json], cloud: str, host: str) -> Answer:
        lab, settings = self.lab, self.lab.settings
        if not active[0]["open"] and lab.users[user][1] != "admin":
            raise _logic(f"You({user}) don't have permission to create a schedule on {cloud}", 403)
        ids = {each["id"] for each in active}
        if sum(lab.running(row) and row["assignment"] in ids for row in lab.rows) >= settings.host_limit:
            raise _logic(f"Cloud {cloud} has reached the maximum number of hosts")
        if host not in lab.hosts:
            raise _logic(f"Host not found: {host}")
        if not lab.hosts[host]["open"]:
            raise _logic(f"Host {host} is not allowed to self-schedule")
        start = lab.local()
        end = lab.lease_end(start)
        if end <= start:
            raise _logic("Invalid date range: start must be before end")
        if not lab.free(host, start, end):
            raise _logic("Host is not available for the specified date range")
        # whose cloud it is nobody asks
        row = lab.schedule(active[0], host, start, end)
        self._others("POST", "/schedules", row)
        return _json(self._row(row), 200 if settings.mode == EARLY else 201)

    def _terminate(self, number: str, user: str, headers: Mapping[str, str]) -> Answer:
        lab = self.lab
        early = lab.settings.mode == EARLY
        record = lab.of(int(number))
        if record is None:
            raise _logic(f"Assignment not found: {number}")
        name = headers["authorization"] if early and headers["authorization"].startswith("Bearer") else user
        if name.partition("@")[0] != record["owner"] and lab.users[user][1] != "admin":
            raise _logic("You don't have permission to terminate this assignment", 403)
        rows = [row for row in lab.rows if row["assignment"] == record["id"] and lab.running(row)]
        if early and not rows:
            raise _logic(f"No active schedule for {record['cloud']}")
        for row in rows:
            row["end"] = lab.local()
        record["active"] = early
        return _json({"status_code": 200, "message": "Assignment terminated"})

    def _patch_schedule(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        self._user(headers, admin=True)
        given = self._body(headers, body)
        row = next((each for each in self.lab.rows if each["id"] == int(words[0])), None)
        if row is None:
            raise _logic(f"Schedule not found: {words[0]}")
        row["end"] = self._time(given["end"])
        return _json(self._row(row))

    def _patch_assignment(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        self._user(headers, admin=True)
        record = self.lab.of(int(words[0]))
        if record is None:
            raise _logic(f"Assignment not found: {words[0]}")
        record["active"] = bool(self._body(headers, body)["active"])
        return _json(self._assignment(record))

    def _others(self, method: str, path: str, record: Json) -> None:
        """Nothing is serialised: somebody else's request may have been let in beside this one."""
        for entry in list(self.after):
            if entry[:2] == (method, path):
                self.after.remove(entry)
                entry[2](record)

    # objects

    def _cloud(self, name: str) -> Json:
        record = next(each for each in self.lab.clouds if each["name"] == name)
        return {**record, "last_redefined": _http_date(record["last_redefined"])}

    def _assignment(self, record: Json) -> Json:
        kept = {key: value for key, value in record.items() if key not in ("cloud", "open", "vlan")}
        told = {**kept, "cloud": self._cloud(record["cloud"]), "created_at": _http_date(self.lab.local())}
        if record["vlan"] is not None:
            told["vlan"] = {"id": 1, "vlan_id": record["vlan"], "ip_free": 10, "gateway": "198.51.100.1",
                            "ip_range": "198.51.100.0/24", "netmask": "255.255.255.0"}  # fmt: skip
        return told if self.lab.settings.mode == OLD else {**told, "is_self_schedule": record["open"]}

    def _host(self, record: Json) -> Json:
        kept = {key: value for key, value in record.items() if key not in ("cloud", "home", "open") and value != []}
        told = {
            **kept,
            "cloud": self._cloud(record["cloud"]),
            "default_cloud": self._cloud(record["home"]),
            "last_build": None,
        }
        return told if self.lab.settings.mode == OLD else {**told, "can_self_schedule": record["open"]}

    def _row(self, row: Json) -> Json:
        assignment = self.lab.of(row["assignment"])
        return {
            "id": row["id"],
            "start": _http_date(row["start"]),
            "end": _http_date(row["end"]),
            "build_start": None,
            "build_end": None,
            "assignment_id": row["assignment"],
            "assignment": self._assignment(assignment) if assignment else None,
            "host": self._host(self.lab.hosts[row["host"]]),
            "host_id": self.lab.hosts[row["host"]]["id"],
        }
