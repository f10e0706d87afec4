"""Exporting a run that has ended, by its own settings, and noting in it what came of that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import (
    FACT,
    PREFIX,
    ExportSettings,
    export_run,
    told,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.sending import Exported, Tell, untold
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE, hold, release, update_run
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import (
    parse_reference,
    remembered_values,
    resolve,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run
from perfdrv.errors import UsageError


def settings_of(run: Path, given: Mapping[str, str | None]) -> ExportSettings:
    """The settings of a run's export: those it recorded, and over them those *given* by their names without `export_`.

    Raises:
        UsageError: they say no place.
    """
    recorded = values_of_run(run) if (run / "settings.yml").is_file() else {}
    chosen = {f"{PREFIX}{name}": value for name, value in given.items() if value is not None}
    settings = ExportSettings.of({**recorded, **chosen})
    if not settings.to:
        raise UsageError(f"{run.name} has no setting export_to: say where to with --to s3://BUCKET/PREFIX")
    return settings


def value_of(reference: str) -> str:
    """The value of a secret that this process can read: `file:NAME`, `env:NAME`.

    Raises:
        UsageError: there is none, or only Ansible can read it.
    """
    parsed = parse_reference(reference)
    if parsed.kind == "vault":
        raise UsageError(
            f"{parsed} is Ansible's alone to read: name the credentials of exports and notifications by file: or env:"
        )
    return resolve(parsed)


def export(run: Path, settings: ExportSettings, tell: Tell = untold, whole: bool = True) -> Exported:
    """Export a run on which nobody works to a folder of its name, and note that, or its failure, in its run.json.

    Args:
        whole: whether all of the run is here; what a part lacks stays as an earlier export has it.

    Raises:
        PerfError: it was not exported; some of it may be there, but no manifest.
    """
    hold(run)
    try:
        place = settings.place(run.name)
        document = {key: value for key, value in read_json(run / RUN_FILE).items() if key != FACT}
        try:
            access, secrets = settings.access(value_of), remembered_values(run, lambda _name: None)
            exported = export_run(run, document, place, access, settings.terms(), secrets, tell=tell, whole=whole)
        except PerfError as error:
            update_run(run, {FACT: told(None, str(place), utc_now(), error)})
            raise
        update_run(run, {FACT: told(exported, str(place), utc_now())})
        return exported
    finally:
        release(run)
