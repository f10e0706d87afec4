"""Follow the users of a Job until each has ended, and fetch their artifacts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.users.accounts import Outcome, UserState
from ansible_collections.psap.perf.plugins.module_utils.users.objects import UsersJob
from ansible_collections.psap.perf.plugins.module_utils.users.plan import UsersPlan
from ansible_collections.psap.perf.plugins.module_utils.users.result import success_count
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import pass_time

_POLL_S = 0.5
# stopped commands have 10 s to end
_STOP_WITHIN_S = 30.0
# the kubelet of a busy node reports late that the container with the files has started
_FILES_WITHIN_S = 60.0


class UsersFollower:
    """Follows the users; *states* has the last observation, also after an error."""

    def __init__(self, job: UsersJob, plan: UsersPlan, fetch: Callable[[Sequence[UserState]], None]) -> None:
        """Prepare.

        Args:
            fetch: Called with users that have ended and whose artifacts can be fetched.
        """
        self._job = job
        self._plan = plan
        self._fetch = fetch
        self._fetched: set[int] = set()
        self._stopped = False
        self._ended_s: float | None = None
        self.states: list[UserState] = []

    @property
    def unfetched(self) -> list[int]:
        """The users whose files were not fetched."""
        return [state.index for state in self.states if state.index not in self._fetched]

    def follow(self, check: Callable[[], None], show: Callable[[str], None]) -> None:
        """Return when all users have ended.

        Raises:
            WaitTimeoutError: If users were still active after the plan's time; they were stopped.
        """
        deadline = time.monotonic() + self._plan.stagger_s + self._plan.timeout_s
        while True:
            check()
            self._observe(show)
            active = [state for state in self.states if state.ending is None]
            if not active and self._has_all_files():
                return
            if active and time.monotonic() > deadline:
                self._end_late(check, show)
                raise WaitTimeoutError(f"{len(active)} users did not end within {self._plan.timeout_s:g} s")
            if self._plan.abort_on_failure:
                self._stop_after_failure()
            pass_time(_POLL_S, check)

    def _has_all_files(self) -> bool:
        """Return whether no more files can be fetched, or their containers did not start in time."""
        if self._ended_s is None:
            self._ended_s = time.monotonic()
        late = time.monotonic() > self._ended_s + _FILES_WITHIN_S
        return late or not any(
            state.will_hold_artifacts
            for state in self.states
            if state.index not in self._fetched and state.ending and state.ending.outcome is not Outcome.LOST
        )

    def _observe(self, show: Callable[[str], None]) -> None:
        self.states = self._job.states(self._plan.count)
        ready = [state for state in self.states if state.ending and state.holds_artifacts]
        new = [state for state in ready if state.index not in self._fetched]
        if new:
            self._fetch(new)
            self._fetched.update(state.index for state in new)
        ended = sum(state.ending is not None for state in self.states)
        show(f"{ended} of {self._plan.count} users ended, {success_count(self.states)} succeeded")

    def _stop_after_failure(self) -> None:
        """Stop all users if one failed; a user that was killed cannot do this itself."""
        failed = (
            state for state in self.states if state.ending and state.ending.outcome in (Outcome.FAILED, Outcome.LOST)
        )
        first = next(failed, None)
        if first is not None and not self._stopped:
            self._stopped = True
            self._job.stop(f"user {first.index} failed")

    def _end_late(self, check: Callable[[], None], show: Callable[[str], None]) -> None:
        self._job.stop("timeout")
        until = time.monotonic() + _STOP_WITHIN_S
        while time.monotonic() < until and any(state.ending is None for state in self.states):
            pass_time(_POLL_S, check)
            self._observe(show)
