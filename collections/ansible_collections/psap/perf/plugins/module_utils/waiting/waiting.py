"""Wait until objects have reached a state: one clock, early surrender, and the last objects seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source, observe
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Predicate, Verdict

# Longer than a restart of an API server; a cluster that stays away longer is not waited for.
_PATIENCE_WITH_ERRORS_S = 30.0
_BETWEEN_LOOKS_ELSEWHERE_S = 1.0
_OBJECTS_LOOKED_INTO = 10


@dataclass(frozen=True, slots=True)
class Goal:
    """What is awaited.

    :param states: predicates that an object must all satisfy.
    :param count: how many objects must; None for all that there are, and at least one.
    :param absent: that no object is left.
    :param give_up_on: reasons, as a pod's containers or conditions spell them, that end the wait at once.
    :param patience_s: how long an object may say that it cannot get there before that is believed.
    :param lacking: looks elsewhere for what an object that has got there lacks, and when time is up; "" for nothing.
    :param late: looks elsewhere, when time is up, for why an object has not got there; "" for nothing.
    :param surrender: looks elsewhere, from time to time, for what keeps an object from getting there; "" for nothing.
    :param blocked: the same, while there is no object yet.
    """

    query: Query
    described: str
    states: tuple[Predicate, ...]
    timeout_s: float
    count: int | None = None
    absent: bool = False
    give_up_on: tuple[str, ...] = ()
    patience_s: float = 0.0
    lacking: Callable[[Source, Manifest], str] | None = None
    late: Callable[[Source, Manifest], str] | None = None
    surrender: Callable[[Source, Manifest], str] | None = None
    blocked: Callable[[Source], str] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a wait is."""

    reached: int
    seen: int
    note: str
    hopeless: str = ""
    done: bool = False
    objects: tuple[Manifest, ...] = field(default=(), repr=False)


class NotReachedError(WaitTimeoutError):
    """The state did not come; ``result`` holds the last objects seen."""

    def __init__(self, message: str, objects: tuple[Manifest, ...]) -> None:
        super().__init__(message)
        self.result = {"objects": list(objects)}


def judge(goal: Goal, objects: Mapping[str, Manifest]) -> Progress:
    """How far *objects* are towards *goal*."""
    items = tuple(objects.values())
    if goal.absent:
        names = ", ".join(item["metadata"]["name"] for item in items[:3])
        return Progress(0, len(items), f"{len(items)} left: {names}", done=not items, objects=items)
    verdicts = [(item, _verdict(goal, item)) for item in items]
    reached = sum(verdict.reached for _item, verdict in verdicts)
    lacking = [(item, verdict) for item, verdict in verdicts if not verdict.reached]
    note = f"{lacking[0][0]['metadata']['name']}: {lacking[0][1].note}" if lacking else "none there yet"
    needed = goal.count if goal.count is not None else max(len(items), 1)
    given_up = next(
        (f"{item['metadata']['name']}: {verdict.note}" for item, verdict in lacking if verdict.hopeless), ""
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


def _looked_elsewhere(
    source: Source, look: Callable[[Source, Manifest], str] | None, progress: Progress, silence: str = ""
) -> str:
    """What *look* finds of the objects; *silence* when the cluster does not answer."""
    try:
        for item in progress.objects[:_OBJECTS_LOOKED_INTO] if look else ():
            reason = look(source, item) if look else ""
            if reason:
                return f"{item['metadata']['name']}: {reason}"
    except ClusterError:  # the wait itself decides how long to bear with a silent cluster
        return silence
    return ""


def _stuck(source: Source, goal: Goal, progress: Progress) -> str:
    """What keeps it from getting there, as far as that is elsewhere."""
    try:
        blocked = goal.blocked(source) if goal.blocked and not progress.objects else ""
    except ClusterError:
        return ""
    return blocked or _looked_elsewhere(source, goal.surrender, progress)


def _confirmed(source: Source, goal: Goal, progress: Progress) -> Progress:
    """*progress*, which is not done while something is lacking."""
    if not progress.done:
        return progress
    note = _looked_elsewhere(source, goal.lacking, progress, "the cluster does not answer")
    return replace(progress, note=note, done=False) if note else progress


def _late(source: Source, goal: Goal, progress: Progress) -> str:
    """Why it has not got there when time is up."""
    note = progress.note
    for look in (goal.lacking, goal.late):
        found = _looked_elsewhere(source, look, progress)
        note = f"{note}; {found}" if found and found not in note else note
    return note


def wait_for(source: Source, goal: Goal, check: Callable[[], None], report: Callable[[Progress], None]) -> Progress:
    """Wait for *goal*.

    :param check: raises when the user asked to stop.
    :param report: is told of every change.
    :raises NotReachedError: when time is up, or the state cannot come any more.
    :raises ClusterError: when the cluster stays away.
    """
    deadline = time.monotonic() + goal.timeout_s
    answered = looked = hoped = time.monotonic()
    progress, stuck = Progress(0, 0, "nothing seen yet"), ""
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
        if time.monotonic() - looked >= _BETWEEN_LOOKS_ELSEWHERE_S:
            stuck = _stuck(source, goal, progress)
            looked = time.monotonic()
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
