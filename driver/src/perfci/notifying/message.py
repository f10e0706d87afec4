"""The content of a notification: verdict, first failure, the KPIs that moved, links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.directory import read_run
from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment
from perfanalysis.drawing.wording import counted
from perfanalysis.files.documents import listing, mapping
from perfanalysis.output import one_line, printable
from perfdrv.errors import EXIT_OK, EXIT_USAGE, UsageError, exit_code_text
from perfdrv.runs.durations import duration_text, seconds_between, utc_now
from perfdrv.runs.tree import read_document

from perfci.judging.record import FACT

_LONGEST_LINE = 300
_LONGEST_REFUSAL = 2000
_MOST_KPIS = 10
_REGRESSION = "regression"
_MOVED = ("worse", "different", "better")
_FATAL = ("fatal: ", "failed: ", "[ERROR]: ")


@dataclass(frozen=True, slots=True)
class Link:
    """A link."""

    title: str
    target: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A KPI that moved against its history.

    Attributes:
        verdict: `worse`, `different` or `better`.
        change: As a share of the level before; None if that was 0.
        low: Lower end of the change's 95 % interval.
        high: Its upper end.
        effect: Hedges' g, the change in standard deviations of a run; None if all values of a level are equal.
        since: The first run of the present level.
    """

    name: str
    recording: str
    unit: str
    verdict: str
    before: float
    now: float
    change: float | None
    low: float | None
    high: float | None
    effect: float | None = None
    since: str = ""

    @property
    def interval(self) -> str:
        """The 95 % interval of the change, such as `+8.0 % to +17.1 %`; empty if it is unknown."""
        return "" if self.low is None or self.high is None else f"{100 * self.low:+.1f} % to {100 * self.high:+.1f} %"

    @property
    def effect_size(self) -> str:
        """Hedges' g as text; empty if it is unknown."""
        return "" if self.effect is None else f"{self.effect:.2g}"

    @property
    def levels(self) -> str:
        """The levels before and now, such as `2 to 2.25 s`."""
        return f"{self.before:g} to {self.now:g} {self.unit}"

    @property
    def share(self) -> str:
        """The change as a share of the level before, such as `+12.3 %`; empty if that was 0."""
        return "" if self.change is None else f"{100 * self.change:+.1f} %"

    @property
    def size(self) -> str:
        """The change as text, such as `+12.3 % (95 %: +8.0 % to +17.1 %), 2 to 2.25 s`."""
        if self.change is None:
            return f"from {self.levels}"
        return f"{self.share}{f' (95 %: {self.interval})' if self.interval else ''}, {self.levels}"


@dataclass(frozen=True, slots=True)
class Message:
    """The variables of the templates.

    Attributes:
        status: Of the run; `regression` if the run is ok and a KPI is worse.
        what: Command and task of the first failure; empty if nothing failed.
        why: Its message, in one line.
        where: File and line of the task, and its host.
        log: Its line of ansible.log, such as `ansible.log:123: fatal: …`.
        export_lost: Why the export failed; empty if it did not.
        judged: The history that the run was judged by, and why that failed; empty for none.
        about: The subject of the thread: a pull request, or a day.
    """

    run: str
    flow: str
    status: str
    exit_code: int
    took: str
    presets: tuple[str, ...]
    simulated: tuple[str, ...]
    what: str
    why: str
    where: str
    directory: str
    log: str
    kpis: tuple[Moved, ...]
    more_kpis: int
    links: tuple[Link, ...]
    export_lost: str
    about: str
    judged: str = ""

    @property
    def good(self) -> bool:
        """Whether no action is needed."""
        return self.status == "ok" and self.exit_code == EXIT_OK

    @property
    def verdict(self) -> str:
        """The status with the kind of failure, unless the test failed, such as `failed: cluster unreachable …`."""
        kind = exit_code_text(self.exit_code)
        known = self.exit_code == EXIT_OK or kind == self.status or self.status == _REGRESSION
        return self.status if known else f"{self.status}: {kind}"


