"""A payload from JSON and back. What is written and read again is equal, with every digit."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document, mapping, schema_problem
from perfanalysis.results.payload.model import Payload
from perfanalysis.results.payload.schema import PLAIN


def to_json(payload: Payload) -> Document:
    """The document psap.perf/payload/1."""
    return cast(Document, _plain(dataclasses.asdict(payload)))


def from_json(document: object) -> Payload:
    """The payload of a document; unknown keys are left out. UsageError names the place that is not as the types say."""
    problem = schema_problem(mapping(document).get("schema"), "payload")
    if problem:
        raise UsageError(f"this is no payload: {problem}")
    return cast(Payload, _read(Payload, document, "payload"))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _read(hint: Any, value: Any, place: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _read(arguments[0], value, place)
    if hint is Any:
        return value
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(hint, value, place)
    if origin is tuple:
        _expect(isinstance(value, list), place, "a list")
        return tuple(_read(arguments[0], part, f"{place}[{number}]") for number, part in enumerate(value))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _expect(isinstance(value, dict), place, "a mapping")
        return {name: _read(arguments[1], part, f"{place}.{name}") for name, part in value.items()}
    if origin is Literal:
        _expect(value in arguments, place, f"one of {', '.join(map(str, arguments))}")
        return value
    return _scalar(arguments if origin in (Union, types.UnionType) else (hint,), value, place)


def _record(hint: type, value: Any, place: str) -> Any:
    _expect(isinstance(value, dict), place, "a mapping")
    hints = get_type_hints(hint, include_extras=True)
    names = [each.name for each in dataclasses.fields(hint)]
    lacking = next((name for name in names if name not in value), None)
    _expect(lacking is None, place, f"a mapping with {lacking}")
    return hint(**{name: _read(hints[name], value[name], f"{place}.{name}") for name in names})


def _scalar(accepted: tuple[Any, ...], value: Any, place: str) -> Any:
    wanted = " or ".join(PLAIN[each] for each in accepted)
    if float in accepted and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    _expect(type(value) in accepted, place, wanted)
    return value


def _expect(fits: bool, place: str, what: str) -> None:
    if not fits:
        raise UsageError(f"{place} is not {what}")
