"""The export of a run: its settings, its place, and the check for secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.exporting.index_page import Subject
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access, Keys, Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.sending import (
    ExportResult,
    Progress,
    Terms,
    export_directory,
    no_progress,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import ObjectOptions, Store
from ansible_collections.psap.perf.plugins.module_utils.exporting.tags import object_tags
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import credentials_of_environment, scan_directory

PREFIX = "export_"
# field of run.json with the result of the export; the exported run.json does not contain it
FACT = "export"


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """The ``export_…`` settings.

    Attributes:
        to: ``s3://BUCKET/PREFIX``; empty for no export.
        credentials: A reference to a secret; empty for the credentials that boto3 finds.
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
        """Return the values of settings by their names; missing ones have their defaults."""
        known = {name: values.get(f"{PREFIX}{name}") for name in cls.__dataclass_fields__}
        return cls(**{name: value for name, value in known.items() if value is not None})

    def place(self, *names: str) -> Place:
        """Return the place for an export whose name is the last of *names*, in folders named by the others.

        Raises:
            UsageError: If ``to`` is not a place.
        """
        return Place.parse(self.to).below(*names)

    def access(self, resolve: Callable[[str], str]) -> Access:
        """Return the access to the store.

        Args:
            resolve: Returns the value of a reference to a secret.

        Raises:
            UsageError: If the secret is missing, or is not a credentials file.
        """
        keys = Keys.parse(resolve(self.credentials)) if self.credentials else None
        return Access(self.endpoint, self.region, self.authority, keys)

    def terms(self) -> Terms:
        """Return the options for writing objects.

        Raises:
            UsageError: If a store would refuse a tag, or the retention is not a duration.
        """
        return Terms(ObjectOptions(self.acl, object_tags(self.retention, self.tags)), self.retention)


def refuse_leaks(directory: Path, values: Iterable[str]) -> None:
    """Refuse to export a directory that contains a secret.

    Raises:
        PerfError: If a secret is found; the message lists the places.
    """
    hits = scan_directory(directory, [*values, *credentials_of_environment()])
    if hits:
        places = ", ".join(sorted({f"{hit.path.relative_to(directory)}:{hit.line}" for hit in hits})[:5])
        raise PerfError(f"plain-text secret found in the run directory: {places}; remove it before you share the run")


def subject_of(document: Mapping[str, Any], name: str) -> Subject:
    """Return a run's description for the index page, from its ``run.json``."""
    reason = document.get("reason") or {}
    lines = [str(reason.get(key) or "") for key in ("what", "why", "where")]
    # in earlier runs it is a name
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
    progress: Progress = no_progress,
    whole: bool = True,
) -> ExportResult:
    """Export a run, unless it contains a secret.

    Args:
        document: The ``run.json`` of the export.
        secrets: The values of the secrets that the run used.
        whole: As for `export_directory`.

    Raises:
        PerfError: If the run contains a secret, or the store cannot be reached, refuses, or damages data.
    """
    mine = tuple(access.keys.secrets()) if access.keys else ()
    refuse_leaks(run, (*secrets, *mine))
    subject = subject_of(document, place.name)
    with Store(access, place.bucket) as store:
        return export_directory(run, subject, store, place, terms, {RUN_FILE: document}, check, progress, whole)


def export_fact(exported: ExportResult | None, place: str, at: str, error: Exception | None = None) -> dict[str, Any]:
    """Return the fact for ``run.json`` about an export: ``status`` is ``ok`` or ``failed``, ``why`` the reason."""
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
