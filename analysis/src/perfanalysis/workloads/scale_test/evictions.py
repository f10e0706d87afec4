"""Evictions and preemption: which pods were evicted, for whom, and when their replacements were scheduled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.pods import UNIT, places_of
from perfanalysis.workloads.scale_test.tables import ScaleTestTables, workload_keys

PREEMPTED_BY = r"Preempted (?:by (?:pod |podgroup )?|to accommodate a workload \(UID: )([^\s)]+)"
"""The event names a uid for which it preempted: of a pod or pod group, by the scheduler; of a Workload, by Kueue."""
SPARED = "(in kube-scheduler memory)"
"""That event for a pod that was not bound yet: it returns to the queue and is not evicted."""
PREEMPTION_REASONS = ("PreemptionByScheduler", "Preempted")
EVICTIONS = TableSpec(
    "evictions",
    "One row per eviction of a pod, or of a workload that Kueue had admitted, in the order of time",
    (
        Column("evicted_s", "time", "seen evicted, on the client's clock", UNIT),
        Column("pod", "text", "name of the evicted object"),
        Column("workload", "text", "as in the table workloads"),
        Column("tenant", "text", "as in the table workloads"),
        Column("priority", "integer", "its workload's priority, if any"),
        Column("node", "text", "node it was bound to"),
        Column("kind", "text", "Pod, or Workload (Kueue's)"),
        Column("reason", "text", "reason given by the cluster"),
        Column("preempted", "flag", "whether it made room for another workload"),
        Column("by_workload", "text", "the workload it made room for, if an event names it"),
        Column("by_priority", "integer", "that workload's priority, if any"),
        Column("by_tenant", "text", "that workload's tenant"),
        Column("replaced_s", "time", "its replacement seen created", UNIT),
        Column("rescheduled_s", "time", "its replacement seen bound to a node", UNIT),
        Column("rescheduling_s", "number", "from its eviction to its replacement bound", "s"),
    ),
)


def evictions_table(tables: ScaleTestTables, workloads: pd.DataFrame, pods: pd.DataFrame) -> pd.DataFrame:
    """Return the table EVICTIONS."""
    events = _preemptions(tables.events)
    evicted = (tables.transitions["transition"] == "evicted").to_numpy()
    if not (evicted.any() or len(events)):
        return EVICTIONS.empty()
    several = len(workloads["namespace"].cat.remove_unused_categories().cat.categories) > 1
    place = places_of(workload_keys(tables.transitions, "workload", several=several), workloads)
    found = _evicted(tables.transitions, place, evicted & (place >= 0))
    found = pd.concat([found, _without_transition(events, found, tables.transitions, place)], ignore_index=True)
    if not len(found):
        return EVICTIONS.empty()
    found = found.sort_values("evicted_s", kind="stable", ignore_index=True)
    owner, taker = found["place"].to_numpy(dtype=int), _preemptors(found, events, tables.transitions, place)
    columns: dict[str, Any] = {name: found[name] for name in ("evicted_s", "pod", "node", "kind", "reason")}
    for name in ("workload", "tenant", "priority"):
        columns[name] = workloads[name].array.take(owner)
    columns["preempted"] = found["reason"].isin(PREEMPTION_REASONS) | (taker >= 0)
    columns["by_workload"] = workloads["workload"].array.take(taker, allow_fill=True)
    columns["by_priority"] = workloads["priority"].array.take(taker, allow_fill=True)
    columns["by_tenant"] = workloads["tenant"].array.take(taker, allow_fill=True)
    needed = np.where(found["kind"] == "Pod", 1.0, workloads["pods"].to_numpy(dtype=float)[owner])
    replaced, rescheduled = _replacements(found, needed, pods, places_of(pods["workload"], workloads))
    columns |= {"replaced_s": replaced, "rescheduled_s": rescheduled}
    columns["rescheduling_s"] = rescheduled - found["evicted_s"].to_numpy(dtype=float)
    return EVICTIONS.conform(pd.DataFrame(columns))


def _evicted(transitions: pd.DataFrame, place: NDArray[Any], evicted: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the recorded evictions: the first of a pod, every one of a workload of Kueue, which may be repeated."""
    rows = transitions[evicted].assign(place=place[evicted])
    rows = rows[rows["kind"].isin(["Pod", "Workload"])].sort_values("seen_s", kind="stable")
    rows = rows[~((rows["kind"] == "Pod") & rows.duplicated(["uid", "kind"]))]
    return _texts(rows.rename(columns={"seen_s": "evicted_s", "name": "pod"}))


