"""The choice of the texts of a pull request that count, and the arguments in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Entry
from ansible_collections.psap.perf.plugins.module_utils.settings.pull_request import PullArguments, wrong_arguments
from perfdrv.project import Project

from perfci.arguments.directives import Directive, ParsedDirectives, directives_in, variable
from perfci.jobs.steps import NAMES, Choice

_PRESET = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Text:
    """The description of a pull request, or a comment on it.

    Attributes:
        association: Of its author with the repository, as GitHub names it.
    """

    body: str
    url: str
    author: str
    association: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Who may set arguments.

    Attributes:
        associations: Of authors with the repository.
        owners: Logins, in lower case.
    """

    associations: frozenset[str]
    owners: frozenset[str] = frozenset()

    def allows(self, text: Text) -> bool:
        """Return whether the author of a text may set arguments."""
        return text.association in self.associations or text.author.lower() in self.owners


@dataclass(slots=True)
class JobArguments:
    """The arguments of a job in a pull request.

    Attributes:
        sources: The texts that count.
        problems: A job with problems is refused.
        remarks: The texts and directives that do not count, with the reasons.
    """

    pull: PullArguments = field(default_factory=PullArguments)
    choice: Choice = field(default_factory=Choice)
    cluster: tuple[str, Where] | None = None
    project: tuple[str, Where] | None = None
    sources: list[Text] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def arguments_of(
    description: Text, comments: Sequence[Text], test: str, policy: Policy, project: Project
) -> JobArguments:
    """Return the arguments of the job that `/test TEST` requests.

    The directives of the last comment that requests the test override those of the description. A text whose author may
    not set arguments does not count.
    """
    found = JobArguments()
    asked = _last_asking(comments, test, policy, found)
    parts: list[tuple[Text, ParsedDirectives]] = []
    for text in (description, *([asked] if asked else [])):
        parsed = directives_in(text.body, text.url)
        if not policy.allows(text):
            if parsed.directives:
                found.remarks.append(f"{text.url}: {_may_not(text)}, so its directives do not count")
            continue
        parts.append((text, parsed))
    for text, parsed in parts:
        found.sources.append(text)
        found.problems += parsed.problems
        found.remarks += parsed.remarks
        _take(found, parsed.directives, test, project)
    found.problems += dict.fromkeys(str(finding) for finding in wrong_arguments(project.content(), found.pull))
    return found


def _last_asking(comments: Sequence[Text], test: str, policy: Policy, found: JobArguments) -> Text | None:
    """Return the last comment that requests the test and counts."""
    for text in reversed(comments):
        if any(_asks_for(each, test) for each in directives_in(text.body, text.url).directives):
            if policy.allows(text):
                return text
            found.remarks.append(f"{text.url}: {_may_not(text)}, so this comment does not count")
    return None


def _may_not(text: Text) -> str:
    return f"{text.author} ({text.association or 'NONE'}) may not set arguments"


def _asks_for(directive: Directive, test: str) -> bool:
    return directive.word == "test" and directive.words[:1] == (test,)


def _take(found: JobArguments, directives: Iterable[Directive], test: str, project: Project) -> None:
    """Add the directives of one text to those of the texts before it."""
    presets: list[tuple[str, Where]] = []
    settings: dict[str, Entry] = {}
    skip: list[str] = []
    only: list[str] = []
    for each in directives:
        if each.word == "test":
            # `/test` of another job does not count
            presets += [(name, each.where) for name in each.words[1:]] if _asks_for(each, test) else []
        elif each.word == "var":
            _take_variable(found, settings, each)
        elif each.word in ("skip", "only"):
            (skip if each.word == "skip" else only).extend(_steps(found, each))
        else:
            _take_name(found, each, project)
    for name, where in presets:
        if not _PRESET.fullmatch(name):
            found.problems.append(f"{where}: {name[:60]!r} is not the name of a preset; only presets follow the test")
    # presets of a later `/test` of the same job replace the earlier ones
    kept = tuple((name, where) for name, where in presets if _PRESET.fullmatch(name)) or found.pull.presets
    earlier = [one for one in found.pull.settings if one.key not in settings]
    found.pull = PullArguments(kept, (*earlier, *settings.values()))
    found.choice = found.choice.with_those_of(Choice(tuple(skip), tuple(only)))


def _take_variable(found: JobArguments, settings: dict[str, Entry], each: Directive) -> None:
    try:
        name, value = variable(each)
    except ValueError as error:
        found.problems.append(f"{each.where}: {error}")
        return
    if name in settings:
        found.problems.append(f"{each.where}: {name} is set twice, first at {settings[name].where}")
        return
    settings[name] = Entry(name, value, each.where)


def _steps(found: JobArguments, each: Directive) -> list[str]:
    if not each.words:
        found.problems.append(f"{each.where}: /{each.word} has no step; the steps are {', '.join(NAMES)}")
    for word in each.words:
        if word not in NAMES:
            found.problems.append(f"{each.where}: there is no step {word[:60]!r}{did_you_mean(word, NAMES)}")
    return [word for word in each.words if word in NAMES]


def _take_name(found: JobArguments, each: Directive, project: Project) -> None:
    """Add a site or a flow, by its name in the project; paths are refused."""
    known: Callable[[], Iterable[str]]
    what, known = ("site", lambda: project.content().sites) if each.word == "cluster" else ("flow", _flows(project))
    names = list(known())
    if len(each.words) != 1:
        found.problems.append(f"{each.where}: /{each.word} needs the name of one {what}")
    elif each.words[0] not in names:
        found.problems.append(
            f"{each.where}: there is no {what} {each.words[0][:60]!r}{did_you_mean(each.words[0], names)}"
        )
    elif each.word == "cluster":
        found.cluster = (each.words[0], each.where)
    else:
        found.project = (each.words[0], each.where)


def _flows(project: Project) -> Callable[[], Iterable[str]]:
    return lambda: project.content().flows
