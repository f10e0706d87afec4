"""The pipeline of one run: discover, then load and analyse every recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from perfanalysis.drawing.blocks import Section
from perfanalysis.drawing.charts import Figure
from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.cache import load_tables, tables_folder
from perfanalysis.files.discovery import Lab, Place, Run, check_run_directory, labs_together
from perfanalysis.files.documents import refuse_links
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.attempts import Recording, find_repeated
from perfanalysis.workloads.kinds import Kinds, shipped
from perfanalysis.workloads.kpis import LabelledKpis
from perfanalysis.workloads.labels import labels_of, marks_together
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.prometheus.figures import load_ranges, place_metrics
from perfanalysis.workloads.prometheus.kpis import metric_analyses
from perfanalysis.workloads.prometheus_ranges import Ranges
from perfanalysis.workloads.workload_type import Analysis, Selection


@dataclass(frozen=True)
class AnalysisOptions:
    """How to analyse a run: the kinds, the method of percentiles, all workloads or a selection."""

    kinds: Kinds = field(default_factory=shipped)
    method: Method = "linear"
    """The method of percentiles."""
    selection: Selection | None = None


@dataclass(frozen=True)
class RunAnalysis:
    """A run and the analyses of its recordings, in the order of discovery."""

    run: Run
    analyses: tuple[Analysis, ...]
    findings: tuple[Finding, ...]
    make_figures: Callable[[], tuple[Figure, ...]] = tuple
    make_sections: Callable[[], tuple[Section, ...]] = tuple
    options: AnalysisOptions = field(default_factory=AnalysisOptions)

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """Return the figures that compare recordings, as their kind declares; computed on first access."""
        return self.make_figures()

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Return the sections of the run instead of a single recording; computed on first access."""
        return self.make_sections()

    @property
    def lab(self) -> Lab:
        """Return the lab in run.json or any recording."""
        return labs_together((self.run.lab, *(analysis.lab for analysis in self.analyses)))

    @property
    def phrases(self) -> tuple[str, ...]:
        """Return the parts of all its labs, and the selected workloads."""
        parts = (analysis.place.part for analysis in self.analyses if analysis.place.part)
        return (*self.lab.phrases, *dict.fromkeys(parts))

    def labelled_kpis(self) -> tuple[LabelledKpis, ...]:
        """Return the KPIs of each recording with its distinguishing labels."""
        return tuple((labels_of(analysis), analysis.kpis) for analysis in self.analyses)


def report_directory(run_directory: Path, output: Path | None, kinds: Kinds | None = None) -> Path:
    """Return the folder of a report: as requested, else `report` in the run; it is created.

    Raises UsageError if it is not a run directory, if the folder cannot be created, or as `refuse_links`.
    """
    check_run_directory(run_directory, (kinds or shipped()).markers)
    target = output if output is not None else run_directory / "report"
    refuse_links(run_directory, target)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot create {target}: {error.strerror}; choose another directory with --output") from error
    return target


def analyse_run(run_directory: Path, output: Path, options: AnalysisOptions | None = None) -> RunAnalysis:
    """Analyse a run; store parsed tables below `output`/tables. Raises UsageError if it is not a run directory.

    With a selection in `options`, only those workloads of each recording are analysed.
    """
    options = options or AnalysisOptions()
    run = options.kinds.discover(run_directory)
    ranges, findings = load_ranges(run, output)
    recordings = [_recording(place, output, options, ranges) for place in run.places]
    repeated = find_repeated(recordings)
    recordings = [one for one in recordings if not repeated.has(one.place)]
    ranges = tuple(window for window in ranges if not repeated.has(window.place))
    findings = (*run.findings, *findings, *(each for one in recordings for each in one.findings), *repeated.findings)
    analyses = tuple(_marked(one.analysis, run.lab) for one in recordings if one.analysis is not None)
    # an import of metrics alone was never a test
    if not run.places and not (ranges and "imported" in run.document):
        findings += (Finding("warning", ".", "no recording found: the run ended before a test began"),)
    with_metrics, make_sections = place_metrics(analyses, ranges, run.lab)
    with_metrics, make_figures = _together(with_metrics, options.kinds, run)
    if not run.places and "imported" in run.document:
        metrics = metric_analyses(ranges, options.method)
        with_metrics += metrics
        findings += tuple(finding for one in metrics for finding in one.findings)
    return RunAnalysis(run, with_metrics, tuple(dict.fromkeys(findings)), make_figures, make_sections, options)


def _recording(place: Place, output: Path, options: AnalysisOptions, ranges: tuple[Ranges, ...]) -> Recording:
    try:
        analysis, findings = _analyse_place(place, output, options, ranges)
    except DataQualityError as error:
        return Recording(place, None, (Finding("error", place.relative, str(error)),))
    return Recording(place, analysis, findings)


def _analyse_place(
    place: Place, output: Path, options: AnalysisOptions, ranges: tuple[Ranges, ...]
) -> tuple[Analysis, tuple[Finding, ...]]:
    """Return one recording. Raises DataQualityError if its parser failed."""
    workload, selection = options.kinds.of(place.marker), options.selection
    tables, findings = load_tables(workload, RecordingFiles(place), tables_folder(output, place))
    if selection is not None:
        if workload.select is not None:
            tables, part = workload.select(tables, selection)
            place = replace(place, part=part)
        else:
            text = f"a {workload.name} has no order of submission: all of it is shown, not only the {selection.words}"
            findings += (Finding("warning", place.relative, text),)
    if workload.monitored is not None:
        tables = workload.monitored(tables, place, ranges)
    analysis = workload.analyse(tables, place, options.method)
    return analysis, (*findings, *analysis.findings)


def _marked(analysis: Analysis, of_run: Lab) -> Analysis:
    """Return the recording with its lab, else the run's lab, on figures that have none of their own."""
    phrases = analysis.phrases if analysis.lab.phrases else replace(analysis, lab=of_run).phrases
    if not phrases:
        return analysis
    return replace(analysis, make_sections=lambda: tuple(_marked_section(one, phrases) for one in analysis.sections))


def _marked_section(section: Section, marks: tuple[str, ...]) -> Section:
    marked = (
        replace(block, marks=marks) if isinstance(block, Figure) and not block.marks else block
        for block in section.blocks
    )
    return replace(section, blocks=tuple(marked))


def _marked_figures(make: Callable[[], tuple[Figure, ...]], marks: tuple[str, ...]) -> tuple[Figure, ...]:
    return tuple(replace(figure, marks=marks) for figure in make())


def _together(
    analyses: tuple[Analysis, ...], kinds: Kinds, run: Run
) -> tuple[tuple[Analysis, ...], Callable[[], tuple[Figure, ...]]]:
    """Return the recordings, with the joint results of each kind, in the same order, and their figures."""
    makers: list[Callable[[], tuple[Figure, ...]]] = []
    found = {(analysis.place.marker, analysis.place.relative): analysis for analysis in analyses}
    for marker in dict.fromkeys(analysis.place.marker for analysis in analyses):
        across = kinds.of(marker).across
        if across is not None:
            of_kind = tuple(analysis for analysis in analyses if analysis.place.marker == marker)
            made = across(of_kind)
            found |= {(marker, analysis.place.relative): analysis for analysis in made.analyses}
            makers.append(partial(_marked_figures, made.make_figures, marks_together(of_kind, run)))
    return tuple(found.values()), lambda: tuple(figure for make in makers for figure in make())
