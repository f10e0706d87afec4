"""YAML of others, as plain JSON values of a bounded size."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MOST_VALUES = 20_000
"""More values than any file of settings has; anchors of YAML can make billions of a few lines."""
LARGEST_FILE = 10_000_000
"""Bytes of the largest file that is taken for settings."""

TOO_DEEP = "it is nested too deeply"


def read_yaml(path: Path) -> Any:
    """The plain value of a YAML file. Raises ValueError or OSError saying what is wrong with it."""
    with path.open("rb") as stream:
        content = stream.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"it is larger than {LARGEST_FILE // 10**6} MB")
    return yaml_value(content)


def yaml_value(content: bytes | str) -> Any:
    """The same of a text."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return plain(yaml.load(content, Loader=loader), MOST_VALUES)  # noqa: S506 - both are safe loaders
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def plain(value: Any, most: int = 10**9) -> Any:
    """A value as JSON has them: no dates, no sets, no infinite numbers, no text that UTF-8 cannot hold.

    Raises ValueError for one of more than so many values, or nested too deeply.
    """
    try:
        return _plain(value, [most])
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def _plain(value: Any, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(f"it has more than {MOST_VALUES} values")
    if isinstance(value, dict):
        return {_text(key): _plain(part, left) for key, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(part, left) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float) else _text(value)


def _text(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode()


def present(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Those of the files below a directory that are there, by their names."""
    return {name: folder / name for name in names if (folder / name).is_file()}
