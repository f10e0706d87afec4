"""Wait until objects have reached a state, and end early if they cannot reach it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source, observe
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Predicate, Verdict

# Longer than a restart of an API server; after that, the wait fails.
_PATIENCE_WITH_ERRORS_S = 30.0
_EXPLANATION_INTERVAL_S = 1.0
_EXPLAINED_OBJECTS = 10


@dataclass(frozen=True, slots=True)
class Goal:
    """The awaited state.

    The last four are functions that read other objects and return a reason, or "".

    Attributes:
        states: Predicates that an object must all satisfy.
        count: How many objects must satisfy them; None for all existing ones, at least one.
        absent: Wait until no object is left.
        give_up_on: Reasons of containers or conditions that end the wait immediately.
        patience_s: How long an object may be hopeless before the wait ends.
        pending: Why an object that satisfies the predicates is not finished; also called after a timeout.
        late: Why an object has not reached the state; called after a timeout.
        surrender: Why an object can never reach the state; called repeatedly.
        blocked: Why no object exists; called repeatedly.
    """

    query: Query
    described: str
    states: tuple[Predicate, ...]
    timeout_s: float
    count: int | None = None
    absent: bool = False
    give_up_on: tuple[str, ...] = ()
    patience_s: float = 0.0
    pending: Callable[[Source, Manifest], str] | None = None
    late: Callable[[Source, Manifest], str] | None = None
    surrender: Callable[[Source, Manifest], str] | None = None
    blocked: Callable[[Source], str] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a wait."""

    reached: int
    seen: int
    note: str
    hopeless: str = ""
    done: bool = False
    objects: tuple[Manifest, ...] = field(default=(), repr=False)


class NotReachedError(WaitTimeoutError):
    """The state was not reached; ``result`` holds the last observed objects."""

    def __init__(self, message: str, objects: tuple[Manifest, ...]) -> None:
        super().__init__(message)
        self.result = {"objects": list(objects)}


def judge(goal: Goal, objects: Mapping[str, Manifest]) -> Progress:
    """Return the progress of *objects* towards *goal*."""
    items = tuple(objects.values())
    if goal.absent:
        names = ", ".join(item["metadata"]["name"] for item in items[:3])
        return Progress(0, len(items), f"{len(items)} left: {names}", done=not items, objects=items)
    verdicts = [(item, _verdict(goal, item)) for item in items]
    reached = sum(verdict.reached for _item, verdict in verdicts)
    unreached = [(item, verdict) for item, verdict in verdicts if not verdict.reached]
    note = f"{unreached[0][0]['metadata']['name']}: {unreached[0][1].note}" if unreached else "none there yet"
    needed = goal.count if goal.count is not None else max(len(items), 1)
    given_up = next(
        (f"{item['metadata']['name']}: {verdict.note}" for item, verdict in unreached if verdict.hopeless), ""
    )
    return Progress(reached, len(items), note, given_up, reached >= needed, items)


def _verdict(goal: Goal, item: Manifest) -> Verdict:
    for state in goal.states:
        verdict = state(item)
        if not verdict.reached:
            given_up = next((reason for reason in goal.give_up_on if reason in _reasons(item)), None)
            return Verdict(False, given_up, hopeless=True) if given_up else verdict
    return Verdict(True)


def _reasons(item: Manifest) -> set[str]:
    status = item.get("status", {})
    entries = [*(status.get("containerStatuses") or []), *(status.get("initContainerStatuses") or [])]
    waiting = {(entry.get("state", {}).get("waiting") or {}).get("reason") for entry in entries}
    conditions = {entry.get("reason") for entry in status.get("conditions") or []}
    return {reason for reason in waiting | conditions | {status.get("reason")} if reason}


def _first_reason(
    source: Source, explain: Callable[[Source, Manifest], str] | None, progress: Progress, silence: str = ""
) -> str:
    """Return the first reason that *explain* returns for the objects; *silence* if the cluster does not answer."""
    try:
        for item in progress.objects[:_EXPLAINED_OBJECTS] if explain else ():
            reason = explain(source, item) if explain else ""
            if reason:
                return f"{item['metadata']['name']}: {reason}"
    except ClusterError:  # the wait itself decides how long it waits for a silent cluster
        return silence
    return ""


def _stuck(source: Source, goal: Goal, progress: Progress) -> str:
    """Return why the state can never be reached, by other objects."""
    try:
        blocked = goal.blocked(source) if goal.blocked and not progress.objects else ""
    except ClusterError:
        return ""
    return blocked or _first_reason(source, goal.surrender, progress)


def _confirmed(source: Source, goal: Goal, progress: Progress) -> Progress:
    """Return *progress*, which is not done while an object is pending."""
    if not progress.done:
        return progress
    note = _first_reason(source, goal.pending, progress, "the cluster does not answer")
    return replace(progress, note=note, done=False) if note else progress


def _late(source: Source, goal: Goal, progress: Progress) -> str:
    """Return why the state was not reached in time."""
    note = progress.note
    for explain in (goal.pending, goal.late):
        found = _first_reason(source, explain, progress)
        note = f"{note}; {found}" if found and found not in note else note
    return note


def wait_for(source: Source, goal: Goal, check: Callable[[], None], report: Callable[[Progress], None]) -> Progress:
    """Wait for *goal*, and return the last progress.

    Args:
        check: Raises if the user interrupts the run.
        report: Called with each progress.

    Raises:
        NotReachedError: If the time is over, or the state can never be reached.
        ClusterError: If the cluster does not answer for a while.
    """
    deadline = time.monotonic() + goal.timeout_s
    answered = explained = hoped = time.monotonic()
    progress, stuck = Progress(0, 0, "nothing observed yet"), ""
    for seen in observe(source, goal.query, lambda: False):
        check()
        if seen is None:
            continue
        if isinstance(seen, ClusterError):
            if time.monotonic() - answered > min(_PATIENCE_WITH_ERRORS_S, goal.timeout_s):
                raise seen
            continue
        answered = time.monotonic()
        progress = _confirmed(source, goal, judge(goal, seen))
        report(progress)
        if progress.done:
            return progress
        if time.monotonic() - explained >= _EXPLANATION_INTERVAL_S:
            stuck = _stuck(source, goal, progress)
            explained = time.monotonic()
        hopeless = progress.hopeless or stuck
        if not hopeless:
            hoped = time.monotonic()
        elif time.monotonic() - hoped >= goal.patience_s:
            raise NotReachedError(f"{goal.described} will not be: {hopeless}", progress.objects)
        if time.monotonic() >= deadline:
            break
    within = f" within {goal.timeout_s:g} s" if goal.timeout_s else ""
    far = f"{progress.reached} of {progress.seen} there; {_late(source, goal, progress)}"
    raise NotReachedError(f"{goal.described} was not reached{within}: {far}", progress.objects)
