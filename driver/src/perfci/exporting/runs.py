"""The export of a run by its settings, recorded in its run.json."""

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
    export_fact,
    export_run,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.sending import ExportResult, Progress, no_progress
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE, hold, release, update_run
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import (
    parse_reference,
    remembered_values,
    resolve,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run
from perfdrv.errors import UsageError

from perfci.exporting.mlflow import TrackingSettings


def settings_of(run: Path, given: Mapping[str, str | None]) -> tuple[ExportSettings, TrackingSettings]:
    """Return the settings of a run's exports: to a store, and to MLflow.

    Args:
        given: Override recorded settings, by their names without `export_`.

    Raises:
        UsageError: They have no destination.
    """
    recorded = values_of_run(run) if (run / "settings.yml").is_file() else {}
    values = {**recorded, **{f"{PREFIX}{name}": value for name, value in given.items() if value is not None}}
    store, tracking = ExportSettings.of(values), TrackingSettings.of(values)
    if not store.to and not tracking.url:
        raise UsageError(
            f"no destination for {run.name}: pass --to s3://BUCKET/PREFIX or --mlflow URL, or set export_to or "
            "export_mlflow"
        )
    return store, tracking


def value_of(reference: str) -> str:
    """Return the value of a secret, referred to by `file:NAME` or `env:NAME`.

    Raises:
        UsageError: The secret is missing, or only Ansible can read it.
    """
    parsed = parse_reference(reference)
    if parsed.kind == "vault":
        raise UsageError(
            f"only Ansible can read {parsed}: refer to credentials of exports and notifications by file: or env:"
        )
    return resolve(parsed)


def export(run: Path, settings: ExportSettings, progress: Progress = no_progress, whole: bool = True) -> ExportResult:
    """Export a run to a folder of its name, and record the result in its run.json.

    Args:
        progress: Called with the progress.
        whole: Whether the run is complete; if not, files that are missing here remain in an earlier export.

    Raises:
        PerfError: The export failed, or a process holds the run. The store may have some files, but no manifest.
    """
    hold(run)
    try:
        place = settings.place(run.name)
        document = {key: value for key, value in read_json(run / RUN_FILE).items() if key != FACT}
        try:
            access, secrets = settings.access(value_of), remembered_values(run, lambda _name: None)
            exported = export_run(
                run, document, place, access, settings.terms(), secrets, progress=progress, whole=whole
            )
        except PerfError as error:
            update_run(run, {FACT: export_fact(None, str(place), utc_now(), error)})
            raise
        update_run(run, {FACT: export_fact(exported, str(place), utc_now())})
        return exported
    finally:
        release(run)
