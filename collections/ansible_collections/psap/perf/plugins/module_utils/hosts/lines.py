"""Command lines of roles with words in braces, such as ``{engine} create --name {name} {image}``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean

# a step is repeated until it succeeds, for up to `within`, and for each value of `each`, a word of its lines
_FIELDS = {"program", "unless", "undo", "within", "each"}
_WORD = re.compile(r"\{(\w+)\}")
# A list becomes several arguments; other values are texts or numbers.
Words = Mapping[str, Any]
# A line, or a mapping of `_FIELDS`.
Step = Union[str, dict[str, Any]]  # noqa: UP007 - ansible-test's pylint does not infer str | dict[…]


def render(line: str, words: Words) -> list[str]:
    """Return the arguments of *line*, split as a shell does; an argument that is a list becomes several arguments.

    No shell is involved, so that a value with spaces or quotes remains one argument.

    Raises:
        UsageError: If a word is unknown, or a quote is not closed.
    """
    try:
        parts = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"cannot split {line!r} into arguments: {error}") from error
    if not parts:
        raise UsageError("the line of a program is empty")
    rendered: list[str] = []
    for part in parts:
        alone = _WORD.fullmatch(part)
        if alone:
            value = _value(alone[1], words, line)
            rendered += [str(each) for each in value] if isinstance(value, list) else [str(value)]
        else:
            rendered.append(_WORD.sub(lambda found: _text(found[1], words, line), part))
    return rendered


def steps(given: Sequence[Step], words: Words) -> list[dict[str, Any]]:
    """Return steps in the format that is sent to the host.

    Args:
        given: Lines, or mappings with ``program`` and other fields of :data:`_FIELDS`.

    Raises:
        UsageError: If a step is neither.
    """
    return [one for each in given for one in _steps(each, words)]


def _steps(given: Step, words: Words) -> Iterator[dict[str, Any]]:
    fields: Any = {"program": given} if isinstance(given, str) else given
    if not isinstance(fields, Mapping) or "program" not in fields or not set(fields) <= _FIELDS:
        raise UsageError(f"{given!r} is not a step: write a line, or a mapping of {', '.join(sorted(_FIELDS))}")
    for value in fields.get("each", [None]):
        known = words if value is None else {**words, "each": str(value)}
        step = {name: render(str(fields[name]), known) for name in ("program", "unless", "undo") if fields.get(name)}
        yield {**step, "within_s": seconds(fields.get("within", 0))}


def _value(name: str, words: Words, line: str) -> Any:
    if name not in words:
        raise UsageError(f"{line!r}: unknown word {name}{did_you_mean(name, words)}")
    return words[name]


def _text(name: str, words: Words, line: str) -> str:
    value = _value(name, words, line)
    return shlex.join(map(str, value)) if isinstance(value, list) else str(value)