def _texts(rows: pd.DataFrame) -> pd.DataFrame:
    names = ("pod", "namespace", "node", "kind", "reason")
    return rows[["evicted_s", "place"]].assign(**{name: rows[name].astype("object") for name in names})


def _preemptions(events: pd.DataFrame) -> pd.DataFrame:
    """Return the events of preempted pods and Kueue Workloads: victim by kind, namespace and name, preemptor as in the
    message.
    """
    rows = events[(events["reason"] == "Preempted") & events["kind"].isin(["Pod", "Workload"])]
    messages = rows["message"].astype("object").fillna("").astype("str")
    moments = rows["server_s"].fillna(rows["seen_s"])
    named = {name: rows[name].astype("object") for name in ("kind", "namespace", "name")}
    found = pd.DataFrame({**named, "evicted_s": moments, "by": messages.str.extract(PREEMPTED_BY)[0]})
    return found[~messages.str.contains(SPARED, regex=False)].reset_index(drop=True)


def _without_transition(
    events: pd.DataFrame, found: pd.DataFrame, transitions: pd.DataFrame, place: NDArray[Any]
) -> pd.DataFrame:
    """Return pods that were preempted according to an event, and gone before their status stated it."""
    events = events[events["kind"] == "Pod"].drop(columns="kind")
    known = pd.MultiIndex.from_frame(found[["namespace", "pod"]])
    rows = events[~pd.MultiIndex.from_frame(events[["namespace", "name"]]).isin(known)]
    named = transitions["name"].isin(rows["name"]).to_numpy() & (place >= 0)
    pods = transitions[named].assign(place=place[named])
    pods = pods[pods["kind"] == "Pod"].sort_values("seen_s", kind="stable")
    pods = pods.drop_duplicates(["namespace", "name"], keep="last")
    pods = pods.assign(**{name: pods[name].astype("object") for name in ("namespace", "name")})
    joined = rows.merge(pods[["namespace", "name", "place", "node"]], on=["namespace", "name"])
    return _texts(joined.rename(columns={"name": "pod"}).assign(kind="Pod", reason=PREEMPTION_REASONS[0]))


def _preemptors(
    found: pd.DataFrame, events: pd.DataFrame, transitions: pd.DataFrame, place: NDArray[Any]
) -> NDArray[Any]:
    """Return the workload's row for which each was evicted; -1 if no event names one."""
    known = transitions["uid"].isin(events["by"]).to_numpy() & (place >= 0)
    uids = transitions["uid"][known].astype("str")
    owner = pd.Series(place[known], index=uids.to_numpy())
    owner = owner[~owner.index.duplicated()]
    named = events.dropna(subset=["by"]).sort_values("evicted_s", kind="stable")
    named = named[(named["kind"] != "Pod") | ~named.duplicated(["kind", "namespace", "name"], keep="last")]
    by = pd.Series(named["by"].to_numpy(), index=_occurrences(named, "name"))
    wanted = by.reindex(_occurrences(found, "pod"))
    return owner.reindex(wanted.astype("object").to_numpy()).fillna(-1).to_numpy(dtype=int)


def _occurrences(rows: pd.DataFrame, name: str) -> pd.MultiIndex:
    """Return each object and the number of its eviction: a workload of Kueue may be evicted repeatedly."""
    of = ["kind", "namespace", name]
    return pd.MultiIndex.from_frame(rows[of].assign(number=rows.groupby(of, sort=False).cumcount()))


