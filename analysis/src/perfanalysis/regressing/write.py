"""Judge a run directory by a history and write the verdict."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from perfanalysis.documents import write_json, write_text
from perfanalysis.errors import AnalysisError, UsageError
from perfanalysis.findings import Finding
from perfanalysis.history.document import history_document
from perfanalysis.history.entries import entries_of
from perfanalysis.history.folder import load
from perfanalysis.pipeline import analyse_run
from perfanalysis.regressing.acknowledged import Acknowledged
from perfanalysis.regressing.document import junit_text, markdown_text, regression_document
from perfanalysis.regressing.verdict import Options, regress


@dataclass(frozen=True)
class Written:
    """Where the verdict is, what was found on the way, and the error that a program must end with."""

    json: Path
    markdown: Path
    junit: Path
    findings: tuple[Finding, ...]
    error: AnalysisError | None


def regress_run(run: Path, folder: Path, options: Options, acknowledged: Acknowledged, output: Path) -> Written:
    """Judge *run* by the history in *folder*, which is not changed. Raises UsageError when either is none."""
    history = load(folder)
    with tempfile.TemporaryDirectory(prefix="perfanalysis-") as tables:
        current = entries_of(history_document(analyse_run(run, Path(tables))))
    if not current:
        raise UsageError(f"{run} holds no recording: there is nothing to judge")
    regression = regress(current, history.entries(), options, acknowledged)
    document, summary, junit = (output / f"regression.{ending}" for ending in ("json", "md", "xml"))
    write_json(document, regression_document(regression))
    write_text(summary, markdown_text(regression))
    write_text(junit, junit_text(regression))
    return Written(document, summary, junit, history.findings, regression.error())
