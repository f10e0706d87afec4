"""Words that every output shares: a setting's value as readers write it, and numbers of things."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def value_text(value: Any) -> str:
    """A value on one line: `r=4, lora.alpha=16` for a mapping, `[1, 2]` for a list, a text as it is, else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and value:
        return ", ".join(f"{name}={text}" for name, text in _leaves(value))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return f"[{', '.join(f'({value_text(one)})' if _is_several(one) else value_text(one) for one in value)}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_several(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _leaves(values: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """What a mapping holds, by dotted names."""
    for name, value in values.items():
        if _is_several(value):
            yield from ((f"{name}.{inner}", text) for inner, text in _leaves(value))
        else:
            yield str(name), value_text(value)


def counted(number: int, one: str, several: str = "") -> str:
    """`1 run`, `2 runs`; `several` where the plural is no s."""
    return f"{number} {one if number == 1 else several or f'{one}s'}"
