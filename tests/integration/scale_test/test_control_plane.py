"""The metrics of a real control plane, scraped during a test."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.selection import COMPONENTS, SELECTION

from .conftest import Submission

# its counters cover the whole control plane
pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("quiet")]

# so small a test has no preemption, a lab's controllers create no claims, and no Job is in a queue
_QUIET = {
    *("scheduler_preemption_attempts_total", "scheduler_preemption_victims"),
    *("kueue_admission_attempt_duration_seconds", "kueue_admission_wait_time_seconds"),
    *("kueue_admitted_workloads_total", "kueue_evicted_workloads_total"),
}


def total(rows: list[dict[str, Any]], phase: str, metric: str, **labels: str) -> float:
    """Return the total of one metric in one phase, over all series with these labels."""
    wanted = labels.items()
    chosen = [row for row in rows if row["phase"] == phase and row["metric"] == metric]
    return sum(float(row["value"]) for row in chosen if wanted <= row["labels"].items())


def test_every_component_reports_the_cost_of_the_test(submission: Submission) -> None:
    submission.count, submission.duration_s, submission.metrics_interval_s = 20, 2.0, 1.0
    assert submission.submit().accounting.completed == 20
    document = submission.document("control_plane")
    assert document["error"] is None
    phases: defaultdict[str, list[str]] = defaultdict(list)
    for scrape in document["scrapes"]:
        assert scrape["error"] is None, scrape
        phases[scrape["component"]].append(scrape["phase"])
    assert phases.keys() == set(COMPONENTS)
    for seen in phases.values():
        assert (seen[0], seen[-1], set(seen[1:-1])) == ("before", "after", {"during"})
    rows = submission.rows("control_plane")

    def grown(metric: str, **labels: str) -> float:
        return total(rows, "after", metric, **labels) - total(rows, "before", metric, **labels)

    assert grown("apiserver_request_total", verb="POST", code="201") >= 20
    posts = {"verb": "POST", "resource": "jobs", "subresource": "", "le": "+Inf"}
    assert grown("apiserver_request_duration_seconds_bucket", **posts) == 20
    assert grown("scheduler_pod_scheduling_sli_duration_seconds_count") == 20
    for component in COMPONENTS:
        assert any(row["component"] == component and row["metric"] == "process_cpu_seconds_total" for row in rows)
    known = {sample for metrics in SELECTION.values() for metric in metrics for sample in metric.samples}
    scraped = {row["metric"] for row in rows}
    assert scraped <= known
    families = {metric.name for metrics in SELECTION.values() for metric in metrics} - _QUIET
    assert {name for name in families if not any(row.startswith(name) for row in scraped)} == set()
