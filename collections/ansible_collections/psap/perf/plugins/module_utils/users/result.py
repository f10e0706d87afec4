"""The result of users, and whether the command succeeds."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.users.accounts import Ending, Outcome, UserState
from ansible_collections.psap.perf.plugins.module_utils.users.document import UserResult, UsersResult, UserStep
from ansible_collections.psap.perf.plugins.module_utils.users.plan import UsersPlan

_UNFINISHED = Ending(Outcome.STOPPED, "interrupted")
_CAUSES_SHOWN = 5


def users_result(
    plan: UsersPlan,
    states: Sequence[UserState],
    go_at_s: float | None,
    artifacts: Mapping[int, str],
    lab: Mapping[str, Any] | None,
) -> UsersResult:
    """Return the result.

    Args:
        go_at_s: The start of the first batch; None if there was none.
        artifacts: The folder of each user's files, relative to the document.
        lab: The lab's description; None for any other cluster.
    """
    return UsersResult(
        command=shlex.join(plan.command),
        user_count=plan.count,
        batch_size=plan.batch_size,
        batch_delay_s=plan.batch_delay_s,
        barrier_timeout_s=plan.ready_within_s,
        go_at_s=go_at_s,
        users=tuple(_user(plan, state, artifacts.get(state.index)) for state in states),
        lab=lab,
    )


def _user(plan: UsersPlan, state: UserState, artifacts: str | None) -> UserResult:
    user, report, ending = plan.user(state.index), state.report, state.ending or _UNFINISHED
    pod = state.pod or {}
    return UserResult(
        index=user.index,
        name=user.name,
        outcome=ending.outcome.value,
        namespace=user.namespace,
        seed=user.seed,
        pod=(pod.get("metadata") or {}).get("name") or report.get("pod"),
        node=(pod.get("spec") or {}).get("nodeName") or report.get("node"),
        setup_at_s=_milliseconds(report.get("setup_at_s")),
        ready_at_s=_milliseconds(report.get("ready_at_s")),
        launch_at_s=_milliseconds(report.get("launch_at_s")),
        end_at_s=_milliseconds(report.get("end_at_s")),
        exit_code=ending.exit_code,
        cause=ending.cause,
        artifacts=artifacts,
        steps=tuple(
            UserStep(
                name=step["name"],
                start_s=round(step["start_s"], 3),
                end_s=_milliseconds(step["end_s"]),
                failed=step["failed"],
            )
            for step in report.get("steps", [])
        ),
    )


def _milliseconds(at_s: float | None) -> float | None:
    return None if at_s is None else round(at_s, 3)


def success_count(states: Sequence[UserState]) -> int:
    """Return how many users succeeded."""
    return sum(state.ending is not None and state.ending.outcome is Outcome.SUCCESS for state in states)


def failure(plan: UsersPlan, states: Sequence[UserState]) -> str:
    """Return why the users count as failed; empty if enough of them succeeded."""
    count = success_count(states)
    if count == plan.count or (count and not plan.need_all_success):
        return ""
    endings = [state.ending or _UNFINISHED for state in states]
    causes = Counter(f"{ending.outcome}: {ending.cause}" for ending in endings if ending.outcome is not Outcome.SUCCESS)
    shown = [f"{number} {cause}" for cause, number in causes.most_common(_CAUSES_SHOWN)]
    more = [f"{len(causes) - _CAUSES_SHOWN} more causes"] if len(causes) > _CAUSES_SHOWN else []
    return f"{count} of {plan.count} users succeeded; {', '.join(shown + more)}"
