"""Whether the history already has a run with the facts of this one, so that there is nothing to measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run
from perfanalysis.errors import AnalysisError, did_you_mean
from perfanalysis.files.documents import Document, listing, mapping
from perfanalysis.results.payload import facts_of
from perfanalysis.workloads.kinds import shipped
from perfanalysis.workloads.labels import key_settings
from perfdrv.errors import DriverError, UsageError

from perfci.judging.settings import HistorySettings
from perfci.judging.sources import source_of

ERRORS = (AnalysisError, PerfError, DriverError, OSError)


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a run has to measure.

    Attributes:
        measured_by: An earlier run with the same facts, or an empty text.
        why: A sentence about it.
    """

    facts: Mapping[str, Any]
    measured_by: str
    why: str

    def document(self) -> dict[str, Any]:
        """Return the field of run.json."""
        return {"facts": dict(self.facts), "measured_by": self.measured_by or None, "why": self.why}


def find_measured(directory: Path, names: Sequence[str]) -> Answer:
    """Return whether the history of a run's settings has an earlier run with the same values of these facts.

    Raises:
        UsageError: The run has no such fact, or the history does not store it.
        AnalysisError: The history cannot be read.
        PerfError: The same, for a history in S3.
    """
    run = shipped().discover(directory)
    keys = {name: value if isinstance(value, list) else [value] for name, value in key_settings(run).items()}
    source = source_of(HistorySettings.of(values_of_run(directory)))
    # without what the history does not store, such as the name of a site
    facts = mapping(source.shown({"facts": {**facts_of(run), **keys}}).get("facts"))
    wanted = {full: facts[full] for full in (_full_name(name, facts) for name in names)}
    shown = ", ".join(f"{name} {_text(value)}" for name, value in wanted.items())
    history = source.pull(str(run.document.get("flow")))
    for document in reversed(history.documents):
        if document.get("status") == "ok" and document["run"] != run.id and _has(document, wanted, keys):
            why = f"nothing is new: {document['run']} of the history measured {shown}"
            return Answer(wanted, str(document["run"]), why)
    return Answer(wanted, "", f"the history has no run with {shown}")


def _text(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)


def _full_name(name: str, facts: Mapping[str, Any]) -> str:
    """Return the name of a fact: *name* itself, or with the prefix or suffix that it has in a history."""
    full = (name, f"setting.{name}", f"{name}.version", f"version.{name}", f"cluster.{name}")
    found = next((each for each in full if each in facts), None)
    if found is None:
        hint = did_you_mean(name, (each.removeprefix("setting.") for each in facts))
        raise UsageError(f"run_only_if_new: a run of this history has no fact {name}{f'; {hint}' if hint else ''}")
    return found


def _has(document: Document, wanted: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    """Return whether a run has the wanted values; a key of a matrix has one value in each recording."""
    facts, recordings = mapping(document.get("facts")), list(map(mapping, listing(document.get("recordings"))))
    for name, value in wanted.items():
        known = [mapping(each.get("keys")).get(name) for each in recordings] if name in keys else []
        if not (all(one in known for one in value) if name in keys else facts.get(name) == value):
            return False
    return bool(recordings)
