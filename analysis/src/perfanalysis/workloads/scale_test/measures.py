"""All measures of one recording, from its tables to the input of KPIs, plots and report."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from perfanalysis.files.documents import Document, number_or
from perfanalysis.workloads.percentiles import Method, Value
from perfanalysis.workloads.scale_test.activity import (
    CONCURRENCY,
    PHASES,
    THROUGHPUT,
    Activity,
    Ramp,
    Window,
    activity_of,
    concurrency_table,
    phases_table,
    ramp_of,
    throughput_table,
    window_of,
)
from perfanalysis.workloads.scale_test.api_latency import answers_table, requests_table, submitters_table
from perfanalysis.workloads.scale_test.control_plane import control_plane_tables
from perfanalysis.workloads.scale_test.devices import FreeGpus, device_claims_table, free_gpus
from perfanalysis.workloads.scale_test.evictions import (
    by_priority_table,
    by_tenant_table,
    evictions_table,
    preemptions_table,
)
from perfanalysis.workloads.scale_test.fairness import (
    FAIRNESS,
    TENANT_ACTIVITY,
    activity_table,
    fairness_table,
    inversions_table,
    tenants_of,
)
from perfanalysis.workloads.scale_test.milestones import SEEN_RESOLUTION_S
from perfanalysis.workloads.scale_test.nodes import (
    Occupation,
    node_changes_table,
    occupation,
    occupation_of_domains,
)
from perfanalysis.workloads.scale_test.outcomes import (
    Accounting,
    account,
    clusters_table,
    data_quality_table,
    failures_table,
)
from perfanalysis.workloads.scale_test.placements import placements_table, smallest_level
from perfanalysis.workloads.scale_test.pods import churned_by_test, pods_table, rounds_table
from perfanalysis.workloads.scale_test.steps import (
    Estimates,
    LatencyStep,
    anomalies_table,
    latencies_table,
    percentiles_table,
    pods_elsewhere,
    present_steps,
    step_estimates,
)
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.scale_test.workloads import workloads_table


@dataclass(frozen=True)
class Measures:
    """Derived tables and figures of a recording; `window` is None if nothing was submitted or seen."""

    steps: tuple[LatencyStep, ...]
    workloads: pd.DataFrame
    pods: pd.DataFrame
    latencies: pd.DataFrame
    statistics: Estimates
    percentiles: pd.DataFrame
    anomalies: pd.DataFrame
    throughput: pd.DataFrame
    concurrency: pd.DataFrame
    failures: pd.DataFrame
    answers: pd.DataFrame
    submitters: pd.DataFrame
    requests: pd.DataFrame
    evictions: pd.DataFrame
    preemptions: pd.DataFrame
    preemptions_by_priority: pd.DataFrame
    preemptions_by_tenant: pd.DataFrame
    inversions: pd.DataFrame
    fairness: pd.DataFrame
    clusters: pd.DataFrame
    tenant_activity: pd.DataFrame
    phases: pd.DataFrame
    rounds: pd.DataFrame
    node_changes: pd.DataFrame
    placements: pd.DataFrame
    control_plane_measures: pd.DataFrame
    control_plane_series: pd.DataFrame
    ramp: Ramp | None
    """The steady part of the test; None if nothing ran."""
    window: Window | None
    activity: Activity
    accounting: Accounting
    data_quality: pd.DataFrame
    recording: Document
    arrival_s: float
    """Resolution of the times at which objects were seen."""
    device_claims: pd.DataFrame
    free_gpus: FreeGpus | None
    """Free GPUs over time; None if no node with GPUs is known."""
    occupation: Occupation | None
    """Occupation of the nodes over time; None if no node is known."""
    domain_occupation: Occupation | None
    """Occupation of the smallest declared domains over time; None without a topology."""
    method: Method
    """The method of percentiles."""

    def estimates(self, step_name: str) -> dict[str, Value]:
        """Return statistic → estimate of a step on the client's clock."""
        return self.statistics[step_name, "seen"]


def measure(tables: ScaleTestTables, recording: Document, accounting: Document, method: Method = "linear") -> Measures:
    """Compute everything; `recording` and `accounting` are the documents of the recording, empty if missing."""
    workloads = workloads_table(tables)
    latencies = latencies_table(workloads)
    statistics = step_estimates(latencies, method)
    pods = pods_table(tables.transitions, workloads)
    # the nodes of the recording run none of the pods that are elsewhere
    elsewhere = pods_elsewhere(workloads)
    nodes = tables.nodes.head(0) if elsewhere else tables.nodes
    activity = activity_of(workloads, pods, nodes)
    seen = [tables.transitions["seen_s"].max(), tables.submissions["answered_s"].max()]
    last_seen = max((float(moment) for moment in seen if pd.notna(moment)), default=0.0)
    window = window_of(workloads, last_seen)
    # recordings of other tools have their own resolution, which the importer states
    arrival = number_or(recording.get("seen_resolution_s"), SEEN_RESOLUTION_S)
    steps = present_steps(workloads)
    evictions = evictions_table(tables, workloads, pods)
    tenants = tenants_of(workloads, pods, window.end if window else last_seen)
    ramp = ramp_of(activity.running, window) if window else None
    control_plane = control_plane_tables(tables.control_plane, window)
    claims = device_claims_table(tables, workloads, number_or(recording.get("ended_s"), last_seen))
    anomalies = anomalies_table(workloads, latencies, arrival)
    placements = placements_table(tables, workloads, pods)
    accounted = account(workloads, accounting, churned_by_test(tables, workloads))
    return Measures(
        steps=steps,
        workloads=workloads,
        pods=pods,
        latencies=latencies,
        statistics=statistics,
        percentiles=percentiles_table(latencies, statistics, arrival, steps),
        anomalies=anomalies,
        throughput=throughput_table(workloads, window) if window else THROUGHPUT.empty(),
        concurrency=concurrency_table(activity, window) if window else CONCURRENCY.empty(),
        failures=failures_table(tables, workloads),
        answers=answers_table(tables.submissions, method),
        submitters=submitters_table(tables.submissions, method),
        requests=requests_table(recording),
        evictions=evictions,
        preemptions=preemptions_table(evictions, workloads),
        preemptions_by_priority=by_priority_table(evictions),
        preemptions_by_tenant=by_tenant_table(evictions),
        inversions=inversions_table(workloads),
        fairness=FAIRNESS.empty() if elsewhere else fairness_table(tenants),
        clusters=clusters_table(workloads, latencies, method),
        tenant_activity=activity_table(tenants, window) if window else TENANT_ACTIVITY.empty(),
        phases=phases_table(workloads, activity.running, ramp, window) if window else PHASES.empty(),
        rounds=rounds_table(tables, workloads, latencies, method),
        node_changes=node_changes_table(tables, window),
        placements=placements,
        control_plane_measures=control_plane[0],
        control_plane_series=control_plane[1],
        ramp=ramp,
        window=window,
        activity=activity,
        accounting=accounted,
        data_quality=data_quality_table(accounted, anomalies),
        recording=recording,
        arrival_s=arrival,
        device_claims=claims,
        free_gpus=free_gpus(claims, pods, nodes),
        occupation=occupation(pods, nodes, window) if window else None,
        domain_occupation=_of_domains(tables, placements, pods, window),
        method=method,
    )


def _of_domains(
    tables: ScaleTestTables, placements: pd.DataFrame, pods: pd.DataFrame, window: Window | None
) -> Occupation | None:
    level = smallest_level(placements)
    return occupation_of_domains(pods, tables, level, window) if level and window else None
