"""The export of a site, the page over a history, to an S3 store."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.exporting.index_page import Subject
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings, refuse_leaks
from ansible_collections.psap.perf.plugins.module_utils.exporting.sending import ExportResult, export_directory
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store

from perfci.exporting.runs import value_of

FOLDER = "site"
# from the site's folder to those of runs, which are exported to the same prefix
REPORTS = "../{run}/report/index.html"


def export_site(directory: Path, title: str, settings: ExportSettings) -> ExportResult:
    """Export the folder of a site to the folder `site` of the destination.

    Raises:
        PerfError: The page contains a secret, or the store refuses.
    """
    access = settings.access(value_of)
    refuse_leaks(directory, access.keys.secrets() if access.keys else ())
    place = settings.place(FOLDER)
    with Store(access, place.bucket) as store:
        return export_directory(directory, Subject(title, FOLDER, "ok"), store, place, settings.terms())
