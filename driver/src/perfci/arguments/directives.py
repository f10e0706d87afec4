"""Directives in a text of a pull request: lines such as `/var scale_test_count: 50`.

What Markdown shows as an example or hides is none: code, quotations, comments in HTML. A line that was meant as a
directive and is none is a problem, which refuses the job: to test with other values than were asked for helps nobody.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError as NotYaml
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where, read_yaml_text

WORDS = ("test", "var", "skip", "only", "cluster", "project")
# of Prow and of bots beside it, which are not ours to judge
_FOREIGN = frozenset(
    (
        "approve", "area", "assign", "backport", "cc", "check-cla", "cherrypick", "cherry-pick", "close", "hold",
        "jira",
        "kind", "label", "lgtm", "lifecycle", "lint", "milestone", "ok-to-test", "override", "payload", "payload-job",
        "pipeline", "pj-rehearse", "priority", "rebase", "refresh", "remove-approve", "remove-hold", "remove-label",
        "remove-lgtm", "remove-lifecycle", "reopen", "retest", "retest-required", "retitle", "review", "shrug", "sig",
        "tide", "unassign", "uncc", "unhold", "verified", "verify-owners", "woof", "meow",
    )
)  # fmt: skip
LONGEST_VALUE = 4096
_DEEPEST_VALUE = 16
_LINE_END = re.compile(r"\r\n|\n|\r")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_LINE = re.compile(r" {0,3}/([A-Za-z][A-Za-z0-9_-]*)(?:[ \t]+(.*))?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+)*")
_SLASHES = "/\u2044\u2215\u29f8\uff0f\u2571"


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive: its word without the slash, and what follows."""

    word: str
    rest: str
    where: Where

    @property
    def words(self) -> tuple[str, ...]:
        """What follows, word by word."""
        return tuple(self.rest.split())


@dataclass(frozen=True, slots=True)
class ParsedDirectives:
    """What a text has: directives, what was meant as one and is none, and what is not ours."""

    directives: tuple[Directive, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def directives_in(text: str, url: str) -> ParsedDirectives:
    """The directives of a text, in their order; lines count from 1.

    Args:
        url: of the text, for the places.
    """
    directives: list[Directive] = []
    problems: list[str] = []
    remarks: list[str] = []
    for number, line in _shown_lines(text):
        where = Where(url, number)
        match = _LINE.fullmatch(line.rstrip())
        if match is None or not (match[2] or "").isprintable():
            if _looks_like_one(line):
                problems.append(f"{where}: {_short(line)} looks like a directive, but has characters that none has")
            continue
        word, rest = match[1].lower(), (match[2] or "").strip()
        if word in WORDS:
            directives.append(Directive(word, rest, where))
        elif word not in _FOREIGN:
            near = difflib.get_close_matches(word, WORDS, n=1, cutoff=0.6)
            if near:
                problems.append(f"{where}: there is no directive /{word}; did you mean /{near[0]}?")
            else:
                remarks.append(f"{where}: /{word} is no directive of ours: {', '.join(f'/{each}' for each in WORDS)}")
    return ParsedDirectives(tuple(directives), tuple(problems), tuple(remarks))


def _shown_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that Markdown shows as text."""
    fence, in_comment = "", False
    for number, line in enumerate(_LINE_END.split(text), 1):
        if fence:
            closing = _FENCE.fullmatch(line)
            if closing and closing[1].startswith(fence) and not closing[2].strip():
                fence = ""
            continue
        if in_comment:
            in_comment = "-->" not in line
            continue
        opening = _FENCE.fullmatch(line)
        if opening and not (opening[1][0] == "`" and "`" in opening[2]):
            fence = opening[1]
            continue
        yield number, line
        in_comment = "<!--" in line and "-->" not in line.rpartition("<!--")[2]


def _looks_like_one(line: str) -> bool:
    """Whether it was meant as a directive: one of our words, after a slash, with characters that look like them."""
    if line.startswith(("    ", "\t")):
        return False
    visible = "".join(letter for letter in line.strip() if unicodedata.category(letter) not in ("Cf", "Cc"))
    if not visible or visible[0] not in _SLASHES:
        return False
    word = _plain(visible[1:].split(maxsplit=1)[0]) if visible[1:].split() else ""
    if not word.strip("?"):
        return False
    strange = not line.isascii() or not line.strip().isprintable()
    return strange and "/" not in word and bool(difflib.get_close_matches(word, WORDS, n=1, cutoff=0.6))


# of other scripts, those that look like letters of our words
_ALIKE = str.maketrans("асеорхуѕіјԁԛԝтѵкнпοετυικνр", "aceopxysijdqwtvkhnoetuikvp")


def _plain(word: str) -> str:
    """A word with the letters of ASCII that its own look like."""
    shown = unicodedata.normalize("NFKD", word.lower()).translate(_ALIKE)
    return "".join(letter if letter.isascii() else "?" for letter in shown if unicodedata.category(letter) != "Mn")


def _short(line: str) -> str:
    return ascii(line.strip()[:60])


def variable(directive: Directive) -> tuple[str, Any]:
    """The name and the value of `/var NAME: VALUE`, in YAML's types.

    Raises:
        ValueError: it is not well formed, too long, or YAML that is more than a value.
    """
    name, colon, text = directive.rest.partition(":")
    if not colon or (text and not text.startswith((" ", "\t"))) or not _NAME.fullmatch(name.strip()):
        raise ValueError("must be /var NAME: VALUE")
    if len(text) > LONGEST_VALUE:
        raise ValueError(f"{name} has a value of {len(text)} characters; {LONGEST_VALUE} are allowed")
    _refuse_more_than_a_value(text, name)
    try:
        value = read_yaml_text(text)
    except NotYaml as error:
        raise ValueError(f"{name}: {error}") from error
    return name.strip(), value


def _refuse_more_than_a_value(text: str, name: str) -> None:
    """Refuse what makes much of little, before it is built.

    Raises:
        ValueError: aliases, tags, depth, or no YAML at all.
    """
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
                raise ValueError(f"{name} has an anchor, an alias or a tag, which a value may not have")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST_VALUE:
                raise ValueError(f"{name} is nested deeper than {_DEEPEST_VALUE} levels")
    except yaml.YAMLError as error:
        said = str(getattr(error, "problem", None) or error).splitlines()[0]
        raise ValueError(f"{name} is not well-formed YAML: {said}") from error
