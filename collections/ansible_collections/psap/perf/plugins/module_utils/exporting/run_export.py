"""The export of a run: its settings, the place of it, and no secret in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.exporting.index_page import Subject
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access, Keys, Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.sending import (
    Exported,
    Tell,
    Terms,
    export_directory,
    untold,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Look, Store
from ansible_collections.psap.perf.plugins.module_utils.exporting.tags import object_tags
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import credentials_of_environment, scan_directory

PREFIX = "export_"
# of run.json, which says it of the run and not of what was exported
FACT = "export"


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """The settings ``export_…``.

    :param to: ``s3://BUCKET/PREFIX``; empty for no export.
    :param credentials: a reference to a secret; empty for what boto3 finds.
    """

    to: str = ""
    endpoint: str = ""
    region: str = ""
    authority: str = ""
    credentials: str = ""
    acl: str = ""
    retention: str = ""
    tags: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ExportSettings:
        """From settings by their names; what is not there is at its default."""
        known = {name: values.get(f"{PREFIX}{name}") for name in cls.__dataclass_fields__}
        return cls(**{name: value for name, value in known.items() if value is not None})

    def place(self, *names: str) -> Place:
        """Where something called by the last of *names* goes, in folders called by those before.

        :raises UsageError: ``to`` is no place.
        """
        return Place.parse(self.to).below(*names)

    def access(self, resolve: Callable[[str], str]) -> Access:
        """How the store is reached.

        :param resolve: the value of a reference to a secret.
        :raises UsageError: there is no such secret, or it is none of a store.
        """
        keys = Keys.parse(resolve(self.credentials)) if self.credentials else None
        return Access(self.endpoint, self.region, self.authority, keys)

    def terms(self) -> Terms:
        """How objects are written.

        :raises UsageError: a tag that a store would refuse, or a retention that is not a duration.
        """
        return Terms(Look(self.acl, object_tags(self.retention, self.tags)), self.retention)


def refuse_leaks(directory: Path, values: Iterable[str]) -> None:
    """Refuse to let out a directory in which a secret stands.

    :raises PerfError: with the places.
    """
    hits = scan_directory(directory, [*values, *credentials_of_environment()])
    if hits:
        places = ", ".join(sorted({f"{hit.path.relative_to(directory)}:{hit.line}" for hit in hits})[:5])
        raise PerfError(f"plain-text secret found in the run directory: {places}; remove it before you share the run")


def subject_of(document: Mapping[str, Any], name: str) -> Subject:
    """What the index page says of a run, by its ``run.json``."""
    reason = document.get("reason") or {}
    lines = [str(reason.get(key) or "") for key in ("what", "why", "where")]
    # of a run of former days it is a name
    cluster, lab = (each if isinstance(each, Mapping) else {} for each in map(document.get, ("cluster", "lab")))
    facts = {
        "began": document.get("started"),
        "ended": document.get("ended"),
        "flow": document.get("flow"),
        "presets": ", ".join(document.get("presets") or ()),
        "site": document.get("site"),
        "cluster": cluster.get("version"),
        "simulated": ", ".join(map(str, lab.get("simulated") or ())),
    }
    texts = {key: str(value) for key, value in facts.items() if value}
    return Subject(
        name=name,
        flow=str(document.get("flow") or ""),
        status=str(document.get("status") or ""),
        facts=texts,
        reason="\n".join(filter(None, lines)),
    )


def export_run(
    run: Path,
    document: Mapping[str, Any],
    place: Place,
    access: Access,
    terms: Terms,
    secrets: Iterable[str],
    check: Callable[[], None] = lambda: None,
    tell: Tell = untold,
    whole: bool = True,
) -> Exported:
    """Export a run, unless a secret stands in it.

    :param document: its ``run.json``, as it is to be in the export.
    :param secrets: the values of those that the run used.
    :param whole: as for :func:`export_directory`.
    :raises PerfError: a secret stands in it, or the store cannot be reached, refuses, or damages what it gets.
    """
    mine = tuple(access.keys.secrets()) if access.keys else ()
    refuse_leaks(run, (*secrets, *mine))
    subject = subject_of(document, place.name)
    with Store(access, place.bucket) as store:
        return export_directory(run, subject, store, place, terms, {RUN_FILE: document}, check, tell, whole)


def told(exported: Exported | None, place: str, at: str, error: Exception | None = None) -> dict[str, Any]:
    """What ``run.json`` says of an export: ``status`` is ``ok`` or ``failed``, and ``why`` it failed."""
    if exported is None:
        return {"status": "failed", "to": place, "at": at, "why": str(error)}
    manifest = exported.manifest
    return {
        "status": "ok",
        "to": place,
        "at": manifest.exported,
        "files": len(manifest.files),
        "bytes": manifest.size,
        "expires": manifest.expires,
    }
