"""Plots of runs with the current code: fetching, reports, a comparison."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.provenance import versions
from ansible_collections.psap.perf.plugins.module_utils.exporting.fetching import (
    Source,
    StoreSource,
    cache_folder,
    fetch,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.index_page import Subject
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import SCHEME, Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings, refuse_leaks
from ansible_collections.psap.perf.plugins.module_utils.exporting.sending import ExportResult, export_directory
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE, new_run_directory
from perfanalysis.reports.writing import make_report
from perfanalysis.verdicts.comparison.comparison import compare
from perfanalysis.verdicts.comparison.sides import sides_of
from perfanalysis.verdicts.comparison.write import write_comparison
from perfanalysis.workloads.run_analysis import AnalysisOptions
from perfdrv.errors import EXIT_INTERNAL, EXIT_OK, UsageError, error_text, exit_code_of
from perfdrv.runs.store import find_run

from perfci.exporting.runs import value_of
from perfci.exporting.web import WebSource

SCHEMA = "psap.perf/plots/1"
FILE = "plots.json"
STEP = "plots"


@dataclass(frozen=True, slots=True)
class Plotted:
    """The result of one source.

    Attributes:
        run: Directory of the run; None if it could not be fetched.
        report: Its page; None if it failed.
    """

    source: str
    run: Path | None = None
    report: Path | None = None
    error: Exception | None = None

    @property
    def why(self) -> str:
        """Why it failed; empty if it did not."""
        return "" if self.error is None else error_text(self.error)

    @property
    def exit_code(self) -> int:
        """0, or the exit code of the error."""
        return EXIT_OK if self.error is None else exit_code_of(self.error) or EXIT_INTERNAL


@dataclass(frozen=True, slots=True)
class Replot:
    """All plots of one call, in one folder."""

    directory: Path
    plotted: tuple[Plotted, ...]
    comparison: Path | None
    not_compared: str

    @property
    def exit_code(self) -> int:
        """The exit code of the first source that failed."""
        return next((each.exit_code for each in self.plotted if each.error), EXIT_OK)


def default_cache() -> Path:
    """Return the folder for fetched runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "psap-perf" / "exports"


def sources_in(path: Path) -> list[str]:
    """Return the sources in a file, one per line; empty lines and lines that begin with # are ignored.

    Raises:
        UsageError: The file cannot be read, or has no source.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read the list of runs {path}: {why}") from error
    found = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not found:
        raise UsageError(f"{path} lists no run: write one URL, s3://BUCKET/… or run per line")
    return found


def replot(
    sources: Sequence[str],
    root: Path,
    settings: ExportSettings,
    cache: Path,
    print_line: Callable[[str], None],
) -> Replot:
    """Generate the report of each source, independently of the others, and compare several with the first.

    Args:
        root: The folder of all runs, in which the plots get a new folder.
        settings: Access to stores.
        cache: The folder for fetched runs.
        print_line: Prints a line for each source.
    """
    directory = new_run_directory(root, STEP)
    plotted = []
    for source in dict.fromkeys(sources):
        one = _plot(source, root, directory, settings, cache)
        print_line(f"{source}: {one.report}" if one.report else f"{source}: {one.why}")
        plotted.append(one)
    comparison, why = _compare([one.run for one in plotted if one.report and one.run], directory)
    done = Replot(directory, tuple(plotted), comparison, why)
    write_json(directory / FILE, _document(done))
    return done


def _plot(source: str, root: Path, directory: Path, settings: ExportSettings, cache: Path) -> Plotted:
    run: Path | None = None
    try:
        run = _fetch_run(source, root, settings, cache)
        folder, number = directory / run.name, 1
        while folder.exists():
            number += 1
            folder = directory / f"{run.name}-{number}"
        return Plotted(source, run, make_report(run, folder).index)
    except Exception as error:
        # an error of one run must not prevent the plots of the others
        return Plotted(source, run, error=error)


def _fetch_run(source: str, root: Path, settings: ExportSettings, cache: Path) -> Path:
    """Return the run directory of a source, fetched if it is not local."""
    scheme = urllib.parse.urlsplit(source).scheme
    if scheme not in (SCHEME, "http", "https"):
        return find_run(root, source)
    if scheme == SCHEME:
        place = Place.parse(source)
        with Store(settings.access(value_of), place.bucket) as store:
            directory = _fetch(StoreSource(store, place), settings, cache)
    else:
        directory = _fetch(WebSource.parse(source), settings, cache)
    if not (directory / RUN_FILE).is_file():
        raise UsageError(f"{source} is not the export of a run: it has no {RUN_FILE}")
    return directory


def _fetch(source: Source, settings: ExportSettings, cache: Path) -> Path:
    return fetch(source, cache_folder(cache, source, settings.endpoint)).directory


def _compare(runs: Sequence[Path], directory: Path) -> tuple[Path | None, str]:
    """Return the page of the comparison of several runs with the first, or why it failed."""
    if len(runs) < 2:
        return None, ""
    try:
        sides = sides_of([str(run) for run in runs], (), AnalysisOptions())
        return write_comparison(compare(sides), directory / "comparison", ()).page, ""
    except Exception as error:
        return None, error_text(error)


def _document(done: Replot) -> dict[str, Any]:
    def place(path: Path | None) -> str | None:
        return None if path is None else path.relative_to(done.directory).as_posix()

    return {
        "schema": SCHEMA,
        "made": utc_now(),
        "versions": versions(),
        "runs": [
            {
                "source": one.source,
                "run": one.run.name if one.run else None,
                "report": place(one.report),
                "error": one.why or None,
            }
            for one in done.plotted
        ],
        "comparison": place(done.comparison),
        "not_compared": done.not_compared or None,
    }


def export_plots(done: Replot, settings: ExportSettings, folders: tuple[str, ...] = ()) -> ExportResult:
    """Export the plots, as the step `plots` of a job.

    Raises:
        PerfError: The plots contain a secret, or the store refuses.
    """
    access = settings.access(value_of)
    refuse_leaks(done.directory, access.keys.secrets() if access.keys else ())
    document = read_json(done.directory / FILE)
    failed = [one for one in done.plotted if one.error]
    facts = {"made": str(document["made"]), "runs": ", ".join(one.run.name for one in done.plotted if one.run)}
    reason = "\n".join(f"{one.source}: {one.why}" for one in failed)
    subject = Subject(done.directory.name, STEP, "failed" if failed else "ok", facts, reason)
    place = settings.place(*folders, STEP, done.directory.name)
    with Store(access, place.bucket) as store:
        return export_directory(done.directory, subject, store, place, settings.terms())
