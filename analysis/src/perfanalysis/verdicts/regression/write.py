"""Judge a run by a history and write the verdict: documents, Markdown, JUnit and a page of trends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perfanalysis.drawing.matplotlib import Format
from perfanalysis.errors import AnalysisError, UsageError
from perfanalysis.files.documents import Document, write_json, write_text
from perfanalysis.files.findings import Finding
from perfanalysis.files.scratch import scratch_folder
from perfanalysis.results.history.document import history_document
from perfanalysis.results.history.entries import entries_of
from perfanalysis.results.history.folder import History, listed, load
from perfanalysis.verdicts.comparison.sides import data_errors
from perfanalysis.verdicts.junit import junit_text
from perfanalysis.verdicts.regression.acknowledged import Acknowledged
from perfanalysis.verdicts.regression.document import markdown_text, regression_document, suites_of
from perfanalysis.verdicts.regression.page import write_trends
from perfanalysis.verdicts.regression.verdict import Options, Regression, regress
from perfanalysis.verdicts.verdict_file import VERDICT_FILE, write_verdict
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run

STEM = "regression"


@dataclass(frozen=True)
class Written:
    """Where the verdict is, what was found on the way, and the error that a program must end with."""

    json: Path
    markdown: Path
    junit: Path
    page: Path
    findings: tuple[Finding, ...]
    error: AnalysisError | None


def regress_run(
    run: Path | str,
    folder: Path,
    options: Options,
    acknowledged: Acknowledged,
    output: Path,
    kinds: Kinds,
    formats: tuple[Format, ...] = (),
) -> Written:
    """Judge a run directory, or a run of the history by its id, by the history in *folder*, which is not changed.

    Raises UsageError when there is no such run or no such history.
    """
    history = load(folder)
    document, errors = _document(run, history, folder, kinds)
    current = entries_of(document)
    if not current:
        raise UsageError(f"{run} holds no recording: there is nothing to judge")
    regression = regress(current, history.entries(), options, acknowledged)
    complete = replace(regression, data_errors=errors, notes=(*errors, *regression.notes))
    return _write(complete, document, history.findings, output, formats)


def _document(run: Path | str, history: History, folder: Path, kinds: Kinds) -> tuple[Document, tuple[str, ...]]:
    """What a history keeps of the run, and what makes its data incomplete."""
    if Path(run).is_dir():
        with scratch_folder() as tables:
            result = analyse_run(Path(run), tables, AnalysisOptions(kinds))
        return history_document(result), data_errors(result)
    return run_of_history(str(run), history.documents, folder), ()


def run_of_history(word: str, documents: Sequence[Document], folder: Path) -> Document:
    """The document of the run with that id, or whose id alone begins so; raises UsageError without one."""
    names = [str(document["run"]) for document in documents]
    found = [name for name in names if name == word] or [name for name in names if name.startswith(word)]
    if len(found) != 1:
        if not found:
            raise UsageError(f"{word} is no run directory, and no run of {folder}; {listed(folder)}")
        raise UsageError(f"{word} is the beginning of {len(found)} runs in {folder}: {', '.join(found)}")
    return next(document for document in documents if document["run"] == found[0])


def _write(
    regression: Regression, document: Document, findings: tuple[Finding, ...], output: Path, formats: tuple[Format, ...]
) -> Written:
    paths = {ending: output / f"{STEM}.{ending}" for ending in ("json", "md", "xml")}
    told = regression_document(regression)
    write_json(paths["json"], told)
    write_text(paths["md"], markdown_text(regression))
    write_text(paths["xml"], junit_text(regression.run, suites_of(regression)))
    page = write_trends(regression, output, formats)
    part = {name: told[name] for name in ("exit_code", "reason", "method", "counts")} | {"document": f"{STEM}.json"}
    facts = {name: document.get(name) for name in ("run", "flow", "simulated", "emulated")}
    write_verdict(output / VERDICT_FILE, {**facts, "regression": part})
    return Written(paths["json"], paths["md"], paths["xml"], page, findings, regression.error)
