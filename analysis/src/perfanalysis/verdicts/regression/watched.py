"""Select the KPIs to judge, and how, if not all of them are judged in the same way.

Also read changes that a person accepted until a date, and orion's configs and acknowledgements.
"""

from __future__ import annotations

import datetime
import fnmatch
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from perfanalysis.drawing.wording import value_text
from perfanalysis.errors import UsageError
from perfanalysis.files.typed_yaml import load_each
from perfanalysis.imports.orion.config import (
    Located,
    Metric,
    chosen_test,
    kpi_name,
    read_config,
    read_template,
    read_variables,
)
from perfanalysis.results.history.documents import Entry
from perfanalysis.results.history.folder import load

Better = Literal["higher", "lower", "neither", "either"]
"""Which direction is better; `either`: a change in any direction is worse."""


@dataclass(frozen=True, slots=True)
class Watch:
    """KPIs to judge, and how; None: as the KPI declares, or as the options state."""

    kpi: str
    """A name as in the history; `*` matches any characters."""
    direction: Better | None = None
    margin: float | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Only in recordings whose keys or facts have these values; empty: in all."""
    confirmed_by: str | None = None
    """A change counts only if this KPI of the same recording changed too …"""
    within: int = 5
    """… at most so many runs away."""
    at: str = field(default="", compare=False)

    def fits(self, kpi: str, entry: Entry) -> bool:
        """Return whether it applies to that KPI of that recording."""
        return fnmatch.fnmatchcase(kpi, self.kpi) and all(
            entry.value(name) == value for name, value in self.keys.items()
        )


EVERYTHING = Watch("*")


def watch_of(watched: Sequence[Watch], kpi: str, entry: Entry) -> Watch | None:
    """Return the first match; None for a KPI that is not judged. If there are none at all, every KPI is judged as
    declared.
    """
    return next((watch for watch in watched or (EVERYTHING,) if watch.fits(kpi, entry)), None)


def unseen(watched: Sequence[Watch], current: Sequence[Entry]) -> tuple[str, ...]:
    """Return a sentence for each that matches no KPI of any recording."""
    return tuple(
        f"watched, but missing in all recordings: {watch.kpi}{keys_text(watch.keys)}"
        for watch in watched
        if not any(watch.fits(kpi, entry) for entry in current for kpi in entry.kpis)
    )


def keys_text(keys: Mapping[str, Any]) -> str:
    """Return ` (key value, …)`, or an empty text."""
    return f" ({', '.join(f'{name} {value_text(value)}' for name, value in keys.items())})" if keys else ""


def read_watched(path: Path) -> tuple[Watch, ...]:
    """Read a YAML list of `{kpi}` with optional direction, margin, keys, confirmed_by and within.

    Raises UsageError with file and line.
    """
    found = load_each(path, Watch)
    if not found:
        raise UsageError(f"{path} must be a list of entries, each with kpi")
    for watch in found:
        if watch.within < 0 or not 0 <= (watch.margin or 0) < 10:
            raise UsageError(f"{watch.at}: within must be a number of runs, and margin a share such as 5% or 0.05")
    return found


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """The change of *kpi* that began with *run* is accepted up to and including *expires* (None: without an end)."""

    kpi: str
    run: str
    expires: datetime.date | None
    reason: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Only of recordings with these keys; empty for all."""
    link: str = ""
    """Where readers find more, such as the URL of an issue."""

    def covers(self, kpi: str, firsts: Sequence[Entry]) -> bool:
        """Return whether it covers the change of *kpi* whose new level began with one of *firsts*."""
        return self.kpi == kpi and any(
            self.run == first.run and all(first.value(name) == value for name, value in self.keys.items())
            for first in firsts
        )

    @property
    def sentence(self) -> str:
        """Return a text such as `until 2027-01-31: audit log is on now (https://issues.example.com/7)`."""
        more = f" ({self.link})" if self.link else ""
        return f"{'without an end' if self.expires is None else f'until {self.expires}'}: {self.reason}{more}"


@dataclass(frozen=True)
class Acknowledged:
    """The valid entries of a file, and the expired ones."""

    valid: tuple[Acknowledgement, ...] = ()
    expired: tuple[Acknowledgement, ...] = ()

    def __add__(self, other: Acknowledged) -> Acknowledged:
        """Return the entries of two files."""
        return Acknowledged(self.valid + other.valid, self.expired + other.expired)

    def find(self, kpi: str, firsts: Sequence[Entry]) -> Acknowledgement | None:
        """Return the one that covers a change that began with one of *firsts*, or None."""
        return next((each for each in self.valid if each.covers(kpi, firsts)), None)


