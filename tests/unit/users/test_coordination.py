"""Start and end of users, with a Job that follows a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.users import following, starting
from ansible_collections.psap.perf.plugins.module_utils.users.accounts import Ending, Outcome, UserState
from ansible_collections.psap.perf.plugins.module_utils.users.clocks import ClusterClock
from ansible_collections.psap.perf.plugins.module_utils.users.following import UsersFollower
from ansible_collections.psap.perf.plugins.module_utils.users.objects import UsersJob
from ansible_collections.psap.perf.plugins.module_utils.users.starting import start_users

from .objects import KEEPING, RUNNING, plan, pod, report

READY = {"ready_at_s": 1.0}
Script = Callable[[int], Sequence[UserState]]


class ScriptedJob:
    """States by the number of the call."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._calls = 0
        self.clock = ClusterClock()
        self.go: float | None = None
        self.stopped = ""

    def states(self, count: int) -> list[UserState]:
        """Return the next states."""
        self._calls += 1
        return list(self._script(self._calls))

    def set_go(self, at_s: float) -> None:
        """Record the start."""
        self.go = at_s

    def stop(self, reason: str) -> None:
        """Record the stop."""
        self.stopped = reason


def job(script: Script) -> UsersJob:
    """Return a job with a script."""
    return cast(UsersJob, ScriptedJob(script))


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (starting, following):
        monkeypatch.setattr(module, "_POLL_S", 0.001)


def nothing(*_words: str) -> None:
    """Check or show nothing."""


def ended(index: int, outcome: Outcome, cause: str | None = None) -> UserState:
    """Return the state of a user that ended, whose files can be fetched."""
    return UserState(index, report(), pod(index, RUNNING, KEEPING), Ending(outcome, cause))


def lost(index: int, cause: str) -> UserState:
    """Return the state of a user that was never ready."""
    return UserState(index, {}, None, Ending(Outcome.LOST, cause))


def test_start_waits_for_ready_users_and_counts_lost_ones() -> None:
    def script(call: int) -> list[UserState]:
        last = UserState(1, READY if call > 2 else {}, None, None)
        return [UserState(0, READY, None, None), last, lost(2, "Evicted")]

    found = job(script)
    opening = start_users(found, plan(), nothing, nothing)
    assert (opening.ready, opening.lost, opening.late) == ((0, 1), {2: "Evicted"}, ())
    assert cast(ScriptedJob, found).go == opening.at_s


def test_start_fails_without_a_ready_user() -> None:
    unpulled = job(lambda _call: [lost(index, "ErrImagePull") for index in range(3)])
    with pytest.raises(WaitTimeoutError, match="no user of Job users became ready: ErrImagePull"):
        start_users(unpulled, plan(), nothing, nothing)


def test_each_user_is_fetched_once_when_it_has_ended() -> None:
    running = UserState(1, report(), pod(1, RUNNING, KEEPING), None)

    def script(call: int) -> list[UserState]:
        return [ended(0, Outcome.SUCCESS), running if call < 3 else ended(1, Outcome.FAILED, "exit code 3")]

    fetched: list[int] = []
    follower = UsersFollower(job(script), plan(count=2), lambda states: fetched.extend(s.index for s in states))
    follower.follow(nothing, nothing)
    assert fetched == [0, 1]
    assert [state.ending.outcome for state in follower.states if state.ending] == [Outcome.SUCCESS, Outcome.FAILED]


def test_files_are_awaited_until_their_container_runs() -> None:
    success = Ending(Outcome.SUCCESS, None, 0)

    def script(call: int) -> list[UserState]:
        statuses = (RUNNING, KEEPING) if call > 2 else (RUNNING,)
        return [UserState(0, report(), pod(0, *statuses), success), lost(1, "pod deleted")]

    fetched: list[int] = []
    follower = UsersFollower(job(script), plan(count=2), lambda states: fetched.extend(s.index for s in states))
    follower.follow(nothing, nothing)
    assert (fetched, follower.unfetched) == ([0], [1])


def test_files_are_not_awaited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_FILES_WITHIN_S", 0.01)
    ended_only = UserState(0, report(), pod(0, RUNNING), Ending(Outcome.SUCCESS, None, 0))
    follower = UsersFollower(job(lambda _call: [ended_only]), plan(count=1), lambda _states: None)
    follower.follow(nothing, nothing)
    assert follower.unfetched == [0]


def test_killed_user_stops_the_others_if_asked() -> None:
    def script(call: int) -> list[UserState]:
        second = UserState(1, report(), None, None) if call < 3 else ended(1, Outcome.STOPPED, "stopped")
        return [ended(0, Outcome.FAILED, "OOMKilled"), second]

    found = job(script)
    UsersFollower(found, plan(count=2, abort_on_failure=True), lambda _states: None).follow(nothing, nothing)
    assert cast(ScriptedJob, found).stopped == "user 0 failed"


def test_users_are_stopped_after_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_STOP_WITHIN_S", 0.01)
    found = job(lambda _call: [UserState(0, report(), None, None)])
    follower = UsersFollower(found, plan(count=1, timeout_s=0.0), lambda _states: None)
    with pytest.raises(WaitTimeoutError, match="1 users did not end within 0 s"):
        follower.follow(nothing, nothing)
    assert cast(ScriptedJob, found).stopped == "timeout"


def test_smallest_difference_of_clocks_counts() -> None:
    clock = ClusterClock()
    assert clock.cluster_time(100.0) == 100.0
    clock.observe(received_s=100.0, sent_s=90.0)
    clock.observe(received_s=110.0, sent_s=104.5)
    assert clock.cluster_time(120.0) == 114.5
