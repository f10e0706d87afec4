"""The routes of the stand-in: bodies, codes and content types as the servers answer them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC
from email.utils import format_datetime
from urllib.parse import parse_qsl, urlsplit

from tests.standins.quads.accounts import Accounts
from tests.standins.quads.answers import Answer, Refusal, json_answer, page
from tests.standins.quads.lab import Lab
from tests.standins.quads.reading import Reading
from tests.standins.quads.writing import Writing

INVENTORY = "_ocpinv.json"


class StandIn:
    """Answers requests from the records of a lab."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.accounts = Accounts(lab)
        self.reading = Reading(lab)
        self.writing = Writing(lab, self.accounts)
        self.after = self.writing.after

    @property
    def date(self) -> str:
        """The header ``Date``, which is correct."""
        return format_datetime(self.lab.now().astimezone(UTC).replace(microsecond=0), usegmt=True)

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Return the response to a request."""
        self.lab.work()
        parts = urlsplit(target)
        given = {name.lower(): value for name, value in headers.items()}
        path = parts.path.rstrip("/")
        at = path.find("/api/v3")
        if at < 0:
            return self._installer_inventory(path)
        words = tuple(path[at + len("/api/v3") :].strip("/").split("/"))
        query = parse_qsl(parts.query, keep_blank_values=True)
        try:
            return self._route(method, words, query, given, body)
        except Refusal as refusal:
            return refusal.answer
        except (ValueError, TypeError, KeyError, AttributeError):
            return page(500, "Internal Server Error")

    def _installer_inventory(self, path: str) -> Answer:
        """Return the file for installers about the hosts in the cloud, with passwords like the real one."""
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
            "GET version": lambda *_: json_answer(f"QUADS version {self.lab.settings.generation.version}"),
            "GET available": self.reading.available,
            "GET hosts": self.reading.hosts,
            "GET clouds": self.reading.clouds,
            "GET assignments": self.reading.assignments,
            "GET schedules": self.reading.schedules,
            "GET moves": self.reading.moves,
            "POST register": self.accounts.register,
            "POST login": self.accounts.login,
            "POST logout": self.accounts.logout,
            "DELETE schedules": self.writing.delete_schedule,
            "POST assignments": self.writing.post_assignment,
            "POST schedules": self.writing.post_schedule,
            "PATCH schedules": self.writing.patch_schedule,
            "PATCH assignments": self.writing.patch_assignment,
        }
        if name not in routes:
            known = {each.partition(" ")[2] for each in routes}
            return page(405, "Method Not Allowed") if words[0] in known else page(404, "Not Found")
        if method == "GET":
            return routes[name](words[1:], query)
        return routes[name](words[1:], headers, body)
