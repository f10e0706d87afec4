"""The routes of the stand-in: bodies, codes and content types as the servers answer them."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.quads.answers import HTML, Answer, Refusal, access, json_answer, logic, page, true
from tests.quads.filters import filtered
from tests.quads.lab import EARLY, OLD, SPARE, SSM, VERSIONS, Json, Lab
from tests.quads.objects import assignment_object, cloud_object, host_object, row_object

INVENTORY = "_ocpinv.json"


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
            return self._beside_the_api(path)
        words = tuple(path[at + len("/api/v3") :].strip("/").split("/"))
        query = parse_qsl(parts.query, keep_blank_values=True)
        try:
            return self._route(method, words, query, given, body)
        except Refusal as refusal:
            return refusal.answer
        except (ValueError, TypeError, KeyError, AttributeError):
            return page(500, "Internal Server Error")

    def _beside_the_api(self, path: str) -> Answer:
        """The file for installers, of the hosts that are in the cloud, with passwords as the real one has them."""
        head, _slash, name = path.rpartition("/cloud/")
        if head or not name.endswith(INVENTORY):
            return page(404, "Not Found")
        here = [each for each in self.lab.hosts.values() if each["cloud"] == name.removesuffix(INVENTORY)]
        nodes = [
            {
                "name": each["name"],
                "pm_addr": f"mgmt-{each['name']}",
                "pm_type": "pxe_ipmitool",
                "pm_user": "quads",
                "pm_password": "planted-bmc-w0rd",
                "mac": [f"52:54:00:{number:02x}:00:01"],
            }
            for number, each in enumerate(here)
        ]
        return json_answer({"nodes": nodes}) if nodes else page(404, "Not Found")

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
            "GET version": lambda *_: json_answer(f"QUADS version {VERSIONS[self.lab.settings.mode]}"),
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
            return page(405, "Method Not Allowed") if words[0] in known else page(404, "Not Found")
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
        return json_answer(told)

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
            raise access("Missing authentication data", 400)
        scheme, _blank, rest = header.partition(" ")
        if not rest:
            raise access("Authorization header malformed", 400)
        if scheme == "Basic":
            user = self._basic(header)
            if user is None:
                raise access("Invalid Credentials!", 401)
        elif scheme == "Bearer":
            user, end = self.lab.tokens.get(rest, ("", self.lab.now()))
            if end <= self.lab.now():
                raise access("Invalid Authentication token!", 401)
        else:
            raise ValueError(scheme)
        if admin and self.lab.users[user][1] != "admin":
            raise access("You don't have the permission to access the requested resource", 403)
        return user

    def _body(self, headers: Mapping[str, str], body: bytes | None) -> Json:
        if headers.get("content-type") != "application/json":
            raise Refusal(page(400, "Bad Request"))
        try:
            return dict(json.loads(body or b""))
        except ValueError:
            raise Refusal(page(400, "Bad Request")) from None

    # reading

    def _available(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        window, filters = self._window(query)
        if words:
            free = words[0] in self.lab.hosts and self.lab.free(words[0], *window)
            return json_answer({words[0]: str(free)})
        found = [host for host in filtered(self.lab, filters) if self._is_free(host, window)]
        return json_answer(sorted(str(host["name"]) for host in found))

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
            raise logic(f"Invalid date format: {text}") from None

    def _hosts(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        if not words:
            return json_answer([host_object(self.lab, each) for each in filtered(self.lab, query)])
        if words[0] not in self.lab.hosts:
            raise logic(f"Host not found: {words[0]}")
        return json_answer(host_object(self.lab, self.lab.hosts[words[0]]))

    def _clouds(self, words: tuple[str, ...], _query: list[tuple[str, str]]) -> Answer:
        clouds = self.lab.free_clouds() if words[:1] == ("free",) else self.lab.clouds
        return json_answer([cloud_object(self.lab, each["name"]) for each in clouds])

    def _assignments(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        lab = self.lab
        if words[:1] == ("active",):
            if words[1] not in {each["name"] for each in lab.clouds}:
                raise logic(f"Cloud not found: {words[1]}")
            found = lab.active_on(words[1])
            return json_answer(assignment_object(self.lab, found[0]) if found else {})
        if words:
            record = lab.of(int(words[0]))
            if record is None:
                raise logic(f"Assignment not found: {words[0]}")
            return json_answer(assignment_object(self.lab, record))
        fields = {"active": "active", "owner": "owner"} | (
            {} if lab.settings.mode == OLD else {"is_self_schedule": "open"}
        )
        for key, _value in query:
            if key not in fields:
                raise logic(f"{key} is not a valid field.")
        found = [each for each in lab.assignments if all(self._is(each[fields[key]], value) for key, value in query)]
        return json_answer([assignment_object(self.lab, each) for each in found])

    @staticmethod
    def _is(value: Any, text: str) -> bool:
        return value is true(text) if isinstance(value, bool) else str(value) == text

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
            return json_answer([row_object(self.lab, row) for row in rows])
        for key in given:
            if key not in ("assignment_id", "host"):
                raise logic(f"{key} is not a valid field.")
        if "host" in given and given["host"] not in lab.hosts:
            raise logic(f"Host not found: {given['host']}")
        rows = [row for row in rows if given.get("host") in (None, row["host"])]
        rows = [row for row in rows if given.get("assignment_id") in (None, str(row["assignment"]))]
        return json_answer([row_object(self.lab, row) for row in rows])

    def _moves(self, words: tuple[str, ...], _query: list[tuple[str, str]]) -> Answer:
        if not words:
            return json_answer(self.lab.moves())
        if self.lab.settings.mode != SSM:
            return page(404, "Not Found")
        stuck = self.lab.settings.stuck
        return json_answer([
            {"host": each["host"], "status": "failed" if each["host"] in stuck else "provisioning",
             "message": "", "error_message": "IPMI timeout" if each["host"] in stuck else None}
            for each in self.lab.moves()
        ])  # fmt: skip

    # writing

    def _post_assignment(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        old = self.lab.settings.mode == OLD
        if words == ("self",):
            if old:
                return page(405, "Method Not Allowed")
            return self._request(self._user(headers), self._body(headers, body))
        if len(words) == 2 and words[0] == "terminate":
            return page(404, "Not Found") if old else self._terminate(words[1], self._user(headers), headers)
        if words:
            return page(405, "Method Not Allowed")
        self._user(headers, admin=True)
        return self._assign(self._body(headers, body))

    def _assign(self, given: Json) -> Answer:
        for name in ("description", "owner", "ticket", "cloud"):
            if not given.get(name):
                raise logic(f"Missing argument: {name}")
        if self.lab.active_on(given["cloud"]):
            raise logic(f"There is an already active assignment for {given['cloud']}")
        if not isinstance(given.get("wipe", True), bool):
            # the database refuses it, which nobody looks at
            return json_answer({"id": None, "cloud": cloud_object(self.lab, given["cloud"]), "active": True})
        record = self.lab.assign(
            given["cloud"],
            given["owner"],
            given["description"],
            ticket=str(given["ticket"]),
            wipe=given.get("wipe", True),
        )
        self._others("POST", "/assignments", record)
        return json_answer(assignment_object(self.lab, record))

    def _request(self, user: str, given: Json) -> Answer:
        lab, settings = self.lab, self.lab.settings
        early = settings.mode == EARLY
        if not settings.enabled:
            raise logic("Service not enabled", 403)
        owner = str(given["owner"]) if early else user.partition("@")[0]
        mine = [each for each in lab.assignments if each["active"] and each["open"] and each["owner"] == owner]
        if len(mine) >= settings.cloud_limit:
            raise logic("Self scheduling limit reached", 403)
        if not given.get("description"):
            raise logic("Missing argument: description")
        cloud = self._chosen(given.get("cloud"))
        if "vlan" in given and int(given["vlan"]) not in range(1100, 1110):
            raise logic(f"Vlan not found: {given['vlan']}")
        if not given.get("ticket") and not settings.tickets and not early:
            raise logic("Missing Jira ticket number while automatic ticket creation is disabled")
        if not str(given.get("qinq", 0)).isdecimal():
            raise logic("Failed to commit the assignment")
        record = lab.assign(
            cloud,
            owner,
            given["description"] if early else f"[SSM] {given['description']}",
            ticket="OPENED-1" if settings.tickets else str(given.get("ticket", "")),
            wipe=true(given.get("wipe")),
            qinq=int(given.get("qinq", 0)),
            vlan=int(given["vlan"]) if "vlan" in given else None,
            ccuser=given.get("cc_user", "").replace(",", " ").split(),
            open=True,
        )
        self._others("POST", "/assignments", record)
        return json_answer(assignment_object(self.lab, record), 200 if early else 201)

    def _chosen(self, wanted: str | None) -> str:
        free = [str(each["name"]) for each in self.lab.free_clouds()]
        if wanted:
            if wanted == SPARE:
                raise logic(f"Cloud {wanted} is the spare pool")
            if wanted not in {each["name"] for each in self.lab.clouds}:
                raise logic(f"Cloud not found: {wanted}")
            if wanted not in free:
                raise logic(f"There is an already active assignment for {wanted}")
            return wanted
        if not free:
            raise logic("No free clouds available")
        return free[0]

    def _post_schedule(self, _words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        lab, settings = self.lab, self.lab.settings
        user = self._user(headers, admin=settings.mode == OLD)
        given = self._body(headers, body)
        for name in ("cloud", "hostname"):
            if not given.get(name):
                raise logic(f"Missing argument: {name}")
        cloud, host = given["cloud"], given["hostname"]
        if cloud not in {each["name"] for each in lab.clouds}:
            raise logic(f"Cloud not found: {cloud}")
        active = lab.active_on(cloud)
        if not active:
            raise logic(f"No active assignment for cloud: {cloud}")
        if settings.mode == OLD:
            if host not in lab.hosts:
                raise logic(f"Host not found: {host}")
            start, end = (self._time(given[name], "%Y-%m-%d %H:%M") for name in ("start", "end"))
            # nothing is checked: a second row is a second booking
            return json_answer(row_object(self.lab, lab.schedule(active[0], host, start, end)))
        return self._self_schedule(user, active, cloud, host)

    def _self_schedule(self, user: str, active: list[Json], cloud: str, host: str) -> Answer:
        lab, settings = self.lab, self.lab.settings
        if not active[0]["open"] and lab.users[user][1] != "admin":
            raise logic(f"You({user}) don't have permission to create a schedule on {cloud}", 403)
        ids = {each["id"] for each in active}
        if sum(lab.running(row) and row["assignment"] in ids for row in lab.rows) >= settings.host_limit:
            raise logic(f"Cloud {cloud} has reached the maximum number of hosts")
        if host not in lab.hosts:
            raise logic(f"Host not found: {host}")
        if not lab.hosts[host]["open"]:
            raise logic(f"Host {host} is not allowed to self-schedule")
        start = lab.local()
        end = lab.lease_end(start)
        if end <= start:
            raise logic("Invalid date range: start must be before end")
        if not lab.free(host, start, end):
            raise logic("Host is not available for the specified date range")
        # whose cloud it is nobody asks
        row = lab.schedule(active[0], host, start, end)
        self._others("POST", "/schedules", row)
        return json_answer(row_object(self.lab, row), 200 if settings.mode == EARLY else 201)

    def _terminate(self, number: str, user: str, headers: Mapping[str, str]) -> Answer:
        lab = self.lab
        early = lab.settings.mode == EARLY
        record = lab.of(int(number))
        if record is None:
            raise logic(f"Assignment not found: {number}")
        name = headers["authorization"] if early and headers["authorization"].startswith("Bearer") else user
        if name.partition("@")[0] != record["owner"] and lab.users[user][1] != "admin":
            raise logic("You don't have permission to terminate this assignment", 403)
        rows = [row for row in lab.rows if row["assignment"] == record["id"] and lab.running(row)]
        if early and not rows:
            raise logic(f"No active schedule for {record['cloud']}")
        for row in rows:
            row["end"] = lab.local()
        record["active"] = early
        return json_answer({"status_code": 200, "message": "Assignment terminated"})

    def _patch_schedule(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        self._user(headers, admin=True)
        given = self._body(headers, body)
        row = next((each for each in self.lab.rows if each["id"] == int(words[0])), None)
        if row is None:
            raise logic(f"Schedule not found: {words[0]}")
        row["end"] = self._time(given["end"])
        return json_answer(row_object(self.lab, row))

    def _patch_assignment(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        self._user(headers, admin=True)
        record = self.lab.of(int(words[0]))
        if record is None:
            raise logic(f"Assignment not found: {words[0]}")
        record["active"] = bool(self._body(headers, body)["active"])
        return json_answer(assignment_object(self.lab, record))

    def _others(self, method: str, path: str, record: Json) -> None:
        """Nothing is serialised: somebody else's request may have been let in beside this one."""
        for entry in list(self.after):
            if entry[:2] == (method, path):
                self.after.remove(entry)
                entry[2](record)
