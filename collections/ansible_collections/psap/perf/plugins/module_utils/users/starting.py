"""Start the users of a Job together."""

from __future__ import annotations

import time
from collections.abc import Callable

from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.starting.barrier import Opening, StartBarrier
from ansible_collections.psap.perf.plugins.module_utils.users.objects import UsersJob
from ansible_collections.psap.perf.plugins.module_utils.users.plan import UsersPlan
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import pass_time

_POLL_S = 0.3


def start_users(job: UsersJob, plan: UsersPlan, check: Callable[[], None], show: Callable[[str], None]) -> Opening:
    """Wait until all users are ready or lost, at most the plan's time, and set the instant of the start.

    Args:
        check: Raises if the user interrupts the run.
        show: Called with the progress.

    Returns:
        The opening, with the instant by the cluster's clock.

    Raises:
        WaitTimeoutError: If no user became ready.
    """
    barrier = StartBarrier(plan.start(), time.monotonic())
    while (opening := barrier.decide(time.monotonic())) is None:
        check()
        for state in job.states(plan.count):
            if state.ready:
                barrier.report_ready(state.index)
            elif state.ending:
                barrier.report_lost(state.index, state.ending.cause or "ended")
        show(f"{plan.count - len(barrier.missing) - len(barrier.lost)} of {plan.count} users ready")
        if barrier.missing:
            pass_time(_POLL_S, check)
    if not opening.ready:
        causes = sorted(set(opening.lost.values())) or ["their pods did not report"]
        when = f"was ready within {plan.ready_within_s:g} s" if opening.late else "became ready"
        raise WaitTimeoutError(f"no user of Job {plan.job} {when}: {', '.join(causes)}")
    at_s = job.clock.cluster_time(time.time()) + plan.start().lead_s
    job.set_go(at_s)
    return Opening(at_s, opening.ready, opening.lost, opening.late)
