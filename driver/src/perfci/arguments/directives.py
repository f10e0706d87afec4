"""Directives in a text of a pull request: lines such as `/var scale_test_count: 50`.

Code, quotations and HTML comments of Markdown contain no directives. A line that resembles a directive but is not one
is a problem, and the job is refused, because it would otherwise test with other values than requested.
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
# directives of Prow and of other bots
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
    """A directive: its word without the slash, and the text after it."""

    word: str
    rest: str
    where: Where

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the text after the directive's word."""
        return tuple(self.rest.split())


@dataclass(frozen=True, slots=True)
class ParsedDirectives:
    """The directives of a text, the lines that resemble directives, and remarks about others."""

    directives: tuple[Directive, ...] = ()
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def directives_in(text: str, url: str) -> ParsedDirectives:
    """Return the directives of a text, in order; lines count from 1.

    Args:
        url: URL of the text, for places.
    """
    directives: list[Directive] = []
    problems: list[str] = []
    remarks: list[str] = []
    for number, line in _shown_lines(text):
        where = Where(url, number)
        match = _LINE.fullmatch(line.rstrip())
        if match is None or not (match[2] or "").isprintable():
            if _looks_like_one(line):
                problems.append(
                    f"{where}: {_short(line)} looks like a directive, but has characters that directives cannot have"
                )
            continue
        word, rest = match[1].lower(), (match[2] or "").strip()
        if word in WORDS:
            directives.append(Directive(word, rest, where))
        elif word not in _FOREIGN:
            near = difflib.get_close_matches(word, WORDS, n=1, cutoff=0.6)
            if near:
                problems.append(f"{where}: there is no directive /{word}; did you mean /{near[0]}?")
            else:
                remarks.append(
                    f"{where}: /{word} is not a directive of psap.perf: {', '.join(f'/{each}' for each in WORDS)}"
                )
    return ParsedDirectives(tuple(directives), tuple(problems), tuple(remarks))


def _shown_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that Markdown shows as text."""
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
    """Return whether a line resembles a directive: a slash and a word, with similar characters of other scripts."""
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


# characters of other scripts that look like letters of the words
_ALIKE = str.maketrans("асеорхуѕіјԁԛԝтѵкнпοετυικνр", "aceopxysijdqwtvkhnoetuikvp")


def _plain(word: str) -> str:
    """Return a word with each character replaced by the ASCII letter that it looks like."""
    shown = unicodedata.normalize("NFKD", word.lower()).translate(_ALIKE)
    return "".join(letter if letter.isascii() else "?" for letter in shown if unicodedata.category(letter) != "Mn")


def _short(line: str) -> str:
    return ascii(line.strip()[:60])


def variable(directive: Directive) -> tuple[str, Any]:
    """Return the name and the value of `/var NAME: VALUE`, parsed as YAML.

    Raises:
        ValueError: The directive is not well formed, or the value is too long or not plain YAML.
    """
    name, colon, text = directive.rest.partition(":")
    if not colon or (text and not text.startswith((" ", "\t"))) or not _NAME.fullmatch(name.strip()):
        raise ValueError("must be /var NAME: VALUE")
    if len(text) > LONGEST_VALUE:
        raise ValueError(f"{name} has a value of {len(text)} characters; the limit is {LONGEST_VALUE}")
    _refuse_more_than_a_value(text, name)
    try:
        value = read_yaml_text(text)
    except NotYaml as error:
        raise ValueError(f"{name}: {error}") from error
    return name.strip(), value


def _refuse_more_than_a_value(text: str, name: str) -> None:
    """Refuse YAML that expands to much more than its text, before it is constructed.

    Raises:
        ValueError: The text has anchors, aliases or tags, is nested too deeply, or is not YAML.
    """
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
                raise ValueError(f"{name} has an anchor, an alias or a tag; use a plain value")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST_VALUE:
                raise ValueError(f"{name} is nested deeper than {_DEEPEST_VALUE} levels")
    except yaml.YAMLError as error:
        problem = str(getattr(error, "problem", None) or error).splitlines()[0]
        raise ValueError(f"{name} is not well-formed YAML: {problem}") from error
