"""A file of queries: a line ``# name``, and below it the query, which may have several lines.

* ``##`` begins a comment anywhere between queries.
* If several lines with ``#`` are above a query, the last one is its name.
* While brackets of a query are open, a line with ``#`` belongs to it: PromQL has comments too.
* ``## kpi lower: mean, max`` below a name makes KPIs of the query's values, with the direction that is better.
* ``$NAMESPACE`` and ``$MODEL`` are replaced when the file is read, ``$WINDOW`` and ``$RANGE`` when the window is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

_QUOTED = re.compile(r"""\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`""")
_COMMENT = re.compile(r"#.*")
_BARE = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*(\{[^{}]*\})?|\{[^{}]+\}")
_OPENING, _CLOSING = "([{", ")]}"
_NAMESPACE, _MODEL, _WINDOW, _RANGE = "$NAMESPACE", "$MODEL", "$WINDOW", "$RANGE"
_ANY_MODEL = ".*"
_KPI = re.compile(r"##\s*kpi\b")
_DECLARED = re.compile(r"##\s*kpi\s+(lower|higher|neither):\s*(\w+(?:\s*,\s*\w+)*)")
STATISTICS = ("min", "mean", "p95", "max", "integral")
"""Statistics of a query's values over the window."""
WHOLE = "value"
"""The statistic of a query that is evaluated once, for the whole window."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query and the name of its answer.

    Attributes:
        name: The name in the file.
        expression: The query in PromQL.
        statistics: The KPIs of its values.
        direction: Which direction of the KPIs is better: ``lower``, ``higher`` or ``neither``.
    """

    name: str
    expression: str
    statistics: tuple[str, ...] = ()
    direction: str = "neither"

    @property
    def file(self) -> str:
        """The name of the answer's file, which is unique for each name."""
        return f"{quote(self.name, safe=' ,=+@')}.json"

    @property
    def bare(self) -> bool:
        """Whether it is a metric's name, with or without labels: its samples are read without computing."""
        return _BARE.fullmatch(_QUOTED.sub("''", self.expression)) is not None

    @property
    def of_whole_window(self) -> bool:
        """Whether it is evaluated once, at the end of the window."""
        return _WINDOW in self.expression

    @property
    def needs_range(self) -> bool:
        """Whether it contains ``$RANGE``."""
        return _RANGE in self.expression

    def within(self, window_s: float, range_s: float) -> NamedQuery:
        """Return the query with the length of the window, and with the range of rates at each step."""
        texts = {_WINDOW: f"{max(1, round(1000 * window_s))}ms", _RANGE: f"{max(1, round(1000 * range_s))}ms"}
        return replace(self, expression=_filled(self.expression, texts))


def shipped_files(collection: Path) -> dict[str, Path]:
    """Return the shipped query files of a collection by their layers."""
    return {path.stem: path for path in sorted(collection.glob("roles/cluster_query_prometheus_db/files/*.txt"))}


def read_files(paths: Iterable[Path], namespace: str, model: str = "") -> list[NamedQuery]:
    """Return the queries of several files as `read_queries` does, in their order.

    Raises:
        UsageError: If two files have a query of the same name, or as `read_queries`.
    """
    found: dict[str, tuple[Path, NamedQuery]] = {}
    for path in paths:
        for query in read_queries(path, namespace, model):
            if query.name in found:
                raise UsageError(
                    f"{path}: {found[query.name][0]} has a query {query.name!r} too; choose another name, or leave out "
                    "one of the files"
                )
            found[query.name] = path, query
    return [query for _path, query in found.values()]


def read_queries(path: Path, namespace: str, model: str = "") -> list[NamedQuery]:
    """Return the queries of a file, with ``$NAMESPACE`` and ``$MODEL`` replaced; without a model, by any name.

    Raises:
        UsageError: If it cannot be read, has no query, or an invalid one; the message has the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the query file {path} cannot be read: {error}") from error
    found: dict[str, NamedQuery] = {}
    for number, query in _parsed(text, path):
        if query.name in found:
            raise UsageError(f"{path}:{number}: the name {query.name!r} is used above; choose another name")
        if _NAMESPACE in query.expression and not namespace:
            raise UsageError(
                f"{path}:{number}: the query {query.name!r} contains $NAMESPACE; pass the argument namespace"
            )
        _check_statistics(query, f"{path}:{number}")
        texts = {_NAMESPACE: namespace, _MODEL: model or _ANY_MODEL}
        found[query.name] = replace(query, expression=_filled(query.expression, texts))
    if not found:
        raise UsageError(f"{path} has no query; write a line '# name' and the query below it")
    return list(found.values())


def _filled(expression: str, texts: Mapping[str, str]) -> str:
    for variable, text in texts.items():
        expression = expression.replace(variable, text)
    return expression


def _check_statistics(query: NamedQuery, at: str) -> None:
    possible = (WHOLE,) if query.of_whole_window else STATISTICS
    unknown = next((one for one in query.statistics if one not in possible), None)
    if unknown is not None:
        reason = "contains $WINDOW" if query.of_whole_window else "has values over time"
        raise UsageError(f"{at}: no KPI {unknown!r}: the query {query.name!r} {reason}; use {', '.join(possible)}")


def _parsed(text: str, path: Path) -> Iterator[tuple[int, NamedQuery]]:
    """Yield the line of the name, and the query."""
    reader = _Reader(path)
    for number, line in enumerate(text.splitlines(), 1):
        if _open_brackets(reader.lines) or not line.startswith("#"):
            reader.take(number, line.strip())
        elif _KPI.match(line):
            reader.declare(number, line.strip())
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
    kpis: tuple[str, tuple[str, ...]] = ("neither", ())

    def begin(self, number: int, name: str) -> None:
        if not name:
            raise UsageError(f"{self.path}:{number}: the name of the query is empty; write '# name'")
        self.name, self.named_at, self.lines, self.kpis = name, number, [], ("neither", ())

    def declare(self, number: int, line: str) -> None:
        declared = _DECLARED.fullmatch(line)
        if declared is None:
            raise UsageError(f"{self.path}:{number}: invalid KPIs; write a line such as '## kpi lower: mean, max'")
        if not self.name or self.lines:
            raise UsageError(f"{self.path}:{number}: KPIs without a query; write the line directly below '# name'")
        self.kpis = declared[1], tuple(re.split(r"\s*,\s*", declared[2]))

    def take(self, number: int, line: str) -> None:
        if line and not self.name:
            raise UsageError(f"{self.path}:{number}: a query without a name; write a line '# name' above it")
        if line:
            self.lines.append(line)

    def ended(self) -> Iterator[tuple[int, NamedQuery]]:
        if self.lines:
            direction, statistics = self.kpis
            yield self.named_at, NamedQuery(self.name, "\n".join(self.lines), statistics, direction)

    def refuse_unfinished(self) -> None:
        if self.name and not self.lines:
            raise UsageError(f"{self.path}:{self.named_at}: no query follows the name {self.name!r}")
        if _open_brackets(self.lines):
            raise UsageError(f"{self.path}:{self.named_at}: the query {self.name!r} has unclosed brackets")


def _open_brackets(lines: list[str]) -> bool:
    text = _COMMENT.sub("", _QUOTED.sub("''", "\n".join(lines)))
    return sum(text.count(one) for one in _OPENING) > sum(text.count(one) for one in _CLOSING)
