"""One row per workload: the time of every milestone, from transitions and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.workloads.scale_test.devices import unused_claims
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
from perfanalysis.workloads.scale_test.tables import ScaleTestTables, several_namespaces, tenants, workload_keys

Times = tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.float64]"]
"""Seen on the client's clock, the server's timestamp, the timestamp's resolution."""


@dataclass(frozen=True)
class Stream:
    """Rows in the order of time: the index of the workload, the object, the word (as a code), and the times.

    Large recordings have a million rows: each array is created once and never copied.
    """

    place: NDArray[np.int32]
    object: NDArray[np.int32]
    word: NDArray[np.int16]
    row: NDArray[np.intp]
    words: Mapping[str, int]
    times: Times

    def first(self, word: str, count: int) -> Times:
        """Return the first time of a word, for each of `count` workloads; NaN if it has none."""
        chosen = self._of(word)
        places, first = np.unique(self.place[chosen], return_index=True)
        return self._spread(places, chosen[first], count)

    def last_needed(self, word: str, needed: NDArray[np.float64]) -> Times:
        """Return when as many objects as needed had reached a word, each counted once, at its first time."""
        chosen = self._once_each(word)
        places = self.place[chosen]
        by_place = np.argsort(places, kind="stable")
        ordered = places[by_place]
        rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, side="left")
        hit = rank == needed[ordered] - 1
        return self._spread(ordered[hit], chosen[by_place[hit]], len(needed))

    def objects(self, word: str, count: int) -> NDArray[np.float64]:
        """Return how many objects reached a word, for each workload; NaN if none did."""
        seen = np.bincount(self.place[self._once_each(word)], minlength=count).astype(float)
        return np.where(seen > 0, seen, np.nan)

    def _of(self, word: str) -> NDArray[Any]:
        return np.flatnonzero(self.word == self.words.get(word, -2))

    def _once_each(self, word: str) -> NDArray[Any]:
        chosen = self._of(word)
        return chosen[np.sort(np.unique(self.object[chosen], return_index=True)[1])]

    def _spread(self, places: NDArray[Any], chosen: NDArray[Any], count: int) -> Times:
        if not len(chosen):
            return nothing(count)
        seen, server, resolution = (np.full(count, np.nan) for _ in range(3))
        for values, given in zip((seen, server, resolution), self.times, strict=True):
            values[places] = given[self.row[chosen]]
        return seen, server, resolution


@lru_cache(maxsize=1)
def nothing(count: int) -> Times:
    """Return the column of a milestone that no workload reached: one shared, read-only array."""
    missing = np.full(count, np.nan)
    missing.setflags(write=False)
    return missing, missing, missing


@dataclass(frozen=True)
class Rows:
    """Some rows of a table, and the milestones' names for some of their words (all, if none are given)."""

    rows: NDArray[np.bool_]
    names: Mapping[str, str] | None = None


def stream(frame: pd.DataFrame, place: NDArray[np.int32], parts: Sequence[Rows], *, word: str, of: str) -> Stream:
    """Join the parts of a table. `word` and `of` are the columns of the word and the object's identity."""
    words = frame[word].cat
    known = {str(name): code for code, name in enumerate(words.categories)}
    given = dict.fromkeys(name for part in parts for name in (part.names or {}).values() if name not in known)
    # milestones whose names occur in no row have codes after those of the rows
    every = {**known, **{name: len(known) + new for new, name in enumerate(given)}}
    codes = words.codes.to_numpy()
    rows, spoken = [], []
    for part in parts:
        chosen = np.flatnonzero(part.rows & (place >= 0))
        renamed = [_renamed(str(name), part.names, every) for name in words.categories]
        rows.append(chosen)
        # the last code means rows without a word
        spoken.append(np.array([*renamed, -1], dtype=np.int16)[codes[chosen]])
    row = np.concatenate(rows)
    times: Any = tuple(frame[name].to_numpy(dtype=float) for name in ("seen_s", "server_s", "resolution_s"))
    order = np.argsort(times[0][row], kind="stable")
    row = row[order]
    identity = frame[of].cat.codes.to_numpy()[row].astype(np.int32)
    return Stream(place[row], identity, np.concatenate(spoken)[order], row, every, times)


def _renamed(name: str, names: Mapping[str, str] | None, every: Mapping[str, int]) -> int:
    meant = name if names is None else names.get(name)
    return -1 if meant is None else every[meant]


CLAIM_WORDS = {"provisioning": "created", "created": "created", "bound": "bound"}
"""The scale-test-tool's words for the states of a volume claim, and the names of these states here."""
ROLES = ("workload", "intermediate", "pods", *BESIDE.values(), "nothing")
PARTS = ("s", "server_s", "resolution_s")


@dataclass(frozen=True)
class _Streams:
    """Transitions by the origin of their milestones, and how many objects must reach each."""

    streams: dict[Origin, Stream]
    needed: dict[Origin, NDArray[np.float64]]


def workloads_table(tables: ScaleTestTables) -> pd.DataFrame:
    """Return the table WORKLOADS, sorted by the time of submission (of creation if only watched)."""
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
    reached = _milestone_streams(tables, seen, place, roles, base, index, several=several)
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
    columns["cluster"] = _clusters(tables.transitions, place, len(base))[order]
    for milestone in MILESTONES:
        times = _times_of(milestone, base, reached)
        # milestones that no workload reached share one array: sorted, each would be a large copy
        placed = times if times is nothing(len(base)) else tuple(values[order] for values in times)
        columns |= {f"{milestone.name}_{part}": values for part, values in zip(PARTS, placed, strict=True)}
    return WORKLOADS.conform(pd.DataFrame(columns | _released(columns), copy=False))


