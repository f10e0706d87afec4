"""The files of a job: FINISHED, FAILURES, JUnit's test results, an index page, a summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.run.directory import REPORT_FOLDER
from ansible_collections.psap.perf.plugins.module_utils.run.failures import FILE as FAILURES_OF_RUN
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure, every_failure
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from perfanalysis.drawing.wording import counted, plain
from perfanalysis.files.documents import listing, mapping
from perfanalysis.output import one_line, printable
from perfanalysis.verdicts.files import Case, Outcome, Suite, junit_text
from perfdrv.errors import EXIT_FAILED, exit_code_text
from perfdrv.runs.durations import duration_text
from perfdrv.runs.outcome import read_outcome, verdict_text
from perfdrv.runs.tree import RunTree, Step, abandoned, read_document
from perfdrv.views.remarks import first_line

from perfci.jobs.job import Job, Link
from perfci.jobs.run_log import RUN_LOG
from perfci.jobs.state import StepRecord
from perfci.judging.record import FACT

FINISHED, FAILURES, INDEX, SUMMARY = "FINISHED", "FAILURES", "index.html", "summary.md"
_OUTCOMES: Mapping[str, Outcome] = {"ok": "", "failed": "failure", "skipped": "skipped", "interrupted": "error"}
_KPI_OUTCOMES: Mapping[str, Outcome] = {"worse": "failure", "too little history": "skipped"}
_templates = Environment(
    loader=PackageLoader("perfci.jobs"),
    autoescape=select_autoescape(["html.j2"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters["plain"] = plain


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a job or of a step.

    Attributes:
        words: The command, such as `perfdrv ci run FLOW`.
        run: Directory of the run, or None.
        why: The error of a job without a run; empty if the run has it.
        steps: Steps of the job so far.
        remarks: Additional lines of the summary, such as the settings of a pull request.
    """

    words: str
    exit_code: int
    seconds: float
    run: Path | None
    why: str = ""
    steps: tuple[StepRecord, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """The meaning of the exit code."""
        return exit_code_text(self.exit_code)

    @property
    def reason(self) -> str:
        """The first failure in one line; empty if nothing failed."""
        document = read_document(self.run / "run.json") if self.run else {}
        reason = document.get("reason") if self.exit_code else None
        texts = [str(reason.get(key) or "") for key in ("what", "why")] if isinstance(reason, Mapping) else []
        return first_line(self.why) or ": ".join(first_line(each) for each in texts if each.strip())

    @property
    def verdict(self) -> str:
        """The verdict of the history in one line, with the number of its runs; empty without a verdict."""
        verdict = mapping(read_document(self.run / "run.json").get(FACT)) if self.run else {}
        runs = int(mapping(verdict.get("history")).get("runs") or 0)
        text = verdict_text(verdict)
        return f"{text} (compared with {counted(runs, 'run')} of the history)" if text and runs else text


def write_files(
    job: Job, report: Report, redact: Callable[[str], str] = lambda text: text
) -> tuple[tuple[Link, ...], str]:
    """Write all files of the job; return its links, and its summary in Markdown."""
    folder = job.artifacts

    def write(name: str, text: str) -> None:
        write_text(folder / name, printable(hide(redact(text))))

    failures = failure_lines(report)
    if failures:
        write(FAILURES, "\n".join(failures) + "\n")
    else:
        (folder / FAILURES).unlink(missing_ok=True)
    write(f"junit_{_file_word(job.test)}.xml", junit_text(report.words, suites(job, report)))
    links = tuple(_links(job, report))
    shown = {"job": job, "report": report, "links": links, "failures": failures, "took": duration_text(report.seconds)}
    write(INDEX, _templates.get_template("index.html.j2").render(shown))
    summary = printable(hide(redact(_templates.get_template("summary.md.j2").render(shown))))
    write(SUMMARY, summary)
    # the last file: if it exists, all others are complete
    ended = f"{utc_now()} {report.words}: {report.status} (exit code {report.exit_code})"
    reason = f": {report.reason}" if report.reason else ""
    write(FINISHED, f"{ended} after {duration_text(report.seconds)}{reason}\n")
    return _as_urls(job, links), summary


def failure_lines(report: Report) -> list[str]:
    """Return one line for each failure, in order of time, so that the root cause is first."""
    found = sorted(_failures(report.run), key=lambda each: each.at) if report.run else []
    # an interrupted task is the cause only if nothing else failed
    real = [each for each in found if not each.interrupted]
    lines = [" | ".join(filter(None, _columns(each, report.run))) for each in _causes(real or found)]
    ended = read_outcome(report.run).status if report.run else "ok"
    if (report.exit_code and (report.why or not lines)) or (not lines and ended != "ok"):
        causes = report.why.strip().splitlines() or [report.reason or f"the run was {ended}"]
        lines += [f"{utc_now()} | {report.words} | {cause}" for cause in causes]
    return lines


def _columns(failure: Failure, run: Path | None) -> tuple[str, ...]:
    """Return time, task, message, place, directory, and the kind of failure unless the test failed."""
    code = failure.exit_code
    kind = "" if code == EXIT_FAILED or failure.interrupted else f"exit code {code}: {exit_code_text(code)}"
    columns = (failure.at, failure.what, first_line(failure.why), failure.where, _place(failure, run), kind)
    return tuple(map(one_line, columns))


def _causes(failures: Sequence[Failure]) -> list[Failure]:
    """Return the failures without those that repeat an earlier one, such as the conclusion of a run."""
    causes: list[Failure] = []
    for failure in failures:
        if not any(failure.why.startswith(f"{earlier.what}: ") for earlier in causes):
            causes.append(failure)
    return causes


def _failures(run: Path) -> Iterator[Failure]:
    """Yield the failures of the run, and of cells that were separate processes."""
    for path in run.rglob(FAILURES_OF_RUN):
        yield from every_failure(path.parent)


def _place(failure: Failure, run: Path | None) -> str:
    """Return the failure's directory relative to the artifacts, whose place may differ between steps."""
    parts = Path(failure.directory or "").parts
    return "/".join(parts[parts.index(run.name) :]) if run and run.name in parts else failure.directory or ""


def suites(job: Job, report: Report) -> tuple[Suite, ...]:
    """Return the job and its steps, and the commands of the run, as tests."""
    whole = Case(report.words, "" if not report.exit_code else _kind(report.exit_code), report.reason or report.status)
    steps = [
        Case(
            f"step {step.name}",
            "skipped" if step.status == "skipped" else "" if not step.exit_code else _kind(step.exit_code),
            step.why or step.status,
        )
        for step in report.steps
    ]
    facts = {"system": job.system, "kind": job.kind, "build": job.build, "repository": job.repository}
    found = [Suite("job", job.test, (whole, *steps), {key: value for key, value in facts.items() if value})]
    if report.run is not None:
        commands = tuple(_case(step, report.run) for step in _commands(report.run))
        found.append(Suite(report.run.name, f"{job.test}.commands", commands))
        kpis = tuple(_kpi_cases(report.run))
        found += [Suite("history", f"{job.test}.history", kpis)] if kpis else []
    return tuple(found)


def _kind(exit_code: int) -> Outcome:
    """Return JUnit's kind: a failed test is a failure, a test that could not run is an error."""
    return "failure" if exit_code in (EXIT_FAILED, 4, 5) else "error"


def _commands(run: Path) -> Iterator[Step]:
    for step in map(abandoned, RunTree(run).steps()):
        yield from (each for each in step.walk() if each.kind == "command")


def _case(step: Step, run: Path) -> Case:
    return Case(str(step.directory.relative_to(run)), _OUTCOMES.get(step.status, ""), first_line(step.error))


def _kpi_cases(run: Path) -> Iterator[Case]:
    """Yield each KPI that was judged by the history."""
    document = read_document(run / REPORT_FOLDER / "regression.json")
    for recording in listing(document.get("recordings")):
        for kpi in listing(mapping(recording).get("kpis")):
            why = str(kpi.get("reason") or kpi["verdict"])
            yield Case(f"{recording['recording']}: {kpi['name']}", _KPI_OUTCOMES.get(kpi["verdict"], ""), why)


def _links(job: Job, report: Report) -> Iterator[Link]:
    """Yield links to files below the artifacts."""
    if report.run is not None:
        name = report.run.name
        for title, path in (
            (f"Report of {name}", report.run / REPORT_FOLDER / "index.html"),
            ("Trends", report.run / REPORT_FOLDER / "regression.html"),
            (f"Run {name}", report.run),
            ("Settings", report.run / "settings.yml"),
            ("Log of Ansible", report.run / "ansible.log"),
        ):
            if path.exists() and path.is_relative_to(job.artifacts):
                yield Link(title, str(path.relative_to(job.artifacts)))
    for title, name in (("Failures", FAILURES), ("Log of the job", RUN_LOG)):
        if (job.artifacts / name).exists():
            yield Link(title, name)


def _as_urls(job: Job, links: tuple[Link, ...]) -> tuple[Link, ...]:
    """Return the links as URLs of the CI system; empty if it does not show the artifacts."""
    if not job.artifacts_url:
        return ()
    base = job.artifacts_url.rstrip("/")
    return (Link("Reports", f"{base}/{INDEX}"), *(Link(each.title, f"{base}/{each.target}") for each in links))


def _file_word(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in text)
