"""The verdict on a run in its run.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.run.directory import hold, release, update_run
from perfdrv.runs.outcome import verdict_text

FACT = "verdict"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of the judgement of a run by its history.

    Attributes:
        status: `ok`, `worse`, `incomplete`, `unjudged`, or `not judged`.
        exit_code: Of the run because of the verdict, by the settings.
        reason: Which KPIs are worse, or why there is no verdict; empty if nothing is worse.
        counts: KPIs by verdict.
        source: The history; empty for none.
        runs: Runs of the flow in the history, without this one.
        pushed: `new`, `already there`, `no`, or `failed`.
        lost: Why the history could not be read or written; empty if it could.
        note: A remark about the history; empty for none.
        pull_request: Whether the run belongs to a pull request.
    """

    status: str = "not judged"
    exit_code: int = 0
    reason: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    runs: int = 0
    pushed: str = "no"
    lost: str = ""
    note: str = ""
    pull_request: bool = False

    def document(self) -> dict[str, Any]:
        """Return the field of run.json."""
        return {
            "status": self.status,
            "exit_code": self.exit_code,
            "reason": self.reason or None,
            "at": utc_now(),
            "counts": dict(self.counts),
            "history": {
                "source": self.source,
                "runs": self.runs,
                "pushed": self.pushed,
                "lost": self.lost or None,
                "note": self.note or None,
            },
            "pull_request": self.pull_request,
        }

    @property
    def line(self) -> str:
        """The verdict for the terminal, such as `worse: 1 KPI worse than before: …`."""
        return verdict_text(self.document())


def record(run: Path, verdict: Verdict) -> None:
    """Write the verdict to run.json.

    Raises:
        PerfError: A process holds the run, or the disk is full.
    """
    hold(run)
    try:
        update_run(run, {FACT: verdict.document()})
    finally:
        release(run)
