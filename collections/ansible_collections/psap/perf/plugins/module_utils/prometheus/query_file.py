"""A file of queries: a line ``# name``, and below it the query, which may have several lines.

* ``##`` begins a comment anywhere between queries.
* If several lines with ``#`` are above a query, the last one is its name.
* While brackets of a query are open, a line with ``#`` belongs to it: PromQL has comments too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

_QUOTED = re.compile(r"""\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`""")
_COMMENT = re.compile(r"#.*")
_BARE = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*(\{[^{}]*\})?|\{[^{}]+\}")
_OPENING, _CLOSING = "([{", ")]}"
_VARIABLE = "$NAMESPACE"


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query and the name of its answer."""

    name: str
    expression: str

    @property
    def file(self) -> str:
        """The name of the answer's file, which is unique for each name."""
        return f"{quote(self.name, safe=' ,=+@')}.json"

    @property
    def bare(self) -> bool:
        """Whether it is a metric's name, with or without labels: its samples are read without computing."""
        return _BARE.fullmatch(_QUOTED.sub("''", self.expression)) is not None


def read_queries(path: Path, namespace: str) -> list[NamedQuery]:
    """Return the queries of a file, with ``$NAMESPACE`` replaced.

    Raises:
        UsageError: If it cannot be read, has no query, or an invalid one; the message has the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the query file {path} cannot be read: {error}") from error
    found: dict[str, NamedQuery] = {}
    for number, name, expression in _parsed(text, path):
        if name in found:
            raise UsageError(f"{path}:{number}: the name {name!r} is used above; choose another name")
        if _VARIABLE in expression and not namespace:
            raise UsageError(f"{path}:{number}: the query {name!r} contains $NAMESPACE; pass the argument namespace")
        found[name] = NamedQuery(name, expression.replace(_VARIABLE, namespace))
    if not found:
        raise UsageError(f"{path} has no query; write a line '# name' and the query below it")
    return list(found.values())


def _parsed(text: str, path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line of the name, the name and the query."""
    reader = _Reader(path)
    for number, line in enumerate(text.splitlines(), 1):
        if _open_brackets(reader.lines) or not line.startswith("#"):
            reader.take(number, line.strip())
        elif not line.startswith("##"):
            yield from reader.ended()
            reader.begin(number, line[1:].strip())
    yield from reader.ended()
    reader.refuse_unfinished()


@dataclass(slots=True)
class _Reader:
    """The query that is being read."""

    path: Path
    name: str = ""
    named_at: int = 0
    lines: list[str] = field(default_factory=list)

    def begin(self, number: int, name: str) -> None:
        if not name:
            raise UsageError(f"{self.path}:{number}: the name of the query is empty; write '# name'")
        self.name, self.named_at, self.lines = name, number, []

    def take(self, number: int, line: str) -> None:
        if line and not self.name:
            raise UsageError(f"{self.path}:{number}: a query without a name; write a line '# name' above it")
        if line:
            self.lines.append(line)

    def ended(self) -> Iterator[tuple[int, str, str]]:
        if self.lines:
            yield self.named_at, self.name, "\n".join(self.lines)

    def refuse_unfinished(self) -> None:
        if self.name and not self.lines:
            raise UsageError(f"{self.path}:{self.named_at}: no query follows the name {self.name!r}")
        if _open_brackets(self.lines):
            raise UsageError(f"{self.path}:{self.named_at}: the query {self.name!r} has unclosed brackets")


def _open_brackets(lines: list[str]) -> bool:
    text = _COMMENT.sub("", _QUOTED.sub("''", "\n".join(lines)))
    return sum(text.count(one) for one in _OPENING) > sum(text.count(one) for one in _CLOSING)
