"""The reading routes of the stand-in, which need no login."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from tests.standins.quads.answers import Answer, json_answer, logic, page, time_of, true
from tests.standins.quads.filters import LISTS, filtered
from tests.standins.quads.lab import Json, Lab
from tests.standins.quads.objects import assignment_object, cloud_object, host_object, row_object


class Reading:
    """Answers from the records of a lab."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def available(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
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
                times[name] = time_of(text)
        start, end = times["start"], times["end"]
        window = (start, max(end, start + timedelta(minutes=1)))
        return window, [item for item in query if item[0] not in times]

    def hosts(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        if not words:
            for key, value in query:
                if key == "cloud":
                    self._known_cloud(value)
            return json_answer([host_object(self.lab, each) for each in filtered(self.lab, query)])
        if words[0] not in self.lab.hosts:
            raise logic(f"Host not found: {words[0]}")
        record = self.lab.hosts[words[0]]
        if not words[1:]:
            return json_answer(host_object(self.lab, record))
        return json_answer(record[words[1]]) if words[1] in LISTS else page(404, "Not Found")

    def _known_cloud(self, name: str) -> None:
        if name not in {each["name"] for each in self.lab.clouds}:
            raise logic(f"Cloud not found: {name}")

    def clouds(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        if words[:1] == ("summary",):
            return json_answer([self._summary(each["name"]) for each in self.lab.clouds])
        clouds = self.lab.free_clouds() if words[:1] == ("free",) else self.lab.clouds
        for key, value in query:
            if key == "name":
                self._known_cloud(value)
                clouds = [each for each in clouds if each["name"] == value]
        return json_answer([cloud_object(self.lab, each["name"]) for each in clouds])

    def _summary(self, name: str) -> Json:
        active = self.lab.active_on(name)
        rows = [row for row in self.lab.rows if active and row["assignment"] == active[0]["id"]]
        keys = {"description": "", "owner": "", "ticket": "", "ccuser": "", "provisioned": False, "validated": False}
        values = {key: active[0][key] if active else idle for key, idle in keys.items()}
        return {"name": name, "count": sum(map(self.lab.running, rows)), **values}

    def assignments(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        lab = self.lab
        if words[:1] == ("active",):
            self._known_cloud(words[1])
            found = lab.active_on(words[1])
            return json_answer(assignment_object(self.lab, found[0]) if found else {})
        if words:
            if lab.settings.generation.shows_progress and not words[0].isdecimal():
                raise logic("Invalid assignment id")
            record = lab.of(int(words[0]))
            if record is None:
                raise logic(f"Assignment not found: {words[0]}")
            return json_answer(assignment_object(self.lab, record))
        fields = {"active": "active", "owner": "owner"} | (
            {} if not lab.settings.generation.self_service else {"is_self_schedule": "open"}
        )
        for key, _value in query:
            if key not in fields:
                raise logic(f"{key} is not a valid field.")
        found = [each for each in lab.assignments if all(self._is(each[fields[key]], value) for key, value in query)]
        return json_answer([assignment_object(self.lab, each) for each in found])

    @staticmethod
    def _is(value: Any, text: str) -> bool:
        return value is true(text) if isinstance(value, bool) else str(value) == text

    def schedules(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        lab, given = self.lab, dict(query)
        rows = lab.rows
        if words == ("stats", "build_delta") and lab.settings.generation.shows_progress:
            return json_answer(lab.settings.validation_s)
        if words[:1] == ("future",):
            # OLD: every row that has not ended
            time = "start" if lab.settings.generation.self_service else "end"
            return json_answer([row_object(lab, row) for row in rows if row[time] > lab.local()])
        if words[:1] == ("current",):
            return self._current(given)
        if words:
            found = [row for row in rows if row["id"] == int(words[0])]
            if not found:
                raise logic(f"Schedule not found: {words[0]}")
            return json_answer(row_object(lab, found[0]))
        for key in given:
            if key not in ("assignment_id", "host"):
                raise logic(f"{key} is not a valid field.")
        if "host" in given and given["host"] not in lab.hosts:
            raise logic(f"Host not found: {given['host']}")
        rows = [row for row in rows if given.get("host") in (None, row["host"])]
        rows = [row for row in rows if given.get("assignment_id") in (None, str(row["assignment"]))]
        return json_answer([row_object(self.lab, row) for row in rows])

    def _current(self, given: dict[str, str]) -> Answer:
        lab = self.lab
        # a date in another format is unexpected, and ends with a 500
        at = datetime.strptime(given["date"], "%Y-%m-%dT%H:%M") if "date" in given else lab.local()
        rows = [row for row in lab.rows if row["start"] <= at < row["end"]]
        # an unknown name has no effect
        if given.get("host") in lab.hosts:
            rows = [row for row in rows if row["host"] == given["host"]]
        if given.get("cloud") in {each["name"] for each in lab.clouds}:
            rows = [row for row in rows if (lab.of(row["assignment"]) or {})["cloud"] == given["cloud"]]
        return json_answer([row_object(lab, row) for row in rows])

    def moves(self, words: tuple[str, ...], query: list[tuple[str, str]]) -> Answer:
        if not words:
            return json_answer(self.lab.moves())
        if not self.lab.settings.generation.shows_progress:
            return page(404, "Not Found")
        stuck = self.lab.settings.stuck
        return json_answer([
            {"host": each["host"], "status": "failed" if each["host"] in stuck else "provisioning",
             "message": "", "error_message": "IPMI timeout" if each["host"] in stuck else None}
            for each in self.lab.moves()
            if words[1:2] in ((), (each["host"],)) and dict(query).get("cloud") in (None, each["new"])
        ])  # fmt: skip
