"""Programs as roles write them: lines with words in braces, ``{engine} create --name {name} {image}``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean

# a step is repeated until it succeeds, for as long as `within` says, and for each value of `each`, a word of its lines
_FIELDS = {"program", "unless", "undo", "within", "each"}
_WORD = re.compile(r"\{(\w+)\}")
# A list becomes several arguments; other values are texts or numbers.
Words = Mapping[str, Any]
# A line, or a mapping of `_FIELDS`.
Step = Union[str, dict[str, Any]]  # noqa: UP007 - ansible-test's pylint does not infer str | dict[…]


def render(line: str, words: Words) -> list[str]:
    """The arguments of *line*, split as a shell does; a list of words that stands alone becomes as many arguments.

    No shell sees them, so that a value with spaces or quotes remains one argument.

    :raises UsageError: for a word that there is not, or a quote without an end.
    """
    try:
        parts = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{line!r} cannot be split into arguments: {error}") from error
    if not parts:
        raise UsageError("a program is an empty line")
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
    """Steps as they are sent to the host: each a line, or a mapping with ``program`` and what :data:`_FIELDS` names.

    :raises UsageError: when one is neither.
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
