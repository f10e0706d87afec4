"""The writing routes of the stand-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.standins.quads.accounts import Accounts
from tests.standins.quads.answers import Answer, json_answer, logic, no_role, page, time_of, true
from tests.standins.quads.lab import SPARE, Json, Lab
from tests.standins.quads.objects import assignment_object, cloud_object, row_object


class Writing:
    """Changes the records of a lab."""

    def __init__(self, lab: Lab, accounts: Accounts) -> None:
        self.lab = lab
        self.accounts = accounts
        # actions of other clients just after a request was executed: (method, path prefix) → once
        self.after: list[tuple[str, str, Callable[[Json], None]]] = []

    def post_assignment(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        old = not self.lab.settings.generation.self_service
        if words == ("self",):
            if old:
                return page(405, "Method Not Allowed")
            user = self.accounts.user(headers)
            if not self.lab.settings.generation.admin_books and self.lab.users[user][1] == "admin":
                raise no_role()
            return self._request(user, self.accounts.body(headers, body))
        if len(words) == 2 and words[0] == "terminate":
            return page(404, "Not Found") if old else self._terminate(words[1], self.accounts.user(headers), headers)
        if words:
            return page(405, "Method Not Allowed")
        self.accounts.user(headers, admin=True)
        return self._assign(self.accounts.body(headers, body))

    def _assign(self, given: Json) -> Answer:
        for name in ("description", "owner", "ticket", "cloud"):
            if not given.get(name):
                raise logic(f"Missing argument: {name}")
        if self.lab.active_on(given["cloud"]):
            raise logic(f"There is an already active assignment for {given['cloud']}")
        if not isinstance(given.get("wipe", True), bool):
            # the database refuses it, which the server ignores
            return json_answer({"id": None, "cloud": cloud_object(self.lab, given["cloud"]), "active": True})
        record = self.lab.assign(
            given["cloud"],
            given["owner"],
            given["description"],
            ticket=str(given["ticket"]),
            wipe=given.get("wipe", True),
        )
        self._run_after("POST", "/assignments", record)
        return json_answer(assignment_object(self.lab, record))

    def _request(self, user: str, given: Json) -> Answer:
        lab, settings = self.lab, self.lab.settings
        generation = settings.generation
        if not settings.enabled:
            raise logic("Service not enabled", 403)
        owner = str(given.get("owner")) if generation.believes_owner else user.partition("@")[0]
        mine = [each for each in lab.assignments if each["active"] and each["open"] and each["owner"] == owner]
        if len(mine) >= settings.cloud_limit:
            raise logic("Self scheduling limit reached", 403)
        for name in ("description", *(["owner"] if generation.believes_owner else [])):
            if not given.get(name):
                raise logic(f"Missing argument: {name}")
        cloud = self._chosen(given.get("cloud"))
        if "vlan" in given and int(given["vlan"]) not in range(1100, 1110):
            raise logic(f"Vlan not found: {given['vlan']}")
        if generation.needs_own_tickets and not settings.tickets:
            raise ValueError("the ticket is never passed on")
        if not given.get("ticket") and not settings.tickets and generation.ticket_required:
            raise logic("Missing Jira ticket number while automatic ticket creation is disabled")
        if not str(given.get("qinq", 0)).isdecimal():
            raise logic("Failed to commit the assignment")
        record = lab.assign(
            cloud,
            owner,
            f"{generation.prefix}{given['description']}",
            ticket="OPENED-1" if settings.tickets else str(given.get("ticket", "")),
            wipe=true(given.get("wipe")),
            qinq=int(given.get("qinq", 0)),
            vlan=int(given["vlan"]) if "vlan" in given else None,
            ccuser=given.get("cc_user", "").replace(",", " ").split(),
            open=True,
        )
        self._run_after("POST", "/assignments", record)
        return json_answer(assignment_object(self.lab, record), generation.created)

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

    def post_schedule(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        lab, settings = self.lab, self.lab.settings
        if words == ("batch",) and settings.generation.shows_progress:
            return self._batch(headers, body)
        if words:
            return page(405, "Method Not Allowed")
        user = self.accounts.user(headers, admin=not settings.generation.self_service)
        given = self.accounts.body(headers, body)
        for name in ("cloud", "hostname"):
            if not given.get(name):
                raise logic(f"Missing argument: {name}")
        cloud, host = given["cloud"], given["hostname"]
        if cloud not in {each["name"] for each in lab.clouds}:
            raise logic(f"Cloud not found: {cloud}")
        active = lab.active_on(cloud)
        if not active:
            raise logic(f"No active assignment for cloud: {cloud}")
        if not settings.generation.self_service:
            if host not in lab.hosts:
                raise logic(f"Host not found: {host}")
            start, end = (time_of(given[name], "%Y-%m-%d %H:%M") for name in ("start", "end"))
            # nothing is checked: a second row is a second booking
            return json_answer(row_object(self.lab, lab.schedule(active[0], host, start, end)))
        return self._self_schedule(user, active, cloud, host)

    def _batch(self, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Schedule several hosts in one request, for administrators."""
        self.accounts.user(headers, admin=True)
        given = self.accounts.body(headers, body)
        active = self.lab.active_on(given["cloud"])
        if not active:
            raise logic(f"No active assignment for cloud: {given['cloud']}")
        start, end = (time_of(given[name], "%Y-%m-%d %H:%M") for name in ("start", "end"))
        rows = [self.lab.schedule(active[0], host, start, end) for host in given["hostnames"]]
        return json_answer([row_object(self.lab, row) for row in rows], 201)

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
        if lab.model_is_used_up(lab.hosts[host]["model"]):
            # the servers' wording is unknown
            raise logic(f"Model {lab.hosts[host]['model']} has reached its share of self-scheduling")
        start = lab.local()
        end = lab.lease_end(start)
        if end <= start:
            raise logic("Invalid date range for start or end, start must be before end")
        if not lab.free(host, start, end):
            raise logic("Host is not available for the specified date range")
        # the owner of the cloud is not checked
        row = lab.schedule(active[0], host, start, end)
        self._run_after("POST", "/schedules", row)
        return json_answer(row_object(self.lab, row), settings.generation.created)

    def _terminate(self, number: str, user: str, headers: Mapping[str, str]) -> Answer:
        lab, generation = self.lab, self.lab.settings.generation
        record = lab.of(int(number))
        if record is None:
            raise logic(f"Assignment not found: {number}")
        if generation.compares_header:
            # a token, or base64: neither contains an @
            allowed = headers["authorization"].split(" ")[1].partition("@")[0] == record["owner"]
        else:
            allowed = user.partition("@")[0] == record["owner"] or lab.users[user][1] == "admin"
        if not allowed:
            raise logic("You don't have permission to terminate this assignment", 403)
        rows = [row for row in lab.rows if row["assignment"] == record["id"] and lab.running(row)]
        if not rows and not generation.ends_empty:
            raise logic(f"No active schedule for {number}")
        for row in rows:
            row["end"] = lab.local()
        record["active"] = not generation.ends_empty
        return json_answer({"status_code": 200, "message": "Assignment terminated"})

    def patch_schedule(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        self.accounts.user(headers, admin=True)
        given = self.accounts.body(headers, body)
        row = next((each for each in self.lab.rows if each["id"] == int(words[0])), None)
        if row is None:
            raise logic(f"Schedule not found: {words[0]}")
        times = {name: time_of(given[name]) for name in ("start", "end", "build_start", "build_end") if name in given}
        if not times:
            raise logic("Missing start, end, build_start or build_end")
        if "start" in times and "end" in times and times["end"] < times["start"]:
            raise logic("Invalid date range for start or end, start must be before end")
        row.update((name, time) for name, time in times.items() if name in row)
        return json_answer(row_object(self.lab, row))

    def patch_assignment(self, words: tuple[str, ...], headers: Mapping[str, str], body: bytes | None) -> Answer:
        self.accounts.user(headers, admin=True)
        record = self.lab.of(int(words[0]))
        if record is None:
            raise logic(f"Assignment not found: {words[0]}")
        given = self.accounts.body(headers, body)
        for name in given:
            if name not in record and self.lab.settings.generation.shows_progress:
                raise logic(f"{name} is not a valid field.")
        record.update((name, value) for name, value in given.items() if name in record)
        return json_answer(assignment_object(self.lab, record))

    def delete_schedule(self, words: tuple[str, ...], headers: Mapping[str, str], _body: bytes | None) -> Answer:
        self.accounts.user(headers, admin=True)
        row = next((each for each in self.lab.rows if each["id"] == int(words[0])), None)
        if row is None:
            raise logic(f"Schedule not found: {words[0]}")
        self.lab.rows.remove(row)
        return json_answer({"status_code": 200, "message": "Schedule deleted"})

    def _run_after(self, method: str, path: str, record: Json) -> None:
        """Execute another client's request: the server does not serialise requests."""
        for entry in list(self.after):
            if entry[:2] == (method, path):
                self.after.remove(entry)
                entry[2](record)
