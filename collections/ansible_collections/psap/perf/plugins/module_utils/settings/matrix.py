"""The cells of a test matrix: the product of the dimensions without skipped combinations."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
import jinja2.sandbox
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import EVERY_LEAF, Option

RAW_LISTS = "raw_lists"
"""Key of an open dictionary; a list below it is one value, not several."""
# skipped cells count too: the product is computed first
_MOST_CELLS = 10_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination.

    Attributes:
        index: Its number in the product, which does not depend on skipped or resumed cells.
        values: The flow's dimension settings, each with one value.
        name: Its distinguishing values, for example ``count=300 workload_kind=Job``; empty for the only cell.
    """

    index: int
    values: Mapping[str, Any]
    name: str


@dataclass(frozen=True, slots=True)
class _Dimension:
    """One setting, or one leaf of a dictionary setting, and its values."""

    setting: str
    leaf: str
    values: tuple[Any, ...]

    @property
    def label(self) -> str:
        return f"{self.setting}.{self.leaf}" if self.leaf else self.setting


@dataclass(frozen=True, slots=True)
class _Combination:
    """A cell without its number: its values, and by label the values that may differ between cells."""

    values: dict[str, Any]
    chosen: dict[str, Any]


def cells(
    options: Sequence[Option],
    values: Mapping[str, Any],
    skip_if: Sequence[str],
    experiments: Sequence[Mapping[str, Any]] = (),
) -> tuple[Cell, ...]:
    """Return all cells in the order of the product; the last dimension varies fastest.

    Args:
        options: The flow's settings; those with a dimension span the matrix.
        values: The settings' values.
        skip_if: Jinja expressions over a cell's values; a cell is skipped if one of them is true.
        experiments: Settings, or dotted leaves of them, that override *values*. Each forms a separate product, in
            order. Names that are not in *options* are ignored.

    Raises:
        UsageError: If a dimension has no values, or an expression cannot be evaluated.
    """
    spanning = {option.name: option for option in options if option.dimension and option.name in values}
    skipped = [(text, _compile(text)) for text in skip_if]
    every = [
        combination
        for experiment in experiments or ({},)
        for combination in _product(spanning, _overlaid(values, experiment, spanning))
    ]
    varied = _varied(every)
    return tuple(
        Cell(index, one.values, " ".join(f"{label}={one.chosen[label]}" for label in varied if label in one.chosen))
        for index, one in enumerate(every)
        if not any(_true(text, expression, one.values) for text, expression in skipped)
    )


def _product(spanning: Mapping[str, Option], values: Mapping[str, Any]) -> Iterator[_Combination]:
    dimensions = [one for name, option in spanning.items() for one in _dimensions(option, values[name])]
    size = math.prod(len(dimension.values) for dimension in dimensions)
    if size > _MOST_CELLS:
        several = " by ".join(f"{len(one.values)} {one.label}" for one in dimensions if len(one.values) > 1)
        raise UsageError(f"the matrix has {size} cells ({several}); it must have at most {_MOST_CELLS}")
    for combination in itertools.product(*(dimension.values for dimension in dimensions)):
        chosen = dict(zip((dimension.label for dimension in dimensions), combination, strict=True))
        cell = {name: copy.deepcopy(values[name]) for name in spanning}
        for dimension in dimensions:
            _set(cell, dimension, chosen[dimension.label])
        yield _Combination(cell, chosen)


def _overlaid(
    values: Mapping[str, Any], experiment: Mapping[str, Any], spanning: Mapping[str, Option]
) -> dict[str, Any]:
    """Return *values* overridden by an experiment, whose keys may name a leaf."""
    overlaid = {name: copy.deepcopy(values[name]) for name in spanning}
    for key, value in experiment.items():
        setting, *path = key.split(".")
        if setting not in spanning:
            continue
        *parents, last = [setting, *path]
        place = overlaid
        for parent in parents:
            if not isinstance(place.get(parent), dict):
                place[parent] = {}
            place = place[parent]
        place[last] = copy.deepcopy(value)
    return overlaid


def _varied(combinations: Sequence[_Combination]) -> list[str]:
    """Return the labels by which cells differ, in order of appearance."""
    seen: dict[str, list[Any]] = {}
    for one in combinations:
        for label, value in one.chosen.items():
            found = seen.setdefault(label, [])
            if value not in found:
                found.append(value)
    everywhere = len(combinations)
    return [
        label
        for label, found in seen.items()
        if len(found) > 1 or sum(label in one.chosen for one in combinations) < everywhere
    ]


def _dimensions(option: Option, value: Any) -> list[_Dimension]:
    leaves = [leaf for named in option.dimension for leaf in (_leaves(value) if named == EVERY_LEAF else (named,))]
    return [_Dimension(option.name, leaf, _values(option.name, leaf, value)) for leaf in leaves]


def _leaves(value: Any, above: str = "") -> Iterator[str]:
    """Yield the dotted leaves of an open dictionary, except those below ``raw_lists``."""
    for key, item in value.items() if isinstance(value, Mapping) else ():
        if key == RAW_LISTS:
            continue
        if isinstance(item, Mapping):
            yield from _leaves(item, f"{above}{key}.")
        else:
            yield f"{above}{key}"


def _values(setting: str, leaf: str, value: Any) -> tuple[Any, ...]:
    for key in filter(None, leaf.split(".")):
        value = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(value, list):
        return (value,)
    if not value:
        raise UsageError(
            f"{setting}{'.' + leaf if leaf else ''} is an empty list; a dimension needs at least one value"
        )
    return tuple(value)


def _set(cell: dict[str, Any], dimension: _Dimension, value: Any) -> None:
    *parents, last = [dimension.setting, *filter(None, dimension.leaf.split("."))]
    place = cell
    for key in parents:
        if not isinstance(place.get(key), dict):
            # the leaf is not set, so it does not vary
            return
        place = place[key]
    if last in place:
        place[last] = value


def _compile(text: str) -> Any:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
    try:
        return environment.compile_expression(text, undefined_to_none=False)
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"matrix_skip_if: invalid expression {text!r}: {error.message}") from error


def _true(text: str, expression: Any, cell: Mapping[str, Any]) -> bool:
    try:
        return bool(expression(**cell))
    except (jinja2.UndefinedError, TypeError) as error:
        raise UsageError(f"matrix_skip_if: cannot evaluate {text!r}: {error}") from error
