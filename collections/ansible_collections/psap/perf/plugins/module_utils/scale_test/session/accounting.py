"""Account for every workload: submitted = completed + failed + lost + running + churned; list all discrepancies."""

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
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import SubmissionRow

SCHEMA = "psap.perf/accounting/1"
_NAMES_SHOWN = 5
_LETTERS_SHOWN = 240
_UNKNOWN = "unknown"
_NO_POD = "no pod runs"


@dataclass(frozen=True, slots=True)
class Accounting:
    """The results of all workloads; ``submitted`` are those whose submission was attempted."""

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
    # the number of failed workloads that the API server refused, and its message about the first
    refused: int = 0
    first_refusal: str | None = None
    # known reasons why workloads had not ended
    running_by_cause: Mapping[str, int] = field(default_factory=dict)

    @property
    def identity_holds(self) -> bool:
        """Whether every submitted workload is accounted for once, and no other object has the submission's label."""
        return not self.discrepancies

    def document(self) -> dict[str, Any]:
        """Return the content of ``accounting.json``."""
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
        """Return the identity in words, with the causes."""
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

    def advice(self) -> str:
        """Return which files have the reasons of unfinished and failed workloads, with the first refusal."""
        files = []
        if self.refused:
            first = f", the first: {_shortened(self.first_refusal)}" if self.first_refusal else ""
            files.append(f"see submissions.jsonl for the refusals{first}")
        if self.failed > self.refused:
            files.append("see events.jsonl and transitions.jsonl")
        elif self.running:
            files.append("see events.jsonl")
        return "; ".join(files)


def account(
    planned: int, sent: int, submissions: Mapping[str, SubmissionRow], ledger: Ledger, *, settled_s: float
) -> Accounting:
    """Return the accounts of a submission.

    Args:
        sent: Number of attempted submissions.
        submissions: Their answers by name.
        ledger: The recorder's observations.
        settled_s: A workload that was created after this time, in seconds since the epoch, and was not seen counts as
            running: its events may not have arrived before the end of the recording.
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
    """Return the accounts of observed workloads of other submitters."""
    states: Counter[str] = Counter()
    causes = _no_causes()
    for entry in ledger.workloads.values():
        states[entry.state] += 1
        if entry.state in causes:
            causes[entry.state][_cause(entry)] += 1
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


def _judge(submitted: SubmissionRow, entry: WorkloadState | None, settled_s: float) -> tuple[str, str | None]:
    """Return state and cause of one workload; observations take precedence over the submitter's answer."""
    if entry is not None:
        return entry.state, _cause(entry)
    if submitted.unanswered:
        return LOST, "submission never answered"
    if submitted.uid is None:
        return FAILED, submitted.absence or refusal(submitted.status, submitted.error)
    if submitted.answered_s > settled_s:
        return RUNNING, "not seen yet"
    return LOST, "created but never seen by the watch"


def _is_refused(submitted: SubmissionRow) -> bool:
    """Return whether the API server refused the workload, or the submitter never sent it."""
    return submitted.uid is None and not submitted.unanswered


def _cause(entry: WorkloadState) -> str:
    if entry.state == RUNNING:
        return entry.reason or _NO_POD
    # a pod that ended before it ran has no reason; the workload then has one
    of_pod = entry.pod_failure if entry.state == FAILED and entry.pod_failure != _UNKNOWN else None
    return of_pod or entry.cause or _UNKNOWN


def _discrepancies(sent: int, states: Counter[str], ledger: Ledger) -> list[str]:
    """Return differences between independent counts: attempts and answers, the recorder's totals and its states."""
    found = []
    if sum(states.values()) != sent:
        found.append(f"{sent} submissions were attempted, but {sum(states.values())} are accounted for")
    twice = [name for name, entry in ledger.workloads.items() if entry.objects > 1]
    if twice:
        found.append(f"{len(twice)} names belonged to more than one object: {_some(twice)}")
    by_state = Counter(entry.state for entry in ledger.workloads.values())
    for state in (COMPLETED, FAILED, LOST, CHURNED):
        if ledger.totals[state] != by_state[state]:
            found.append(f"{ledger.totals[state]} were counted as {state}, but {by_state[state]} are")
    return found


def _unexpected(names: list[str]) -> list[str]:
    return [f"{len(names)} workloads have our label but were not submitted: {_some(names)}"] if names else []


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown if len(names) <= _NAMES_SHOWN else f"{shown}, …"


def _causes(causes: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{cause}: {count}' for cause, count in causes.items())})" if causes else ""


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LETTERS_SHOWN else f"{line[:_LETTERS_SHOWN]}…"
