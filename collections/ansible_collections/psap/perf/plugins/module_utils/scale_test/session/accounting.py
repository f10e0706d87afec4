"""Every workload accounted for: submitted = completed + failed + lost + running + churned; what disagrees is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.refusals import refusal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.ledger import (
    CHURNED,
    LOST,
    RUNNING,
    Ledger,
    WorkloadState,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import COMPLETED, FAILED
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import Submitted

SCHEMA = "psap.perf/accounting/1"
_NAMES_SHOWN = 5
_LETTERS_SHOWN = 240
_UNKNOWN = "unknown"
_NO_POD = "no pod runs"


@dataclass(frozen=True, slots=True)
class Accounting:
    """What became of all workloads; ``submitted`` are those whose submission was tried."""

    planned: int
    submitted: int
    completed: int
    failed: int
    lost: int
    running: int
    failed_by_cause: Mapping[str, int]
    lost_by_cause: Mapping[str, int]
    discrepancies: tuple[str, ...]
    churned: int = 0
    # of those that failed, how many the API server refused, and what it said of the first
    refused: int = 0
    first_refusal: str | None = None
    # what keeps those that had not ended, as far as that is known
    running_by_cause: Mapping[str, int] = field(default_factory=dict)

    @property
    def identity_holds(self) -> bool:
        """Whether everything submitted is accounted for, once, and nothing else bears our label."""
        return not self.discrepancies

    def document(self) -> dict[str, Any]:
        """``accounting.json``."""
        return {
            "schema": SCHEMA,
            "asked": self.planned,
            "submitted": self.submitted,
            "completed": self.completed,
            "failed": self.failed,
            "lost": self.lost,
            "running": self.running,
            "churned": self.churned,
            "failed_by_cause": dict(self.failed_by_cause),
            "lost_by_cause": dict(self.lost_by_cause),
            "running_by_cause": dict(self.running_by_cause),
            "identity_holds": self.identity_holds,
            "discrepancies": list(self.discrepancies),
        }

    def sentence(self) -> str:
        """The identity in words, with the causes."""
        parts = [
            f"{self.completed} completed",
            f"{self.failed} failed{_causes(self.failed_by_cause)}",
            f"{self.lost} lost{_causes(self.lost_by_cause)}",
        ]
        if self.running:
            parts.append(f"{self.running} not finished{_causes(self.running_by_cause)}")
        if self.churned:
            parts.append(f"{self.churned} churned")
        return f"{self.submitted} of {self.planned} workloads submitted: {', '.join(parts)}"

    def whereabouts(self) -> str:
        """Which files have the reasons of those that failed or did not end, and of the first refusal what it said."""
        files = []
        if self.refused:
            said = f", of the first: {_shortened(self.first_refusal)}" if self.first_refusal else ""
            files.append(f"submissions.jsonl says why they were refused{said}")
        if self.failed > self.refused:
            files.append("see events.jsonl and transitions.jsonl")
        elif self.running:
            files.append("see events.jsonl")
        return "; ".join(files)


def account(
    planned: int, sent: int, submissions: Mapping[str, Submitted], ledger: Ledger, *, settled_s: float
) -> Accounting:
    """The accounts of a submission: *sent* tries, their answers by name, and what the recorder saw.

    What was created after *settled_s*, in seconds since the epoch, and was not seen may have been on its way when the
    recording ended: it runs, for all that is known.
    """
    states: Counter[str] = Counter()
    causes = _no_causes()
    for name, submitted in submissions.items():
        state, cause = _judge(submitted, ledger.workloads.get(name), settled_s)
        states[state] += 1
        if state in causes:
            causes[state][cause or _UNKNOWN] += 1
    unexpected = sorted(ledger.workloads.keys() - submissions.keys())
    discrepancies = [*_discrepancies(sent, states, ledger), *_unexpected(unexpected)]
    refused = [one for name, one in submissions.items() if name not in ledger.workloads and _is_refused(one)]
    first = min(refused, key=lambda one: one.index, default=None)
    return replace(
        _accounting(planned, sent, states, causes, discrepancies),
        refused=len(refused),
        first_refusal=first.error if first else None,
    )


def account_watched(planned: int, ledger: Ledger) -> Accounting:
    """The accounts of workloads that others submitted: all that were seen."""
    states: Counter[str] = Counter()
    causes = _no_causes()
    for known in ledger.workloads.values():
        states[known.state] += 1
        if known.state in causes:
            causes[known.state][_cause(known)] += 1
    return _accounting(planned or ledger.seen, ledger.seen, states, causes, _discrepancies(ledger.seen, states, ledger))


def _no_causes() -> dict[str, Counter[str]]:
    return {FAILED: Counter(), LOST: Counter(), RUNNING: Counter()}


def _accounting(
    planned: int,
    submitted: int,
    states: Counter[str],
    causes: dict[str, Counter[str]],
    discrepancies: list[str],
) -> Accounting:
    return Accounting(
        planned=planned,
        submitted=submitted,
        completed=states[COMPLETED],
        failed=states[FAILED],
        lost=states[LOST],
        running=states[RUNNING],
        churned=states[CHURNED],
        failed_by_cause=dict(sorted(causes[FAILED].items())),
        lost_by_cause=dict(sorted(causes[LOST].items())),
        running_by_cause=dict(sorted(causes[RUNNING].items())),
        discrepancies=tuple(discrepancies),
    )


def _judge(submitted: Submitted, known: WorkloadState | None, settled_s: float) -> tuple[str, str | None]:
    """State and cause of one workload: what was seen of it counts more than what the submitter was told."""
    if known is not None:
        return known.state, _cause(known)
    if submitted.unanswered:
        return LOST, "submission never answered"
    if submitted.uid is None:
        return FAILED, submitted.absence or refusal(submitted.status, submitted.error)
    if submitted.answered_s > settled_s:
        return RUNNING, "not seen yet"
    return LOST, "created but never seen by the watch"


def _is_refused(submitted: Submitted) -> bool:
    """Whether the API server said no, or the submitter never asked it for the workload."""
    return submitted.uid is None and not submitted.unanswered


def _cause(known: WorkloadState) -> str:
    if known.state == RUNNING:
        return known.standing or _NO_POD
    # a pod that ended before it ran does not say why; the workload then says more
    pod_says = known.pod_failure if known.state == FAILED and known.pod_failure != _UNKNOWN else None
    return pod_says or known.cause or _UNKNOWN


def _discrepancies(sent: int, states: Counter[str], ledger: Ledger) -> list[str]:
    """Where two independent counts disagree: tries and answers, the recorder's totals and its states."""
    found = []
    if sum(states.values()) != sent:
        found.append(f"{sent} submissions were tried, but {sum(states.values())} are accounted for")
    twice = [name for name, known in ledger.workloads.items() if known.objects > 1]
    if twice:
        found.append(f"{len(twice)} names were borne by more than one object: {_some(twice)}")
    by_state = Counter(known.state for known in ledger.workloads.values())
    for state in (COMPLETED, FAILED, LOST, CHURNED):
        if ledger.totals[state] != by_state[state]:
            found.append(f"{ledger.totals[state]} were told {state}, but {by_state[state]} are")
    return found


def _unexpected(names: list[str]) -> list[str]:
    return [f"{len(names)} workloads bear our label but were not submitted: {_some(names)}"] if names else []


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown if len(names) <= _NAMES_SHOWN else f"{shown}, …"


def _causes(causes: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{cause}: {count}' for cause, count in causes.items())})" if causes else ""


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LETTERS_SHOWN else f"{line[:_LETTERS_SHOWN]}…"