def message_of(run: Path, links: tuple[Link, ...], about: str) -> Message:
    """Return the message about a run that has ended.

    Raises:
        PerfError: run.json cannot be read.
    """
    state = read_run(run)
    document, reason = state.document, mapping(state.document.get("reason"))
    moved = sorted(moved_kpis(run), key=lambda kpi: (_MOVED.index(kpi.verdict), -abs(kpi.change or 0.0)))
    worse = any(kpi.verdict == "worse" for kpi in moved)
    verdict = mapping(document.get(FACT))
    exported, code = mapping(document.get("export")), document.get("exit_code")
    # in old runs, `lab` is a name
    lab = mapping(document.get("lab"))
    own = [Link("artifacts", str(exported["to"]))] if exported.get("status") == "ok" else []
    seconds = seconds_between(document.get("started"), document.get("ended"), utc_now())
    return Message(
        run=state.id,
        flow=str(document.get("flow") or ""),
        status=_REGRESSION if state.status == "ok" and worse else state.status,
        exit_code=(code if isinstance(code, int) else 0) or int(verdict.get("exit_code") or 0),
        took=duration_text(seconds),
        presets=tuple(map(str, listing(document.get("presets")))),
        simulated=tuple(map(str, listing(lab.get("simulated")))),
        what=_line(reason.get("what")),
        why=_line(reason.get("why")),
        where=_line(reason.get("where")),
        directory=_line(reason.get("directory")),
        log=_log_line(run) if reason else "",
        kpis=tuple(moved[:_MOST_KPIS]),
        more_kpis=max(0, len(moved) - _MOST_KPIS),
        links=(*links, *own),
        export_lost=_line(exported.get("why")) if exported.get("status") == "failed" else "",
        about=about,
        judged=_judged(verdict),
    )


def _judged(verdict: Mapping[str, Any]) -> str:
    """Return a sentence about the history of a run."""
    history = mapping(verdict.get("history"))
    if not history:
        return ""
    runs = f"compared with {counted(int(history.get('runs') or 0), 'run')} of the history"
    lost = _line(history.get("lost"))
    return f"history: {lost}" if lost else f"{runs}, {verdict.get('status')}"


def refusal_of(name: str, flow: str, why: str, links: tuple[Link, ...], about: str) -> Message:
    """Return the message about a job that was refused before its run; *name* is its build's name."""
    return Message(
        run=name,
        flow=flow,
        status=exit_code_text(EXIT_USAGE),
        exit_code=EXIT_USAGE,
        took="",
        presets=(),
        simulated=(),
        what="The job was refused",
        why=" ".join(why.split())[:_LONGEST_REFUSAL],
        where="",
        directory="",
        log="",
        kpis=(),
        more_kpis=0,
        links=links,
        export_lost="",
        about=about,
    )


def moved_kpis(run: Path) -> Iterator[Moved]:
    """Yield the KPIs that moved, from the run's report/regression.json, which `perfanalysis regress` writes."""
    document = read_document(run / "report" / "regression.json")
    for recording in document.get("recordings") or ():
        for kpi in recording.get("kpis") or ():
            change = kpi.get("change")
            if kpi.get("verdict") in _MOVED and isinstance(change, Mapping):
                yield _moved(str(recording.get("recording") or ""), kpi, change)


def _moved(recording: str, kpi: Mapping[str, Any], change: Mapping[str, Any]) -> Moved:
    return Moved(
        name=str(kpi["name"]),
        recording=recording,
        unit=str(kpi["unit"]),
        verdict=str(kpi["verdict"]),
        before=float(change["before"]),
        now=float(change["after"]),
        change=change["change"],
        low=change["low"],
        high=change["high"],
        effect=change.get("hedges_g"),
        since=str(change.get("since") or ""),
    )


def _log_line(run: Path) -> str:
    """Return the first line of the log with a failure, and its number."""
    try:
        with (run / "ansible.log").open(encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, start=1):
                if any(mark in line for mark in _FATAL):
                    return f"ansible.log:{number}: {_line(line)}"
    except OSError:
        return ""
    return ""


def _line(text: object) -> str:
    """Return the first line of a text, shortened."""
    first = str(text or "").strip().partition("\n")[0]
    return first if len(first) <= _LONGEST_LINE else f"{first[: _LONGEST_LINE - 1]}…"


def slack_text(text: object) -> str:
    """Return a text in which Slack finds no mention and no link."""
    return printable(str(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("`", "'")


def github_text(text: object) -> str:
    """Return a text for a code span of Markdown, without mentions and markup."""
    return one_line(text).replace("`", "'").replace("|", "\\|")


def render_message(name: str, message: Message, folder: str) -> str:
    """Return the text of a notification.

    Args:
        name: File name of the template.
        folder: The user's folder of templates, which override those of this package; empty for none.

    Raises:
        UsageError: The template cannot be used.
    """
    own = [FileSystemLoader(Path(folder).expanduser())] if folder else []
    loader = ChoiceLoader([*own, PackageLoader("perfci.notifying")])
    # Markdown and Slack's markup are escaped by the filters below, not as HTML
    environment = SandboxedEnvironment(
        loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters.update(slack=slack_text, code=github_text)
    try:
        return environment.get_template(name).render(message=message).strip() + "\n"
    except TemplateError as error:
        raise UsageError(f"cannot use the template {name} of notifications: {error}") from error
