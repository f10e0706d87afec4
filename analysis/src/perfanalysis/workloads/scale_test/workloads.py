"""The table of workloads: when each of them reached each milestone, on the client's clock and on the server's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from perfanalysis.workloads.scale_test.milestones import (
    BESIDE,
    BETWEEN,
    BY_NAME,
    MILESTONES,
    POD_AS_WORKLOAD,
    UNRELATED,
    WORKLOADS,
    Milestone,
    Origin,
)
from perfanalysis.workloads.scale_test.naming import several_namespaces, tenants, workload_keys
from perfanalysis.workloads.scale_test.reached import Rows, Stream, Times, nothing, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfanalysis.workloads.scale_test.tables import ScaleTestTables

CLAIM_WORDS = {"provisioning": "created", "created": "created", "bound": "bound"}
"""The scale-test-tool knew the begin of a volume claim by another word."""
ROLES = ("workload", "intermediate", "pods", *BESIDE.values(), "nothing")
PARTS = ("s", "server_s", "resolution_s")


@dataclass(frozen=True)
class _Reached:
    """What reached milestones, by origin, and how many objects make one that all must reach."""

    streams: dict[Origin, Stream]
    needed: dict[Origin, NDArray[np.float64]]


def workloads_table(tables: ScaleTestTables) -> pd.DataFrame:
    """The table WORKLOADS, sorted once by the time of submission (of creation when only watched)."""
    several = several_namespaces(tables)
    keys = workload_keys(tables.submissions, "name", several=several)
    submissions = tables.submissions.assign(workload=keys).drop_duplicates("workload", keep="last")
    seen = workload_keys(tables.transitions, "workload", several=several)
    index = pd.Index(submissions["workload"].astype("str")).union(
        pd.Index(seen.cat.remove_unused_categories().cat.categories.astype("str")), sort=False
    )
    base = submissions.set_index(submissions["workload"].astype("str")).reindex(index)
    place = _places(seen, index)
    roles = _roles(tables.transitions, place, base)
    reached = _reached(tables, seen, place, roles, base, index, several=several)
    namespace = _filled(base["namespace"], tables.transitions["namespace"], place, place >= 0)
    sent, created = (_times_of(BY_NAME[name], base, reached)[0] for name in ("sent", "created"))
    order = np.argsort(np.where(np.isfinite(sent), sent, created), kind="stable")
    kind = _filled(base["kind"], tables.transitions["kind"], place, roles == ROLES.index("workload"))
    columns: dict[str, Any] = {
        "workload": pd.Categorical(index)[order],
        "kind": kind.array[order],
        "namespace": namespace.array[order],
        "queue": base["queue"].array[order],
        "tenant": tenants(base["queue"].reset_index(drop=True), namespace).array[order],
        "gpus": base["gpus"].to_numpy(dtype=float)[order],
        "pods": reached.needed["all pods"][order],
        "outcome": base["outcome"].array[order],
    }
    columns |= {name: base[name].array[order] for name in ("priority", "round", "submitter")}
    for milestone in MILESTONES:
        times = _times_of(milestone, base, reached)
        # what nobody reached is one array for all such milestones: sorted, each would be a large copy
        placed = times if times is nothing(len(base)) else tuple(values[order] for values in times)
        columns |= {f"{milestone.name}_{part}": values for part, values in zip(PARTS, placed, strict=True)}
    return WORKLOADS.conform(pd.DataFrame(columns | _released(columns), copy=False))


def _places(names: pd.Series[Any], index: pd.Index[Any]) -> NDArray[np.int32]:
    """The place of each named workload in the index; -1 for none."""
    known = np.append(index.get_indexer(names.cat.categories.astype("str")), -1).astype(np.int32)
    return np.asarray(known[names.cat.codes])


def _roles(transitions: pd.DataFrame, place: NDArray[np.int32], base: pd.DataFrame) -> NDArray[np.int8]:
    """What each row's object is to its workload, as a place in ROLES.

    A workload's own kind is that of its submission. Of one that was only watched, it is the kind seen first, but not
    one that other kinds are known to make.
    """
    kinds = transitions["kind"].cat
    codes = kinds.codes.to_numpy()
    own = np.append(kinds.categories.get_indexer(pd.Index(base["kind"].astype("object"))), -1)
    of_kind = [ROLES.index(_role(str(kind))) for kind in kinds.categories]
    roles = np.array([*of_kind, ROLES.index("nothing")], dtype=np.int8)[codes]
    watched = np.append(base["kind"].isna().to_numpy(), False)
    likely = np.flatnonzero((roles == ROLES.index("intermediate")) & watched[place])
    last = np.append(kinds.categories.isin(BETWEEN), False)[codes[likely]]
    order = np.lexsort((transitions["seen_s"].to_numpy()[likely], last))
    places, first = np.unique(place[likely[order]], return_index=True)
    own[places] = codes[likely[order][first]]
    mine = (own[place] == codes) & (roles != ROLES.index("pods")) & (place >= 0)
    roles[mine] = ROLES.index("workload")
    return roles


def _role(kind: str) -> str:
    if kind in UNRELATED:
        return "nothing"
    return "pods" if kind == "Pod" else BESIDE.get(kind, "intermediate")


def _reached(
    tables: ScaleTestTables,
    names: pd.Series[Any],
    place: NDArray[np.int32],
    roles: NDArray[np.int8],
    base: pd.DataFrame,
    index: pd.Index[Any],
    *,
    several: bool,
) -> _Reached:
    transitions = tables.transitions

    def of(*parts: Rows) -> Stream:
        return stream(transitions, place, parts, word="transition", of="uid")

    def role(name: str) -> NDArray[np.bool_]:
        return np.asarray(roles == ROLES.index(name))

    pods, claims = of(Rows(role("pods"))), of(Rows(role("claims"), CLAIM_WORDS))
    alone = role("pods") & _bears_its_workloads_name(transitions["name"], names)
    others: tuple[Origin, ...] = ("queue", "intermediate", "pod group")
    streams: dict[Origin, Stream] = {
        # a pod that bears its workload's name is that workload
        "workload": of(Rows(role("workload")), Rows(alone, POD_AS_WORKLOAD)),
        "first pod": pods,
        "all pods": pods,
        "claims": claims,
        "scheduler": _bindings(tables.events, index, several=several),
        **{origin: of(Rows(role(origin))) for origin in others},
    }
    asked = base["pods"].to_numpy(dtype=float)
    needed = np.where(np.isfinite(asked) & (asked > 0), asked, pods.objects("created", len(base)))
    of_claims = claims.objects("created", len(base))
    return _Reached(streams, {"all pods": needed, "scheduler": needed, "claims": of_claims})


def _bears_its_workloads_name(names: pd.Series[Any], workloads: pd.Series[Any]) -> NDArray[np.bool_]:
    """Compared once for each name, not once for each row."""
    bare = pd.Index([str(name).rpartition("/")[2] for name in workloads.cat.categories], dtype="object")
    expected = np.append(pd.Index(names.cat.categories.astype("object")).get_indexer(bare), -2)
    return np.asarray(expected[workloads.cat.codes] == names.cat.codes.to_numpy())


def _bindings(events: pd.DataFrame, index: pd.Index[Any], *, several: bool) -> Stream:
    """The scheduler's events of pods bound, at the event's own time: it has microseconds, its arrival has not."""
    bound = ((events["reason"] == "Scheduled") & (events["kind"] == "Pod")).to_numpy()
    place = _places(workload_keys(events, "workload", several=several), index)
    timed = events[["reason", "name", "server_s", "resolution_s"]].assign(seen_s=events["server_s"])
    return stream(timed, place, (Rows(bound),), word="reason", of="name")


def _filled(
    submitted: pd.Series[Any], seen: pd.Series[Any], place: NDArray[np.int32], chosen: NDArray[np.bool_]
) -> pd.Series[Any]:
    """A column of the submission; of workloads that were only watched, the first that was seen of them."""
    values = submitted.astype("object").reset_index(drop=True)
    missing = np.append(values.isna().to_numpy(), False)
    rows = np.flatnonzero(chosen & missing[place])
    places, first = np.unique(place[rows], return_index=True)
    values.iloc[places] = seen.iloc[rows[first]].astype("object").to_numpy()
    return values


def _times_of(milestone: Milestone, base: pd.DataFrame, reached: _Reached) -> Times:
    count = len(base)
    if milestone.origin == "client":
        return base[milestone.transition].to_numpy(dtype=float), *nothing(count)[1:]
    found = reached.streams[milestone.origin]
    if milestone.origin in reached.needed and milestone.name != "pvc_created":
        return found.last_needed(milestone.transition, reached.needed[milestone.origin])
    return found.first(milestone.transition, count)


def _released(columns: dict[str, Any]) -> dict[str, NDArray[np.float64]]:
    """When the queue let go of a workload that it held: the start of one that was suspended, else its admission."""
    suspended, started = columns["suspended_s"], columns["started_s"]
    waited = np.isfinite(suspended) & ~(started < suspended)
    queued = np.isfinite(columns["queued_s"])
    return {
        f"released_{part}": np.where(
            waited, columns[f"started_{part}"], np.where(queued, columns[f"admitted_{part}"], np.nan)
        )
        for part in PARTS
    }
