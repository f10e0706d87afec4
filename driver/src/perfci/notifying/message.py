"""What a notification says of a run: verdict, first failure, the KPIs that moved, links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.directory import read_run
from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment
from perfanalysis.files.documents import listing, mapping
from perfanalysis.output import one_line, printable
from perfdrv.errors import EXIT_OK, EXIT_USAGE, UsageError, in_words
from perfdrv.runs.durations import duration_text, seconds_between, utc_now
from perfdrv.runs.tree import read_document

_LONGEST_LINE = 300
_LONGEST_REFUSAL = 2000
_MOST_KPIS = 10
_MOVED = ("worse", "different", "better")
_FATAL = ("fatal: ", "failed: ", "[ERROR]: ")


@dataclass(frozen=True, slots=True)
class Link:
    """Something to open."""

    title: str
    target: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A KPI that moved against its history.

    Attributes:
        verdict: `worse`, `different` or `better`.
        change: as a share of the level before; None where that was 0.
        low: lower end of the 95 % interval of the change.
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

    @property
    def size(self) -> str:
        """`+12.3 % (95 %: +8.0 % to +17.1 %)`."""
        if self.change is None:
            return f"from {self.before:g} to {self.now:g} {self.unit}"
        known = self.low is not None and self.high is not None
        interval = f" (95 %: {100 * (self.low or 0):+.1f} % to {100 * (self.high or 0):+.1f} %)" if known else ""
        return f"{100 * self.change:+.1f} %{interval}, {self.before:g} to {self.now:g} {self.unit}"


@dataclass(frozen=True, slots=True)
class Message:
    """What templates get.

    Attributes:
        status: of the run, or `regression` where it ended well and a KPI is worse.
        what: the first failure: its command and task; empty where there is none.
        why: its message in one line.
        where: file and line of the task, and its host.
        log: line of ansible.log, `ansible.log:123: fatal: …`.
        export_lost: why the run was not exported; empty where it was, or where nobody asked for it.
        about: what the thread is about: a pull request, or a day.
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

    @property
    def good(self) -> bool:
        """Whether nobody needs to act."""
        return self.status == "ok"

    @property
    def verdict(self) -> str:
        """The status, and what kind of failure it is where the test did not fail: `failed: cluster unreachable …`."""
        kind = in_words(self.exit_code)
        return self.status if self.exit_code == EXIT_OK or kind == self.status else f"{self.status}: {kind}"


def message_of(run: Path, links: tuple[Link, ...], about: str) -> Message:
    """What is to be said of a run that has ended.

    Raises:
        PerfError: its run.json cannot be read.
    """
    state = read_run(run)
    document, reason = state.document, mapping(state.document.get("reason"))
    moved = sorted(moved_kpis(run), key=lambda kpi: (_MOVED.index(kpi.verdict), -abs(kpi.change or 0.0)))
    worse = any(kpi.verdict == "worse" for kpi in moved)
    exported, code = mapping(document.get("export")), document.get("exit_code")
    # of a run of former days it is a name
    lab = mapping(document.get("lab"))
    own = [Link("artifacts", str(exported["to"]))] if exported.get("status") == "ok" else []
    seconds = seconds_between(document.get("started"), document.get("ended"), utc_now())
    return Message(
        run=state.id,
        flow=str(document.get("flow") or ""),
        status="regression" if state.status == "ok" and worse else state.status,
        exit_code=code if isinstance(code, int) else 0,
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
    )


def refusal_of(name: str, flow: str, why: str, links: tuple[Link, ...], about: str) -> Message:
    """What is to be said of a job that was refused before it came to a run, by the *name* of its build."""
    return Message(
        run=name,
        flow=flow,
        status=in_words(EXIT_USAGE),
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
    """The KPIs that moved, by the run's report/regression.json, which `perfanalysis regress` writes."""
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
    )


def _log_line(run: Path) -> str:
    """The first line of the log that tells a failure, with its number."""
    try:
        with (run / "ansible.log").open(encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, start=1):
                if any(mark in line for mark in _FATAL):
                    return f"ansible.log:{number}: {_line(line)}"
    except OSError:
        return ""
    return ""


def _line(text: object) -> str:
    """The first line of a text, not too long."""
    first = str(text or "").strip().partition("\n")[0]
    return first if len(first) <= _LONGEST_LINE else f"{first[: _LONGEST_LINE - 1]}…"


def slack_text(text: object) -> str:
    """A text that Slack takes for nothing but text: no mention, no link."""
    return printable(str(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("`", "'")


def github_text(text: object) -> str:
    """A text that stands in a code span of Markdown: no mention, no markup."""
    return one_line(text).replace("`", "'").replace("|", "\\|")


def rendered(name: str, message: Message, folder: str) -> str:
    """The text of a notification, by the template *name* in a folder of the user's, else by the shipped one.

    Raises:
        UsageError: the template cannot be used.
    """
    own = [FileSystemLoader(Path(folder).expanduser())] if folder else []
    loader = ChoiceLoader([*own, PackageLoader("perfci.notifying")])
    # Markdown and Slack's markup are no HTML; the filters below are what escapes there
    environment = SandboxedEnvironment(
        loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters.update(slack=slack_text, code=github_text)
    try:
        return environment.get_template(name).render(message=message).strip() + "\n"
    except TemplateError as error:
        raise UsageError(f"the template {name} of notifications cannot be used: {error}") from error
