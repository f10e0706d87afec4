"""A folder of kube-burner as a run of a test of orion's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.documents import text_or_none
from perfanalysis.files.findings import Finding
from perfanalysis.imports.entries import Added, documents, keep, origin
from perfanalysis.imports.kube_burner.folder import OF_THE_DOCUMENT, Folder
from perfanalysis.imports.options import KpiOverrides
from perfanalysis.imports.orion.columns import columns_of, unlike
from perfanalysis.imports.orion.config import OrionTest
from perfanalysis.imports.orion.history import foreign_runs
from perfanalysis.imports.orion.runs import OrionOutput, OrionRun
from perfanalysis.workloads.kube_burner.documents import SUMMARY, moment


def keep_columns(folder: Folder, test: OrionTest, history: Path) -> Added:
    """Add a test's columns of a folder to a history; a finding for each that the documents do not give.

    Raises UsageError when the folder is not of the test, DataQualityError when it has no uuid or no column at all.
    """
    summary = folder.summaries[0]
    wrong = unlike(test, summary)
    if wrong:
        raise UsageError(f"{folder.directory} is not of the test {test.name}: {'; '.join(wrong)}")
    uuid = text_or_none(summary.get("uuid"))
    columns = columns_of(test, [record for records in folder.files.values() for record in records or []])
    if uuid is None or not columns.values:
        told = "its summary has no uuid" if uuid is None else "; ".join(columns.missing.values())
        raise DataQualityError(f"{folder.directory} gives no run of {test.name}: {told}")
    shown = {
        name: value
        for name, value in summary.items()
        if name not in OF_THE_DOCUMENT and isinstance(value, str | int | float)
    }
    content = (folder.directory / SUMMARY).read_bytes()
    run = OrionRun(uuid, moment(summary), columns.values, {}, shown, None)
    output = OrionOutput(folder.directory.name, content, (run,), ())
    source = {**origin(folder.directory, content)}
    added = keep(history, documents(foreign_runs(output, test.name, test, KpiOverrides()), source))
    missing = tuple(Finding("warning", column, f"left out: {why}") for column, why in columns.missing.items())
    return replace(added, findings=(*missing, *added.findings))
