"""The filters of hosts, with the servers' bugs."""

from __future__ import annotations

import re
from typing import Any

from tests.standins.quads.answers import logic, true
from tests.standins.quads.lab import Json, Lab

_COLUMNS = {"name", "model", "host_type", "cloud", "can_self_schedule"}
LISTS = {
    "disks": {"disk_type", "size_gb", "count"},
    "interfaces": {"name", "vendor", "speed", "pxe_boot", "mac_address"},
    "memory": {"size_gb", "handle"},
    "processors": {"vendor", "product", "cores", "threads"},
}
_SUMS = {("disks", "count"), ("memory", "size_gb"), ("processors", "cores"), ("processors", "threads")}


def filtered(lab: Lab, query: list[tuple[str, str]]) -> list[Json]:
    """Return the hosts that match a query's filters: an operator also applies to all filters after it."""
    seen: set[str] = set()
    operator = "eq"
    tests: list[tuple[str, str, str]] = []
    for key, value in query:
        field, _mark, suffix = key.partition("__")
        if field in seen:
            continue
        seen.add(field)
        _check_field(lab, field)
        if suffix:
            if suffix == "in":
                raise ValueError("a list of values is not supported")
            if suffix not in ("ne", "lt", "lte", "gt", "gte", "like", "ilike"):
                raise logic(f"{suffix} is not a valid operator")
            # it also applies to the filters after it
            operator = suffix
        tests.append((field, operator, value))
    hosts = list(lab.hosts.values())
    return [host for host in hosts if all(_holds(lab, host, *test) for test in tests)]


def _check_field(lab: Lab, field: str) -> None:
    whole, _dot, part = field.partition(".")
    if part and whole in LISTS:
        if part not in LISTS[whole]:
            raise ValueError(field)
    elif whole not in _COLUMNS or (whole == "can_self_schedule" and not lab.settings.generation.self_service):
        raise logic(f"{field} is not a valid field.")


def _holds(lab: Lab, host: Json, field: str, operator: str, text: str) -> bool:
    whole, _dot, part = field.partition(".")
    if whole == "can_self_schedule":
        # 1 counts as false, and therefore selects exactly the other hosts
        return bool(host["open"] is true(text))
    if whole == "cloud":
        rows = [row for row in lab.rows if row["host"] == host["name"] and lab.running(row)]
        return any((lab.of(row["assignment"]) or {}).get("cloud") == text for row in rows)
    if not part:
        return _compare(lab, str(host[whole]), operator, text)
    if (whole, part) in _SUMS and lab.settings.generation.self_service:
        return _compare(lab, sum(row[part] for row in host[whole]), operator, text)
    return any(_compare(lab, row[part], operator, text) for row in host[whole])


def _compare(lab: Lab, value: Any, operator: str, text: str) -> bool:
    if operator in ("like", "ilike"):
        pattern = re.escape(text).replace("%", ".*")
        return bool(re.fullmatch(pattern, str(value), re.IGNORECASE if operator == "ilike" else 0))
    other = type(value)(text)
    old = not lab.settings.generation.self_service
    return bool(
        {
            "eq": value == other, "ne": value != other, "lt": value < other, "gt": value > other,
            "lte": value < other if old else value <= other, "gte": value > other if old else value >= other,
        }[operator]
    )  # fmt: skip
