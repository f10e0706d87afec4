"""Every submitted workload in exactly one place: analysed, never sampled, or left out for a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.imports.scale_test_tool.columns import resolution
from perfanalysis.imports.scale_test_tool.records import DELTAS, SUBMITTED
from perfanalysis.workloads.scale_test.milestones import STAMPED_CAUSES, Start

if TYPE_CHECKING:
    from perfanalysis.imports.scale_test_tool.reading import WorkingDirectory

STARTS: Mapping[str, Start] = {SUBMITTED: "client", "first_pod_created": "pod", "last_pod_created": "pod"}
"""What a difference begins with, where it is no stamp of another object."""


@dataclass(frozen=True)
class Accounts:
    """What became of the submitted workloads; `left_out` counts those not analysed, by reason."""

    submitted: int
    analysed: int
    never_sampled: int
    left_out: Mapping[str, int]

    @property
    def identity_holds(self) -> bool:
        """Whether every submitted workload is in exactly one place."""
        return self.submitted == self.analysed + self.never_sampled + sum(self.left_out.values())

    @property
    def lost_ratio(self) -> float:
        """Of the submitted workloads, the part that was never sampled or left out; 0 when none was submitted."""
        return 1 - self.analysed / self.submitted if self.submitted else 0.0

    @property
    def text(self) -> str:
        """The identity in words."""
        parts = [f"{self.analysed} analysed", f"{self.never_sampled} never sampled"]
        parts += [f"{count} left out ({reason})" for reason, count in self.left_out.items()]
        return f"{self.submitted} submitted {'=' if self.identity_holds else 'is not'} {' + '.join(parts)}"


def accounts_of(found: WorkingDirectory) -> Accounts:
    """Count the workloads of a working directory. Each has a stamp of its scheduling, or is not analysed."""
    samples = found.samples
    sent = np.isfinite(samples.time(SUBMITTED))
    unscheduled = int((sent & np.isnan(samples.time("scheduled"))).sum())
    left_out = {"no podSchedulingDecisionTimestamp": unscheduled} if unscheduled else {}
    analysed = int(sent.sum()) - unscheduled
    return Accounts(len(found.submitted), analysed, len(found.lost_columns), left_out)


def negative_counts(found: WorkingDirectory) -> dict[str, tuple[int, str]]:
    """Differences below their resolution: heading → how many workloads, and the cause."""
    ours = found.samples.take(np.flatnonzero(np.isfinite(found.samples.time(SUBMITTED))))
    counts = {delta: int((ours.delta(delta) < -resolution(delta)).sum()) for delta in DELTAS}
    return {
        delta.heading: (count, STAMPED_CAUSES[STARTS.get(delta.start, "object")])
        for delta, count in counts.items()
        if count
    }
