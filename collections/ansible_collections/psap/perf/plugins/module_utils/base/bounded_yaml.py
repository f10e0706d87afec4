"""Load YAML that users wrote; refuse values that are too large or too deep, however short their text is.

`files/bounded_yaml.py` of perfanalysis and of perflab are links to this file: no package imports another.
"""

from __future__ import annotations

from typing import Any

import yaml

# libyaml's parser is about eight times faster, if it is installed
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MOST_VALUES = 1_000_000
DEEPEST = 100
TOO_DEEP = f"nested more than {DEEPEST} levels deep"
# libyaml surely composes this many levels: it recurses in C, and some ten thousand levels crash the process
_SURELY_FLAT = 2000


class UnboundedError(yaml.MarkedYAMLError):
    """A text that is refused; ``problem`` and ``problem_mark`` have the reason and the place."""

    def __init__(self, problem: str, event: Any) -> None:
        super().__init__(problem=problem, problem_mark=event.start_mark)


def load_yaml(text: str, loader: Any = Loader) -> Any:
    """Return the value of a YAML text.

    Raises:
        yaml.YAMLError: If it is not YAML, or is too large or too deep.
    """
    check_bounds(text)
    return yaml.load(text, Loader=loader)  # noqa: S506 - callers pass safe loaders


def load_yaml_documents(text: str) -> list[Any]:
    """Return the values of all documents of a YAML text; raises as `load_yaml`."""
    check_bounds(text)
    return list(yaml.load_all(text, Loader=Loader))


def check_bounds(text: str) -> None:
    """Refuse a text that nests too deeply or, through aliases, contains itself or too many values.

    Raises:
        UnboundedError: If it is too large or too deep.
        yaml.YAMLError: If it is not YAML.
    """
    if not ("*" in text and "&" in text) and _deepest(text) <= _SURELY_FLAT:
        return
    measure = _Measure()
    for event in yaml.parse(text, Loader=Loader):
        measure.take(event)


def _deepest(text: str) -> int:
    """Return an upper bound of the levels: block levels by the longest line, flow levels by the brackets."""
    longest = max(map(len, text.splitlines()), default=0)
    return 2 * longest + text.count("[") + text.count("{")


class _Measure:
    """Counts the values and levels of a document with every alias expanded."""

    def __init__(self) -> None:
        # values and levels of each open collection and of each anchor; None while the anchor's node is open
        self._open: list[tuple[str | None, list[int]]] = []
        self._anchors: dict[str, tuple[int, int] | None] = {}

    def take(self, event: Any) -> None:
        """Count the next event of the parser.

        Raises:
            UnboundedError: If the document is too large or too deep.
        """
        if isinstance(event, yaml.DocumentStartEvent):
            self._anchors.clear()
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, [1, 0]))
            self._close(event, event.anchor, None)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, (values, levels) = self._open.pop()
            self._close(event, anchor, (values, levels + 1))
        elif isinstance(event, yaml.ScalarEvent):
            self._close(event, event.anchor, (1, 0))
        elif isinstance(event, yaml.AliasEvent):
            # the parser refuses an undefined alias
            found = self._anchors.get(str(event.anchor), (1, 0))
            if found is None:
                raise UnboundedError("an alias includes itself", event)
            self._close(event, None, found)

    def _close(self, event: Any, anchor: str | None, size: tuple[int, int] | None) -> None:
        """Record the size of a node under its anchor and add it to the enclosing collection; None opens the node."""
        if anchor is not None:
            self._anchors[anchor] = size
        values, levels = size or (0, 0)
        if self._open and size:
            around = self._open[-1][1]
            around[0] += values
            around[1] = max(around[1], levels)
            values = around[0]
        if values > MOST_VALUES:
            raise UnboundedError(f"expands to more than {MOST_VALUES} values by its aliases", event)
        if len(self._open) + levels > DEEPEST:
            raise UnboundedError(TOO_DEEP, event)
