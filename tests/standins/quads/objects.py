"""The objects of the stand-in in the servers' format."""

from __future__ import annotations

from tests.standins.quads.answers import http_date
from tests.standins.quads.lab import Json, Lab


def cloud_object(lab: Lab, name: str) -> Json:
    """Return a cloud."""
    record = next(each for each in lab.clouds if each["name"] == name)
    return {**record, "last_redefined": http_date(record["last_redefined"])}


def assignment_object(lab: Lab, record: Json) -> Json:
    """Return an assignment, without a VLAN if it has none."""
    kept = {key: value for key, value in record.items() if key not in ("cloud", "open", "vlan")}
    document = {**kept, "cloud": cloud_object(lab, record["cloud"]), "created_at": http_date(lab.local())}
    document |= {"cloud_id": document["cloud"]["id"], "vlan_id": None if record["vlan"] is None else 1}
    if record["vlan"] is not None:
        document["vlan"] = {"id": 1, "vlan_id": record["vlan"], "ip_free": 10, "gateway": "198.51.100.1",
                        "ip_range": "198.51.100.0/24", "netmask": "255.255.255.0"}  # fmt: skip
    return document if not lab.settings.generation.self_service else {**document, "is_self_schedule": record["open"]}


def host_object(lab: Lab, record: Json) -> Json:
    """Return a host without empty lists."""
    kept = {key: value for key, value in record.items() if key not in ("cloud", "home", "open") and value != []}
    document = {
        **kept,
        "cloud": cloud_object(lab, record["cloud"]),
        "default_cloud": cloud_object(lab, record["home"]),
        "last_build": None,
        "created_at": http_date(lab.local()),
    }
    document |= {"cloud_id": document["cloud"]["id"], "default_cloud_id": document["default_cloud"]["id"]}
    return document if not lab.settings.generation.self_service else {**document, "can_self_schedule": record["open"]}


def row_object(lab: Lab, row: Json) -> Json:
    """Return a row of the schedule."""
    assignment = lab.of(row["assignment"])
    stuck = row["host"] in lab.settings.stuck
    newer = {"move_status": "failed", "move_message": "", "move_error": "IPMI timeout"} if stuck else {}
    return {
        **(newer if lab.settings.generation.shows_progress else {}),
        "id": row["id"],
        "start": http_date(row["start"]),
        "end": http_date(row["end"]),
        "build_start": None,
        "build_end": None,
        "assignment_id": row["assignment"],
        "assignment": assignment_object(lab, assignment) if assignment else None,
        "host": host_object(lab, lab.hosts[row["host"]]),
        "created_at": http_date(row["start"]),
        "host_id": lab.hosts[row["host"]]["id"],
    }
