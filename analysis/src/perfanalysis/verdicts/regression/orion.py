"""What an orion config and orion's acknowledgements say to `regress`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from perfanalysis.errors import UsageError
from perfanalysis.imports.orion.config import chosen_test, read_config
from perfanalysis.imports.orion.metrics import Metric, kpi_name
from perfanalysis.imports.orion.template import Located, read_template, read_variables
from perfanalysis.results.history.folder import load
from perfanalysis.verdicts.regression.acknowledged import Acknowledged, Acknowledgement
from perfanalysis.verdicts.regression.watched import Watch

CONDITIONS: Mapping[str, str] = {
    "PodScheduled": "pod_scheduled",
    "Initialized": "pod_initialized",
    "ContainersStarted": "pod_containers_started",
    "ContainersReady": "pod_containers_ready",
    "Ready": "reported_pod_ready",
}
"""The name of a quantile → how the KPIs of a kube-burner run that are its percentiles begin."""
ACKNOWLEDGED = frozenset(("uuid", "metric", "reason", "version", "test"))


@dataclass(frozen=True)
class Judged:
    """What is to be judged, and what of the config has no counterpart here."""

    watched: tuple[Watch, ...] = ()
    notes: tuple[str, ...] = ()


def judged_by(config: Path | None, test: str | None, variables: str | None, folder: Path) -> Judged:
    """What a config says to `regress` on the history in *folder*; nothing without a config. Raises UsageError."""
    if config is None:
        return Judged()
    known = {name for entry in load(folder).entries() for name in entry.kpis}
    return read_judged(config, test, variables, known)


def read_judged(path: Path, test: str | None, variables: str | None, known: Collection[str] = ()) -> Judged:
    """The watched KPIs of a test of a config. `variables` is a JSON object, `known` are the KPIs of the history.

    A metric is the KPI named like its column (what `import orion` makes), or, where only that is known, the KPI of a
    kube-burner run that is the same number. Raises UsageError.
    """
    chosen = chosen_test(read_config(path, read_variables(variables)), test, path)
    judged = tuple(metric for metric in chosen.metrics if not metric.carried and not metric.not_done)
    notes = [f"{path}: {text}" for metric in chosen.metrics for text in metric.not_done]
    if chosen.metadata:
        names = ", ".join(sorted(chosen.metadata))
        notes.append(
            f"{path}: metadata ({names}) chooses runs of orion's index; here runs are chosen by the keys of the history"
        )
    if not judged:
        raise UsageError(f"{path}: test {chosen.name} has no metric that can be judged")
    kpis = {metric.column: _kpi(metric, known) for metric in chosen.metrics}
    return Judged(tuple(_watch(metric, kpis) for metric in judged), tuple(notes))


def _kpi(metric: Metric, known: Collection[str]) -> str:
    own = kpi_name(metric.column)
    of_kube_burner = kube_burner_kpi(metric)
    return of_kube_burner if of_kube_burner in known and own not in known else own


def kube_burner_kpi(metric: Metric) -> str:
    """The KPI of a kube-burner run that a metric of quantile documents is; empty for every other metric."""
    condition = metric.fields.get("quantileName", metric.fields.get("quantileName.keyword"))
    name = CONDITIONS.get(str(condition))
    if metric.metric_name != "podLatencyQuantilesMeasurement" or metric.aggregate is not None or name is None:
        return ""
    return f"{name}_{metric.of_interest.lower()}"


def _watch(metric: Metric, kpis: Mapping[str, str]) -> Watch:
    return Watch(
        kpi=kpis[metric.column],
        direction=metric.better,
        margin=metric.threshold / 100,
        confirmed_by=None if metric.correlation is None else kpis[metric.correlation],
        within=metric.context,
    )


def read_orion_acknowledged(path: Path) -> Acknowledged:
    """orion's acknowledgements, which have no end: `ack`, a list of `{uuid, metric, reason}`.

    A uuid is one run of one test and version, so `test` and `version` of an entry add nothing. Raises UsageError naming
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
    return Acknowledgement(kpi_name(str(entry["metric"])), str(entry["uuid"]), {}, None, reason)
