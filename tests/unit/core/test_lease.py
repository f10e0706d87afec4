"""What a Lease says, and when another run may take it."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.cluster.lease import Silence
from ansible_collections.psap.perf.plugins.module_utils.cluster.lease_objects import Holder, in_order, lease_of
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


def test_a_lease_reads_as_who_has_it_since_when() -> None:
    said = "run scale_test-20261123T174317Z-dffc16 (scale_test) of ada on bastion, since 2026-11-23T17:43:19Z"
    assert str(lease_of(LEASE)) == said


def test_a_lease_expires_when_it_was_not_renewed_for_its_duration() -> None:
    lease = lease_of(LEASE)
    renewed = datetime.datetime(2026, 11, 23, 17, 44, 19, tzinfo=datetime.UTC)
    assert not lease.expired(renewed + datetime.timedelta(seconds=59))
    assert lease.expired(renewed + datetime.timedelta(seconds=61))


def test_a_queue_has_one_order_for_all_who_read_it_within_a_second_too() -> None:
    def place(uid: str, created: str) -> dict[str, object]:
        return {"metadata": {"uid": uid, "creationTimestamp": created}, "spec": {}}

    at = "2026-11-23T17:43:19Z", "2026-11-23T17:43:20Z"
    seen = in_order(map(lease_of, [place("c", at[1]), place("b", at[0]), place("a", at[1])]))
    assert [each.uid for each in seen] == ["b", "a", "c"]


def test_one_that_another_program_wrote_has_expired_long_ago() -> None:
    lease = lease_of({"metadata": {"name": "psap-perf"}, "spec": {}})
    assert lease.holder.run == ""
    assert lease.expired(datetime.datetime.now(datetime.UTC))


def test_a_run_is_gone_when_this_machine_sees_its_lock_free(tmp_path: Path) -> None:
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
    """When, of *looks* at a Lease that nobody renews, its holder is over; the reader's clock is ahead by *hour*."""
    silence, lease = Silence(), lease_of(LEASE)
    ahead = datetime.timedelta(hours=hour)
    for look in looks:
        if silence.ended(lease, look, RENEWED + ahead + datetime.timedelta(seconds=look)):
            return look
    return None


def test_a_killed_holder_is_succeeded_after_the_duration_whatever_its_clock_said() -> None:
    looks = [2.0 * each for each in range(100)]
    assert seconds_until_it_ended(0, looks) == 62
    assert seconds_until_it_ended(-1, looks) == 62
    assert seconds_until_it_ended(1, looks) == 14


def test_a_server_that_was_away_between_two_looks_is_no_silence_of_the_holder() -> None:
    assert seconds_until_it_ended(1, [0.0, 120.0, 122.0, 124.0]) is None


def test_a_holder_that_renews_is_not_over_whatever_its_clock_says() -> None:
    silence, lease = Silence(), lease_of(LEASE)
    for look in range(0, 300, 2):
        renewed = replace(lease, resource_version=str(look // 10))
        assert not silence.ended(renewed, look, RENEWED + datetime.timedelta(hours=1, seconds=look))
