"""The order of versions, and of texts that hold numbers: 4.9 before 4.10."""

from __future__ import annotations

import re

_PARTS = re.compile(r"\d+|[^\d.\-_+\s]+")
_WORD, _END, _NUMBER = range(3)


def version_key(value: object) -> tuple[tuple[int, int, str], ...]:
    """A key to sort by: numbers as numbers, `1.2-rc1` before `1.2` before `1.2.1`, None before all.

    The order is that of https://semver.org §11, for texts that are no semantic versions too.
    """
    if value is None:
        return ()
    parts = (_piece(part) for part in _PARTS.findall(str(value).removeprefix("v")))
    return (*parts, (_END, 0, ""))


def _piece(part: str) -> tuple[int, int, str]:
    return (_NUMBER, int(part), "") if part.isdecimal() else (_WORD, 0, part)
