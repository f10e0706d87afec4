"""KPIs of scheduling except latencies: order, preemption, fairness, ramp, the API as submitters saw it, nodes lost."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from perfanalysis.files.documents import listing, mapping
from perfanalysis.workloads.kpis import Kpi, statistic_kpis
from perfanalysis.workloads.percentiles import Value, estimates
from perfanalysis.workloads.scale_test.devices import LEAK_AFTER_S, devices_in_use
from perfanalysis.workloads.scale_test.evictions import reclaimed
from perfanalysis.workloads.scale_test.fairness import jain, longest_wait_ratio, starved
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.milestones import ELSEWHERE, NO_DEVICES
from perfanalysis.workloads.scale_test.nodes import lost_nodes
from perfanalysis.workloads.scale_test.placements import NODE_LEVEL, at_smallest_level
from perfanalysis.workloads.scale_test.steps import pods_elsewhere

NOTHING = Value(None, "nothing was submitted or seen")
NO_EVICTION = "no pod was evicted in this recording"
NOTHING_RAN, NOTHING_SCHEDULED = "no workload ran", "no workload was scheduled"
NO_CONTENTION = "fewer than two tenants had work waiting at the same time"
NO_TOPOLOGY = "no gang was bound to nodes of a recorded topology with known capacity"


def _counted(count: Callable[[Measures], float]) -> Callable[[Measures], Value]:
    """Return a number that is known of every recording with any activity."""
    return lambda measures: Value(float(count(measures))) if measures.window else NOTHING


def _rescheduled(measures: Measures) -> Value:
    waits = measures.evictions["rescheduling_s"]
    if not len(waits):
        return Value(None, NO_EVICTION)
    return Value(float(waits.notna().mean()), count=len(waits))


def _rescheduling(statistic: str) -> Callable[[Measures], Value]:
    def function(measures: Measures) -> Value:
        if not len(measures.evictions):
            return Value(None, NO_EVICTION)
        waits = measures.evictions["rescheduling_s"].to_numpy(dtype=float)
        return estimates(waits, measures.method)[statistic]

    return function


def _inversions(measures: Measures) -> Value:
    table = measures.inversions
    if not len(table):
        return Value(None, _absent(measures, NOTHING_SCHEDULED))
    return Value(float(table["pairs"].sum()), count=int(table["workloads"].sum()))


def _overtaking(measures: Measures) -> Value:
    table = measures.inversions
    if not len(table):
        return Value(None, _absent(measures, NOTHING_SCHEDULED))
    number = int(table["workloads"].sum())
    return Value(float(table["overtaking"].sum()) / number, count=number)


def _jain(column: str) -> Callable[[Measures], Value]:
    def function(measures: Measures) -> Value:
        shares = measures.fairness[column].dropna().to_numpy(dtype=float)
        if len(shares) < 2:
            return Value(None, _absent(measures, NO_CONTENTION))
        index = jain(shares)
        return Value(
            index, None if index is not None else "no tenant held resources while others waited", count=len(shares)
        )

    return function


def _longest_wait(measures: Measures) -> Value:
    if measures.window is None:
        return NOTHING
    found = longest_wait_ratio(measures.workloads, measures.window.end)
    return Value(found[0], count=found[1]) if found else Value(None, "no two workloads of the same size waited")


def _absent(measures: Measures, otherwise: str) -> str:
    return ELSEWHERE if pods_elsewhere(measures.workloads) else otherwise


def _ramp_time(measures: Measures) -> Value:
    if measures.ramp is None or measures.window is None:
        return Value(None, _absent(measures, NOTHING_RAN))
    return Value(measures.ramp.steady_from - measures.window.start)


def _plateau(measures: Measures) -> Value:
    return Value(measures.ramp.plateau) if measures.ramp else Value(None, _absent(measures, NOTHING_RAN))


def _in_phase(phase: str, column: str, counted: str) -> Callable[[Measures], Value]:
    def function(measures: Measures) -> Value:
        rows = measures.phases[measures.phases["phase"] == phase]
        if not len(rows):
            return Value(None, _absent(measures, NOTHING_RAN))
        rate = rows[column].iloc[0]
        if pd.isna(rate):
            return Value(None, f"the {phase} had no duration")
        return Value(float(rate), count=int(rows[counted].iloc[0]))

    return function


def _api_errors(measures: Measures) -> Value:
    table = measures.answers
    number = int(table["count"].sum())
    if not number:
        return Value(None, "no submission was recorded")
    return Value(float(table["count"][table["outcome"] == "failed"].sum()) / number, count=number)


def _api_retries(measures: Measures) -> Value:
    tries, number = int(measures.answers["attempts"].sum()), int(measures.answers["count"].sum())
    return Value((tries - number) / tries, count=tries) if tries else Value(None, "no submission was recorded")


def _of_gangs(column: str) -> Callable[[Measures], Value]:
    """Return the mean of a column over all gangs, at the smallest declared level of the topology."""

    def function(measures: Measures) -> Value:
        values = at_smallest_level(measures.placements)[column].dropna().to_numpy(dtype=float)
        return Value(float(values.mean()), count=len(values)) if len(values) else Value(None, NO_TOPOLOGY)

    return function


def _best_placed(measures: Measures) -> Value:
    """Return the share of gangs without an excess at any declared level."""
    table = measures.placements
    known = table[(table["level"] != NODE_LEVEL) & table["excess"].notna()]
    worst = known.groupby("workload", observed=True)["excess"].max().to_numpy(dtype=float)
    return Value(float((worst <= 0).mean()), count=len(worst)) if len(worst) else Value(None, NO_TOPOLOGY)


def _gang_admission(statistic: str) -> Callable[[Measures], Value]:
    def function(measures: Measures) -> Value:
        waits = at_smallest_level(measures.placements)["admission_s"].dropna().to_numpy(dtype=float)
        return estimates(waits, measures.method)[statistic] if len(waits) else Value(None, NO_TOPOLOGY)

    return function


def _nodes_lost(measures: Measures) -> Value:
    absent = _not_watched(measures, "Node")
    if absent and not len(measures.node_changes):
        return Value(None, absent)
    return Value(float(len(lost_nodes(measures.node_changes))))


def _not_watched(measures: Measures, kind: str) -> str | None:
    """Return why objects of a kind were not watched; None if they were."""
    for entry in listing(measures.recording.get("not_watched")):
        if mapping(entry).get("kind") == kind:
            return f"could not watch objects of kind {kind}: {mapping(entry).get('reason')}"
    watched = {mapping(entry).get("kind") for entry in listing(measures.recording.get("resources"))}
    return None if kind in watched else f"objects of kind {kind} were not watched"


def _devices_in_use(measures: Measures) -> Value:
    if not len(measures.device_claims):
        return Value(None, NO_DEVICES)
    return Value(devices_in_use(measures.device_claims).maximum(), count=len(measures.device_claims))


def _claims_unused(measures: Measures) -> Value:
    claims = measures.device_claims
    if not len(claims):
        return Value(None, NO_DEVICES)
    return Value(float((claims["deleted_s"].notna() & claims["allocated_s"].isna()).sum()), count=len(claims))


def _claims_leaked(measures: Measures) -> Value:
    if not len(measures.device_claims):
        return Value(None, NO_DEVICES)
    judged = measures.device_claims["leaked"].dropna()
    if not len(judged):
        return Value(None, f"no workload with claims ended {LEAK_AFTER_S:g} s before the recording")
    return Value(float(judged.sum()), count=len(judged))


def _fragmentation(place: int) -> Callable[[Measures], Value]:
    """Return the mean (0) or the maximum (1)."""

    def function(measures: Measures) -> Value:
        if measures.window is None:
            return NOTHING
        if measures.free_gpus is None:
            return Value(None, "the GPUs of the nodes are unknown")
        found = measures.free_gpus.fragmentation(measures.window)
        return Value(found[place]) if found else Value(None, "no GPU was free")

    return function


GANG_ADMISSION = "admission by Kueue, else first pod bound \u2212 sent, of gangs, by the client's clock"
RESCHEDULING = "replacement scheduled \u2212 evicted, by the client's clock"


SCHEDULING_KPIS: tuple[Kpi[Measures], ...] = (
    Kpi(
        "start_inversions",
        "Pairs of similar workloads that were scheduled against the order of submission",
        "pairs",
        "lower",
        _inversions,
    ),
    Kpi(
        "overtaking_ratio",
        "Workloads scheduled before a similar one submitted earlier, of those scheduled",
        "ratio",
        "lower",
        _overtaking,
    ),
    Kpi(
        "evictions",
        "Evictions of pods, and of workloads that Kueue had admitted",
        "evictions",
        "lower",
        _counted(lambda measures: len(measures.evictions)),
    ),
    Kpi(
        "preemptions",
        "Of these, evictions that made room for another workload",
        "evictions",
        "neither",
        _counted(lambda measures: measures.evictions["preempted"].sum()),
    ),
    Kpi(
        "reclaims",
        "Of preemptions, those that made room for another tenant, if the event named the preemptor",
        "evictions",
        "neither",
        _counted(lambda measures: reclaimed(measures.evictions)),
    ),
    Kpi(
        "rescheduled_ratio",
        "Evicted pods whose replacement was scheduled, of those evicted",
        "ratio",
        "higher",
        _rescheduled,
    ),
    *statistic_kpis("rescheduling", RESCHEDULING, "lower", _rescheduling),
    Kpi(
        "fairness_jain",
        "Jain's index of what each tenant held on average while it and another waited",
        "ratio",
        "higher",
        _jain("mean_held"),
        "Fairness",
    ),
    Kpi(
        "fairness_jain_by_demand",
        "The same, each tenant's divided by its share of the requests",
        "ratio",
        "higher",
        _jain("per_demand"),
    ),
    Kpi(
        "longest_wait_ratio",
        "Longest wait until all pods were bound, divided by the median of workloads of the same size and priority",
        "times",
        "lower",
        _longest_wait,
    ),
    Kpi(
        "workloads_starved",
        "Workloads still waiting at the end while a smaller one of the same priority, submitted later, started",
        "workloads",
        "lower",
        _counted(lambda measures: starved(measures.workloads)),
    ),
    Kpi("ramp_time", "From the first submission until nine tenths of the plateau ran", "seconds", "lower", _ramp_time),
    Kpi(
        "plateau_running",
        "Workloads running that were not exceeded for nine tenths of the busy time",
        "workloads",
        "neither",
        _plateau,
    ),
    Kpi(
        "ramp_scheduling_rate",
        "Workloads fully scheduled per second of the ramp",
        "workloads/s",
        "higher",
        _in_phase("ramp", "scheduling_rate", "scheduled"),
    ),
    Kpi(
        "steady_scheduling_rate",
        "Workloads fully scheduled per second of the steady part",
        "workloads/s",
        "higher",
        _in_phase("steady", "scheduling_rate", "scheduled"),
    ),
    Kpi(
        "steady_completion_rate",
        "Workloads completed per second of the steady part",
        "workloads/s",
        "higher",
        _in_phase("steady", "completion_rate", "completed"),
    ),
    Kpi(
        "api_error_ratio",
        "Workloads whose last response was an error or missing, of those sent",
        "ratio",
        "lower",
        _api_errors,
    ),
    Kpi(
        "api_retry_ratio",
        "Requests that repeated an earlier one, of all sent for workloads",
        "ratio",
        "lower",
        _api_retries,
    ),
    Kpi(
        "workloads_churned",
        "Workloads that the test deleted to replace them",
        "workloads",
        "neither",
        _counted(lambda measures: measures.accounting.churned),
    ),
    Kpi(
        "placement_domains",
        "Domains of the smallest declared level of the topology in which a gang was bound, on average",
        "domains",
        "lower",
        _of_gangs("domains"),
        "Domains per gang",
    ),
    Kpi(
        "placement_excess",
        "Of these, domains beyond the fewest that could have held the gang at its admission, on average",
        "domains",
        "lower",
        _of_gangs("excess"),
    ),
    Kpi(
        "placement_best_ratio",
        "Gangs in the fewest possible domains of every declared level, of those with known capacity",
        "ratio",
        "higher",
        _best_placed,
    ),
    Kpi(
        "gangs_complete_ratio",
        "Gangs all of whose pods were bound at the same time, of those with a bound pod",
        "ratio",
        "higher",
        _of_gangs("complete"),
        "Gangs complete",
    ),
    *statistic_kpis(
        "gang_admission",
        GANG_ADMISSION,
        "lower",
        _gang_admission,
        {"p50": "Gang admission, median", "p99": "Gang admission, P99"},
        once=True,
    ),
    Kpi(
        "devices_in_use",
        "Most devices that claims held at the same time",
        "devices",
        "neither",
        _devices_in_use,
    ),
    Kpi(
        "claims_unused",
        "Claims that were deleted without an allocation, such as those made again for ended pods",
        "claims",
        "lower",
        _claims_unused,
    ),
    Kpi(
        "claims_leaked",
        f"Claims that held devices {LEAK_AFTER_S:g} s after their workload ended, or remained after its deletion",
        "claims",
        "lower",
        _claims_leaked,
    ),
    Kpi(
        "gpu_fragmentation",
        "1 \u2212 most free GPUs of a node, of the most that a node could have free; mean while GPUs were free",
        "ratio",
        "lower",
        _fragmentation(0),
        "Fragmentation",
    ),
    Kpi("gpu_fragmentation_max", "The same, its maximum", "ratio", "lower", _fragmentation(1)),
    Kpi("nodes_lost", "Nodes that became not ready or were removed while the test ran", "nodes", "lower", _nodes_lost),
)
