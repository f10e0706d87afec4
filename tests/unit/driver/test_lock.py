"""`perfdrv lock`: its output about the Lease and its queue, and its questions before a deletion."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from perfdrv.ansible.single_task import TaskError
from perfdrv.commands import lock
from perfdrv.errors import UsageError
from perfdrv.project import Project

from tests.unit.driver.conftest import Perfdrv


def lease(run: str, age_s: float = 0.0, name: str = "psap-perf") -> dict[str, Any]:
    """Return a Lease that its holder renewed so long ago."""
    fields = {"what": "scale_test", "user": "ada", "host": "bastion", "machine": "m", "directory": f"/runs/{run}"}
    renewed = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=age_s)
    return {
        "metadata": {
            "name": name,
            "uid": run,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {f"psap.perf/{key}": value for key, value in fields.items()},
        },
        "spec": {
            "holderIdentity": run,
            "acquireTime": "2026-01-01T00:00:00.000000Z",
            "renewTime": renewed.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "leaseDurationSeconds": 60,
        },
    }


class Leases:
    """The results of the verbs get and delete for a cluster with these Leases."""

    def __init__(self) -> None:
        self.held: list[dict[str, Any]] = []
        self.queue: list[dict[str, Any]] = []
        self.deleted: list[Mapping[str, Any]] = []

    def run_task(
        self, _: Project, site: Path | None, verb: str, arguments: Mapping[str, Any], host: str
    ) -> dict[str, Any]:
        """Replace Ansible's process."""
        assert (site, host) == (None, "sutest")
        if verb == "delete":
            self.deleted.append(arguments)
            return {}
        return {"objects": [*self.held, *self.queue]}


@pytest.fixture
def leases(monkeypatch: pytest.MonkeyPatch) -> Leases:
    found = Leases()
    monkeypatch.setattr(lock, "run_task", found.run_task)
    return found


def test_free_cluster_is_reported_as_free(leases: Leases, perfdrv: Perfdrv) -> None:
    assert perfdrv("lock", "status").output == "no run changes the cluster\n"
    assert json.loads(perfdrv("lock", "status", "--json").output) == {"held": False, "waiting": [], "lock": None}
    assert perfdrv("lock", "break", "--yes").output == "no run changes the cluster\n"
    assert leases.deleted == []


def test_holder_and_queue_are_shown(leases: Leases, perfdrv: Perfdrv) -> None:
    leases.held, leases.queue = [lease("run-a")], [lease("run-b", 3600.0, "b"), lease("run-c", name="c")]
    shown = perfdrv("lock", "status").output
    assert "in use by run run-a (scale_test) of ada on bastion" in shown
    assert "directory /runs/run-a on bastion" in shown
    queue = [line.partition(", since")[0] for line in shown.splitlines() if line.startswith("queue")]
    assert queue == [
        f"queue {number}: run run-{name} (scale_test) of ada on bastion" for number, name in ((1, "b"), (2, "c"))
    ]
    assert [line for line in shown.splitlines() if "expired" in line] == [
        "queue 1: run run-b (scale_test) of ada on bastion, since 2026-01-01T00:00:00Z (expired)"
    ]
    document = json.loads(perfdrv("lock", "status", "--json").output)
    assert (document["run"], document["expired"]) == ("run-a", False)
    assert [(each["run"], each["expired"]) for each in document["waiting"]] == [("run-b", True), ("run-c", False)]


def test_lease_without_renewal_has_expired(leases: Leases, perfdrv: Perfdrv) -> None:
    leases.held = [lease("run-a", 3600.0)]
    assert " (expired)\n" in perfdrv("lock", "status").output


def test_owner_lock_is_shown_and_can_be_broken_alone(leases: Leases, perfdrv: Perfdrv) -> None:
    leases.held = [lease("run-a"), lease("team-b", name="psap-perf-lock")]
    assert "locked for " in perfdrv("lock", "status").output
    assert json.loads(perfdrv("lock", "status", "--json").output)["lock"]["owner"] == "team-b"
    assert "run-a" not in perfdrv("lock", "break", "--only", "lock", "--yes").output
    assert [deleted["name"] for deleted in leases.deleted] == [["psap-perf-lock"]]


def test_cluster_is_taken_only_from_the_named_holder_with_consent(leases: Leases, perfdrv: Perfdrv) -> None:
    leases.held = [lease("run-a")]
    refused = perfdrv("lock", "break").exception
    assert isinstance(refused, UsageError)
    assert str(refused).startswith("the cluster is in use by run run-a")
    assert str(refused).endswith("; no terminal to confirm on: add --yes to take it")
    assert leases.deleted == []
    assert "took the cluster from run run-a" in perfdrv("lock", "break", "--yes").output
    assert leases.deleted == [{"kinds": [{"kind": "Lease"}], "name": ["psap-perf"], "namespace": ["default"]}]


def test_unreachable_cluster_is_an_error(perfdrv: Perfdrv, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: Any) -> dict[str, Any]:
        raise TaskError("no route to host", 3)

    monkeypatch.setattr(lock, "run_task", unreachable)
    failed = perfdrv("lock", "status").exception
    assert isinstance(failed, TaskError)
    assert failed.exit_code == 3