def _places(names: pd.Series[Any], index: pd.Index[Any]) -> NDArray[np.int32]:
    """Return the index of each named workload; -1 for none."""
    known = np.append(index.get_indexer(names.cat.categories.astype("str")), -1).astype(np.int32)
    return np.asarray(known[names.cat.codes])


def _roles(transitions: pd.DataFrame, place: NDArray[np.int32], base: pd.DataFrame) -> NDArray[np.int8]:
    """Return the role of each row's object for its workload, as an index of ROLES.

    A workload's kind is the submitted kind. For one that was only watched, it is the kind seen first, except
    kinds that other kinds are known to create.
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


def _milestone_streams(
    tables: ScaleTestTables,
    names: pd.Series[Any],
    place: NDArray[np.int32],
    roles: NDArray[np.int8],
    base: pd.DataFrame,
    index: pd.Index[Any],
    *,
    several: bool,
) -> _Streams:
    transitions = tables.transitions

    def of(*parts: Rows) -> Stream:
        return stream(transitions, place, parts, word="transition", of="uid")

    def role(name: str) -> NDArray[np.bool_]:
        return np.asarray(roles == ROLES.index(name))

    pods, claims = of(Rows(role("pods"))), of(Rows(role("claims"), CLAIM_WORDS))
    devices = of(Rows(role("device claims") & ~unused_claims(transitions)))
    alone = role("pods") & _bears_its_workloads_name(transitions["name"], names)
    others: tuple[Origin, ...] = ("queue", "intermediate", "pod group")
    streams: dict[Origin, Stream] = {
        # a pod with its workload's name is that workload
        "workload": of(Rows(role("workload")), Rows(alone, POD_AS_WORKLOAD)),
        "first pod": pods,
        "all pods": pods,
        "claims": claims,
        "device claims": devices,
        "scheduler": _bindings(tables.events, index, several=several),
        **{origin: of(Rows(role(origin))) for origin in others},
    }
    asked = base["pods"].to_numpy(dtype=float)
    needed = np.where(np.isfinite(asked) & (asked > 0), asked, pods.objects("created", len(base)))
    made: dict[Origin, NDArray[np.float64]] = {
        "claims": claims.objects("created", len(base)),
        "device claims": devices.objects("created", len(base)),
    }
    return _Streams(streams, {"all pods": needed, "scheduler": needed, **made})


def _bears_its_workloads_name(names: pd.Series[Any], workloads: pd.Series[Any]) -> NDArray[np.bool_]:
    """Compare once for each name, not once for each row."""
    bare = pd.Index([str(name).rpartition("/")[2] for name in workloads.cat.categories], dtype="object")
    expected = np.append(pd.Index(names.cat.categories.astype("object")).get_indexer(bare), -2)
    return np.asarray(expected[workloads.cat.codes] == names.cat.codes.to_numpy())


def _bindings(events: pd.DataFrame, index: pd.Index[Any], *, several: bool) -> Stream:
    """Return the scheduler's events of bound pods, at the event's own time: it has microseconds, unlike its arrival."""
    bound = ((events["reason"] == "Scheduled") & (events["kind"] == "Pod")).to_numpy()
    place = _places(workload_keys(events, "workload", several=several), index)
    timed = events[["reason", "name", "server_s", "resolution_s"]].assign(seen_s=events["server_s"])
    return stream(timed, place, (Rows(bound),), word="reason", of="name")


def _clusters(transitions: pd.DataFrame, place: NDArray[np.int32], count: int) -> NDArray[np.object_]:
    """Return the cluster to which each workload was dispatched last; None without one."""
    found = np.full(count, None, dtype=object)
    rows = np.flatnonzero(transitions["cluster"].notna().to_numpy() & (place >= 0))
    rows = rows[np.argsort(transitions["seen_s"].to_numpy()[rows], kind="stable")]
    # of several rows of a workload, the last assignment remains
    found[place[rows]] = transitions["cluster"].iloc[rows].astype("object").to_numpy()
    return found


def _filled(
    submitted: pd.Series[Any], seen: pd.Series[Any], place: NDArray[np.int32], chosen: NDArray[np.bool_]
) -> pd.Series[Any]:
    """Return a column of the submission; for workloads that were only watched, the first observed value."""
    values = submitted.astype("object").reset_index(drop=True)
    missing = np.append(values.isna().to_numpy(), False)
    rows = np.flatnonzero(chosen & missing[place])
    places, first = np.unique(place[rows], return_index=True)
    values.iloc[places] = seen.iloc[rows[first]].astype("object").to_numpy()
    return values


def _times_of(milestone: Milestone, base: pd.DataFrame, reached: _Streams) -> Times:
    count = len(base)
    if milestone.origin == "client":
        return base[milestone.transition].to_numpy(dtype=float), *nothing(count)[1:]
    found = reached.streams[milestone.origin]
    if milestone.origin in reached.needed and milestone.name != "pvc_created":
        return found.last_needed(milestone.transition, reached.needed[milestone.origin])
    return found.first(milestone.transition, count)


def _released(columns: dict[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Return when the queue released a workload: the start of a suspended one, else its admission."""
    suspended, started = columns["suspended_s"], columns["started_s"]
    waited = np.isfinite(suspended) & ~(started < suspended)
    queued = np.isfinite(columns["queued_s"])
    return {
        f"released_{part}": np.where(
            waited, columns[f"started_{part}"], np.where(queued, columns[f"admitted_{part}"], np.nan)
        )
        for part in PARTS
    }