def read_acknowledged(path: Path, today: datetime.date) -> Acknowledged:
    """Read a YAML list of `{kpi, run, expires, reason}` with optional `keys` and `link`.

    Raises UsageError with file and line.
    """
    read = load_each(path, Acknowledgement)
    over = [entry for entry in read if entry.expires is not None and entry.expires < today]
    return Acknowledged(tuple(entry for entry in read if entry not in over), tuple(over))


CONDITIONS: Mapping[str, str] = {
    "PodScheduled": "pod_scheduled",
    "Initialized": "pod_initialized",
    "ContainersStarted": "pod_containers_started",
    "ContainersReady": "pod_containers_ready",
    "Ready": "reported_pod_ready",
}
"""The name of a quantile → the prefix of the KPIs of a kube-burner run that are its percentiles."""
ACKNOWLEDGED = frozenset(("uuid", "metric", "reason", "version", "test"))


@dataclass(frozen=True)
class Judged:
    """What to judge, and which parts of the config are not supported."""

    watched: tuple[Watch, ...] = ()
    notes: tuple[str, ...] = ()


def judged_by(config: Path | None, test: str | None, variables: str | None, folder: Path) -> Judged:
    """Return what a config requests of `regress` for the history in *folder*; empty without a config. Raises
    UsageError.
    """
    if config is None:
        return Judged()
    known = {name for entry in load(folder).entries() for name in entry.kpis}
    return read_judged(config, test, variables, known)


def read_judged(path: Path, test: str | None, variables: str | None, known: Collection[str] = ()) -> Judged:
    """Return the watched KPIs of a test of a config. `variables` is a JSON object, `known` are the KPIs of the history.

    A metric is the KPI named after its column (as by `import orion`) or, if only that is known, the KPI of a
    kube-burner run with the same meaning. Raises UsageError.
    """
    chosen = chosen_test(read_config(path, read_variables(variables)), test, path)
    judged = tuple(metric for metric in chosen.metrics if not metric.carried and not metric.not_done)
    notes = [f"{path}: {text}" for metric in chosen.metrics for text in metric.not_done]
    if chosen.metadata:
        names = ", ".join(sorted(chosen.metadata))
        notes.append(
            f"{path}: metadata ({names}) selects runs of orion's index; perfanalysis selects runs by the keys "
            "of the history"
        )
    if not judged:
        raise UsageError(f"{path}: the metrics of test {chosen.name} cannot be judged")
    kpis = {metric.column: _kpi(metric, known) for metric in chosen.metrics}
    return Judged(tuple(_watch_of_metric(metric, kpis) for metric in judged), tuple(notes))


def _kpi(metric: Metric, known: Collection[str]) -> str:
    own = kpi_name(metric.column)
    of_kube_burner = kube_burner_kpi(metric)
    return of_kube_burner if of_kube_burner in known and own not in known else own


def kube_burner_kpi(metric: Metric) -> str:
    """Return the KPI of a kube-burner run for a metric of quantile documents; empty for every other metric."""
    condition = metric.fields.get("quantileName", metric.fields.get("quantileName.keyword"))
    name = CONDITIONS.get(str(condition))
    if metric.metric_name != "podLatencyQuantilesMeasurement" or metric.aggregate is not None or name is None:
        return ""
    return f"{name}_{metric.of_interest.lower()}"


def _watch_of_metric(metric: Metric, kpis: Mapping[str, str]) -> Watch:
    return Watch(
        kpi=kpis[metric.column],
        direction=metric.better,
        margin=metric.threshold / 100,
        confirmed_by=None if metric.correlation is None else kpis[metric.correlation],
        within=metric.context,
    )


def read_orion_acknowledged(path: Path) -> Acknowledged:
    """Return orion's acknowledgements, which do not expire: `ack`, a list of `{uuid, metric, reason}`.

    A uuid is one run of one test and version, so `test` and `version` of an entry add nothing. Raises UsageError with
    file and line.
    """
    loaded = read_template(path, {})
    entries = loaded.get("ack") if isinstance(loaded, dict) else None
    if loaded is not None and not isinstance(entries, list):
        raise UsageError(f"{path}: it must be a mapping with ack, a list of entries with uuid, metric and reason")
    return Acknowledged(tuple(_acknowledgement(entry, path) for entry in entries or []))


def _acknowledgement(entry: object, path: Path) -> Acknowledgement:
    if not isinstance(entry, Located):
        raise UsageError(f"{path}: each entry of ack must be a mapping with uuid, metric and reason")
    unknown = ", ".join(sorted(entry.keys() - ACKNOWLEDGED))
    missing = ", ".join(sorted({"uuid", "metric"} - entry.keys()))
    if unknown or missing:
        raise UsageError(f"{path}:{entry.line}: {'unknown: ' + unknown if unknown else 'missing: ' + missing}")
    reason = str(entry.get("reason") or "no reason given")
    return Acknowledgement(kpi_name(str(entry["metric"])), str(entry["uuid"]), None, reason)
