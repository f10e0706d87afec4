"""Preemption by victim and by preemptor, counted from the evictions."""

from __future__ import annotations

import pandas as pd

from perfanalysis.files.tables import Column, TableSpec

PREEMPTIONS = TableSpec(
    "preemptions",
    "Workloads that lost pods to preemption, or took their place",
    (
        Column("workload", "text", "as in the table workloads"),
        Column("tenant", "text", "as in the table workloads"),
        Column("priority", "integer", "its priority, if any"),
        Column("preempted", "integer", "of its pods, preempted for others", "pods"),
        Column("preempting", "integer", "of others' pods, preempted for it", "pods"),
    ),
)
BY_PRIORITY = TableSpec(
    "preemptions_by_priority",
    "Preempted pods by the priorities of victim and preemptor",
    (
        Column("victim_priority", "integer", "priority of the workload that lost a pod"),
        Column("preemptor_priority", "integer", "priority of the workload it made place for; null where not known"),
        Column("pods", "integer", "pods preempted", "pods"),
        Column("victims", "integer", "workloads that lost a pod", "workloads"),
        Column("preemptors", "integer", "workloads that took their place", "workloads"),
    ),
)
BY_TENANT = TableSpec(
    "preemptions_by_tenant",
    "Preempted pods by the tenants of victim and preemptor; of two different ones, what was reclaimed",
    (
        Column("victim_tenant", "text", "tenant of the workload that lost a pod"),
        Column("preemptor_tenant", "text", "tenant of the workload it made place for; null where not known"),
        Column("pods", "integer", "pods preempted", "pods"),
    ),
)


def preemptions_table(evictions: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """The table PREEMPTIONS, in the order of submission."""
    rows = evictions[evictions["preempted"].fillna(False)]
    names = workloads["workload"].astype("str")
    lost = rows["workload"].astype("str").value_counts().reindex(names).fillna(0)
    took = rows["by_workload"].dropna().astype("str").value_counts().reindex(names).fillna(0)
    frame = workloads[["workload", "tenant", "priority"]].assign(
        preempted=lost.to_numpy().astype("int64"), preempting=took.to_numpy().astype("int64")
    )
    return PREEMPTIONS.conform(frame[(frame["preempted"] > 0) | (frame["preempting"] > 0)].reset_index(drop=True))


def by_priority_table(evictions: pd.DataFrame) -> pd.DataFrame:
    """The table BY_PRIORITY, highest preemptor first."""
    rows = evictions[evictions["preempted"].fillna(False)]
    named = rows.rename(columns={"priority": "victim_priority", "by_priority": "preemptor_priority"})
    grouped = named.groupby(["preemptor_priority", "victim_priority"], dropna=False, sort=True)
    counted = grouped.agg(
        pods=("pod", "size"), victims=("workload", "nunique"), preemptors=("by_workload", "nunique")
    ).reset_index()
    return BY_PRIORITY.conform(counted.iloc[::-1].reset_index(drop=True))


def by_tenant_table(evictions: pd.DataFrame) -> pd.DataFrame:
    """The table BY_TENANT, most pods first."""
    rows = evictions[evictions["preempted"].fillna(False)]
    names = rows[["tenant", "by_tenant"]].astype("object").where(rows[["tenant", "by_tenant"]].notna(), None)
    names.columns = pd.Index(["victim_tenant", "preemptor_tenant"])
    counted = names.groupby(["victim_tenant", "preemptor_tenant"], dropna=False, sort=True).size()
    frame = counted.rename("pods").reset_index().sort_values("pods", ascending=False, kind="stable")
    return BY_TENANT.conform(frame.reset_index(drop=True))


def reclaimed(evictions: pd.DataFrame) -> int:
    """How many preemptions made place for a workload of another tenant, of those whose preemptor is known."""
    rows = evictions[evictions["preempted"].fillna(False) & evictions["by_tenant"].notna()]
    return int((rows["tenant"].astype("str") != rows["by_tenant"].astype("str")).sum())
