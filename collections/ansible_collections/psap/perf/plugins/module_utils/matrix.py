"""The cells of a test matrix: the product of the dimensions, minus what is skipped."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
import jinja2.sandbox
from ansible_collections.psap.perf.plugins.module_utils.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.specs import Option


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination.

    :param index: its number in the product, which stays the same whatever is skipped or resumed.
    :param values: the flow's dimension settings, each with one value.
    :param name: what tells it from the others, for example ``count=300 workload_kind=Job``; empty when it is alone.
    """

    index: int
    values: Mapping[str, Any]
    name: str


@dataclass(frozen=True, slots=True)
class _Dimension:
    """One setting, or one leaf of a dictionary setting, and the values it takes."""

    setting: str
    leaf: str
    values: tuple[Any, ...]

    @property
    def label(self) -> str:
        return f"{self.setting}.{self.leaf}" if self.leaf else self.setting


def cells(options: Sequence[Option], values: Mapping[str, Any], skip_if: Sequence[str]) -> tuple[Cell, ...]:
    """All cells, in the order of the product, the last dimension varying fastest.

    :param options: the flow's settings; those with a dimension span the matrix.
    :param values: the settings' values.
    :param skip_if: Jinja expressions over a cell's values; a cell for which one is true is left out.
    :raises UsageError: for a dimension without values, or an expression that cannot be evaluated.
    """
    spanning = [option for option in options if option.dimension and option.name in values]
    dimensions = [dimension for option in spanning for dimension in _dimensions(option, values[option.name])]
    varied = [dimension for dimension in dimensions if len(dimension.values) > 1]
    skipped = [(text, _compiled(text)) for text in skip_if]
    found: list[Cell] = []
    for index, combination in enumerate(itertools.product(*(dimension.values for dimension in dimensions))):
        chosen = dict(zip((dimension.label for dimension in dimensions), combination, strict=True))
        cell = {option.name: copy.deepcopy(values[option.name]) for option in spanning}
        for dimension in dimensions:
            _set(cell, dimension, chosen[dimension.label])
        if not any(_true(text, expression, cell) for text, expression in skipped):
            name = " ".join(f"{dimension.label}={chosen[dimension.label]}" for dimension in varied)
            found.append(Cell(index, cell, name))
    return tuple(found)


def _dimensions(option: Option, value: Any) -> list[_Dimension]:
    return [_Dimension(option.name, leaf, _values(option.name, leaf, value)) for leaf in option.dimension]


def _values(setting: str, leaf: str, value: Any) -> tuple[Any, ...]:
    for key in filter(None, leaf.split(".")):
        value = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(value, list):
        return (value,)
    if not value:
        raise UsageError(f"{setting}{'.' + leaf if leaf else ''} is an empty list: a dimension needs a value")
    return tuple(value)


def _set(cell: dict[str, Any], dimension: _Dimension, value: Any) -> None:
    *parents, last = [dimension.setting, *filter(None, dimension.leaf.split("."))]
    place = cell
    for key in parents:
        if not isinstance(place.get(key), dict):
            # the leaf is not set: nothing varies there
            return
        place = place[key]
    if last in place:
        place[last] = value


def _compiled(text: str) -> Any:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
    try:
        return environment.compile_expression(text, undefined_to_none=False)
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"matrix_skip_if: {text!r} is no expression: {error.message}") from error


def _true(text: str, expression: Any, cell: Mapping[str, Any]) -> bool:
    try:
        return bool(expression(**cell))
    except (jinja2.UndefinedError, TypeError) as error:
        raise UsageError(f"matrix_skip_if: {text!r} cannot be evaluated: {error}") from error
