"""The text of a Lease, and when another run may take it."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease import objects
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lease import (
    LeaseHeldError,
    Silence,
    acquire,
    renew,
)
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import (
    Holder,
    in_order,
    lease_of,
    read_lease,
)
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.run.directory import begin_attempt, hold, release

LEASE = {
    "metadata": {
        "resourceVersion": "273",
        "annotations": {"psap.perf/what": "scale_test", "psap.perf/user": "ada", "psap.perf/host": "bastion"},
    },
    "spec": {
        "holderIdentity": "scale_test-20261123T174317Z-dffc16",
        "leaseDurationSeconds": 60,
        "acquireTime": "2026-11-23T17:43:19.583738Z",
        "renewTime": "2026-11-23T17:44:19.583738Z",
        "leaseTransitions": 3,
    },
}


def test_lease_states_its_holder_and_begin() -> None:
    text = "run scale_test-20261123T174317Z-dffc16 (scale_test) of ada on bastion, since 2026-11-23T17:43:19Z"
    assert str(lease_of(LEASE)) == text


def test_lease_expires_after_its_duration_without_renewal() -> None:
    lease = lease_of(LEASE)
    renewed = datetime.datetime(2026, 11, 23, 17, 44, 19, tzinfo=datetime.UTC)
    assert not lease.expired(renewed + datetime.timedelta(seconds=59))
    assert lease.expired(renewed + datetime.timedelta(seconds=61))


def test_queue_order_is_stable_within_a_second() -> None:
    def place(uid: str, created: str) -> dict[str, object]:
        return {"metadata": {"uid": uid, "creationTimestamp": created}, "spec": {}}

    at = "2026-11-23T17:43:19Z", "2026-11-23T17:43:20Z"
    seen = in_order(map(lease_of, [place("c", at[1]), place("b", at[0]), place("a", at[1])]))
    assert [each.uid for each in seen] == ["b", "a", "c"]


def test_lease_of_another_program_has_expired() -> None:
    lease = lease_of({"metadata": {"name": "psap-perf"}, "spec": {}})
    assert lease.holder.run == ""
    assert lease.expired(datetime.datetime.now(datetime.UTC))


def test_run_is_gone_if_its_local_lock_is_free(tmp_path: Path) -> None:
    here = Holder.here("b", "scale_test", tmp_path / "b")
    former = Holder.here("a", "scale_test", tmp_path / "a")
    assert not former.is_gone(here), "a directory that is not there may be on another file system"
    (tmp_path / "a").mkdir()
    hold(tmp_path / "a")
    begin_attempt(tmp_path / "a", {})
    assert not former.is_gone(here)
    release(tmp_path / "a")
    assert former.is_gone(here)
    assert not replace(former, machine="another").is_gone(here)


RENEWED = datetime.datetime(2026, 11, 23, 17, 44, 19, tzinfo=datetime.UTC)


def seconds_until_it_ended(hour: int, looks: list[float]) -> float | None:
    """Return when, at reads of a Lease without renewals, its holder counts as ended; the reader's clock is ahead."""
    silence, lease = Silence(), lease_of(LEASE)
    ahead = datetime.timedelta(hours=hour)
    for look in looks:
        if silence.ended(lease, look, RENEWED + ahead + datetime.timedelta(seconds=look)):
            return look
    return None


def test_killed_holder_is_succeeded_regardless_of_its_clock() -> None:
    looks = [2.0 * each for each in range(100)]
    assert seconds_until_it_ended(0, looks) == 62
    assert seconds_until_it_ended(-1, looks) == 62
    assert seconds_until_it_ended(1, looks) == 14


def test_server_outage_between_reads_is_not_silence() -> None:
    assert seconds_until_it_ended(1, [0.0, 120.0, 122.0, 124.0]) is None


def test_renewing_holder_is_alive_regardless_of_its_clock() -> None:
    silence, lease = Silence(), lease_of(LEASE)
    for look in range(0, 300, 2):
        renewed = replace(lease, resource_version=str(look // 10))
        assert not silence.ended(renewed, look, RENEWED + datetime.timedelta(hours=1, seconds=look))


WORKFLOW = "https://awx.example.com/#/jobs/workflow/17"
# of a cancelled job of AWX: its container and its run directory are gone
CANCELLED = Holder(
    "scale_test-1", "scale_test", "root", "automation-job-41", "node-1", "/runner/project/runs/1", WORKFLOW
)
CLEANUP = replace(CANCELLED, run="scale_test-2", host="automation-job-42", directory="/runner/project/runs/2")


class OneLease:
    """A cluster with one Lease, and a clock that advances during sleeps."""

    server = "https://cluster"

    def __init__(self) -> None:
        self.passed_s = 0.0
        self.written: dict[str, Any] = {}
        self.renewing: Callable[[], None] = lambda: None
        self._version = 0

    def sleep(self, wait_s: float) -> None:
        self.passed_s += wait_s
        if self.passed_s % 10 == 0:
            self.renewing()

    def now(self) -> datetime.datetime:
        return RENEWED + datetime.timedelta(seconds=self.passed_s)

    def get(self, query: Query) -> dict[str, Any] | None:
        return self.written.get(str(query.name))

    def list(self, query: Query) -> tuple[list[dict[str, Any]], str]:
        return [each for name, each in self.written.items() if name == query.name], ""

    def create(self, manifest: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        metadata = {**manifest["metadata"], "resourceVersion": str(self._version)}
        written = {**manifest, "metadata": metadata}
        self.written[manifest["metadata"]["name"]] = written
        return written

    replace = create


@pytest.fixture(name="one_lease")
def _one_lease(monkeypatch: pytest.MonkeyPatch) -> OneLease:
    made = OneLease()
    monkeypatch.setattr(time, "monotonic", lambda: made.passed_s)
    monkeypatch.setattr(time, "sleep", made.sleep)
    monkeypatch.setattr(objects, "clock", made.now)
    acquire(cast(Cluster, made), CANCELLED, 0, lambda: None)
    return made


def test_next_step_of_a_workflow_takes_over_from_a_cancelled_job(one_lease: OneLease) -> None:
    states: list[str] = []
    cluster = cast(Cluster, one_lease)

    acquire(cluster, CLEANUP, 0, lambda: None, states.append)

    found = read_lease(cluster)
    assert found and found.holder == CLEANUP
    assert 20 < one_lease.passed_s < 40
    assert states == [f"https://cluster is in use by run scale_test-1 (scale_test) of root on automation-job-41, since "
                      f"2026-11-23T17:44:19Z, a step of {WORKFLOW}"]  # fmt: skip


def test_steps_of_a_workflow_that_run_concurrently_exclude_each_other(one_lease: OneLease) -> None:
    cluster = cast(Cluster, one_lease)
    one_lease.renewing = lambda: renew(cluster, CANCELLED)

    with pytest.raises(LeaseHeldError, match="in use by run scale_test-1"):
        acquire(cluster, CLEANUP, 0, lambda: None)

    assert one_lease.passed_s <= 14


@pytest.mark.parametrize("workflow", ["", "https://awx.example.com/#/jobs/workflow/18"])
def test_run_of_another_workflow_is_refused_immediately(one_lease: OneLease, workflow: str) -> None:
    with pytest.raises(LeaseHeldError, match="in use by run scale_test-1"):
        acquire(cast(Cluster, one_lease), replace(CLEANUP, workflow=workflow), 0, lambda: None)

    assert one_lease.passed_s == 0


def test_runs_outside_awx_share_no_workflow() -> None:
    assert not replace(CANCELLED, workflow="").precedes(replace(CLEANUP, workflow=""))