def _replacements(
    found: pd.DataFrame, needed: NDArray[np.float64], pods: pd.DataFrame, owner: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when each evicted one's replacement was created and bound; NaN without a replacement.

    Replacements are the workload's pods created after the eviction, each for one eviction, in the order of time. A
    workload of Kueue is replaced by all its pods, and bound when the last of them is.
    """
    concerned = np.isin(owner, found["place"].to_numpy(dtype=int))
    created, bound = (pods[f"{word}_s"].to_numpy(dtype=float)[concerned] for word in ("created", "scheduled"))
    order = np.argsort(created, kind="stable")
    waiting: dict[int, list[tuple[float, float]]] = {}
    for place, *times in zip(owner[concerned][order], created[order], bound[order], strict=True):
        waiting.setdefault(int(place), []).append((float(times[0]), float(times[1])))
    results = np.full((2, len(found)), np.nan)
    evicted = zip(found["place"].astype(int), found["evicted_s"], needed, strict=True)
    for row, (place, moment, number) in enumerate(evicted):
        rest = [times for times in waiting.get(place, ()) if times[0] >= moment]
        count = int(number) if np.isfinite(number) else 1
        taken, waiting[place] = rest[:count], rest[count:]
        if len(taken) == count:
            results[:, row] = taken[0][0], max(times[1] for times in taken)
    return results[0], results[1]


PREEMPTIONS = TableSpec(
    "preemptions",
    "Workloads that lost pods to preemption, or preempted others",
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
        Column("preemptor_priority", "integer", "priority of the workload it made room for; null if unknown"),
        Column("pods", "integer", "pods preempted", "pods"),
        Column("victims", "integer", "workloads that lost a pod", "workloads"),
        Column("preemptors", "integer", "workloads that preempted them", "workloads"),
    ),
)
BY_TENANT = TableSpec(
    "preemptions_by_tenant",
    "Preempted pods by the tenants of victim and preemptor; between two different tenants, the reclaimed ones",
    (
        Column("victim_tenant", "text", "tenant of the workload that lost a pod"),
        Column("preemptor_tenant", "text", "tenant of the workload it made room for; null if unknown"),
        Column("pods", "integer", "pods preempted", "pods"),
    ),
)


def preemptions_table(evictions: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return the table PREEMPTIONS, in the order of submission."""
    rows = evictions[evictions["preempted"].fillna(False)]
    names = workloads["workload"].astype("str")
    lost = rows["workload"].astype("str").value_counts().reindex(names).fillna(0)
    took = rows["by_workload"].dropna().astype("str").value_counts().reindex(names).fillna(0)
    frame = workloads[["workload", "tenant", "priority"]].assign(
        preempted=lost.to_numpy().astype("int64"), preempting=took.to_numpy().astype("int64")
    )
    return PREEMPTIONS.conform(frame[(frame["preempted"] > 0) | (frame["preempting"] > 0)].reset_index(drop=True))


def by_priority_table(evictions: pd.DataFrame) -> pd.DataFrame:
    """Return the table BY_PRIORITY, highest preemptor first."""
    rows = evictions[evictions["preempted"].fillna(False)]
    named = rows.rename(columns={"priority": "victim_priority", "by_priority": "preemptor_priority"})
    grouped = named.groupby(["preemptor_priority", "victim_priority"], dropna=False, sort=True)
    counted = grouped.agg(
        pods=("pod", "size"), victims=("workload", "nunique"), preemptors=("by_workload", "nunique")
    ).reset_index()
    return BY_PRIORITY.conform(counted.iloc[::-1].reset_index(drop=True))


def by_tenant_table(evictions: pd.DataFrame) -> pd.DataFrame:
    """Return the table BY_TENANT, most pods first."""
    rows = evictions[evictions["preempted"].fillna(False)]
    names = rows[["tenant", "by_tenant"]].astype("object").where(rows[["tenant", "by_tenant"]].notna(), None)
    names.columns = pd.Index(["victim_tenant", "preemptor_tenant"])
    counted = names.groupby(["victim_tenant", "preemptor_tenant"], dropna=False, sort=True).size()
    frame = counted.rename("pods").reset_index().sort_values("pods", ascending=False, kind="stable")
    return BY_TENANT.conform(frame.reset_index(drop=True))


def reclaimed(evictions: pd.DataFrame) -> int:
    """Return how many preemptions made room for a workload of another tenant, of those with a known preemptor."""
    rows = evictions[evictions["preempted"].fillna(False) & evictions["by_tenant"].notna()]
    return int((rows["tenant"].astype("str") != rows["by_tenant"].astype("str")).sum())
