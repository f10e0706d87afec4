"""Read a YAML file into a dataclass; each mistake is one error with file, line and the allowed values.

The dataclass is the only declaration: names, types, defaults, and the help in `Annotated[type, "help"]`, from which
`json_schema` makes the JSON Schema. A field `at` (a text) of a dataclass receives "file:line" of its mapping.
"""

from __future__ import annotations

import datetime
import re
import types
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from perfanalysis.errors import UsageError, did_you_mean
from perfanalysis.files.bounded_yaml import TOO_DEEP, Loader, UnboundedError, check_bounds

if TYPE_CHECKING:
    import yaml

AT = "at"
SHARE = re.compile(r"\d+(\.\d+)?%")
"""A number may be written as a percentage."""
Loaded = TypeVar("Loaded")
WORDS: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    datetime.date: "a date such as 2027-01-31",
}
SCHEMA_TYPES: Mapping[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True)
class Member:
    """One field of a dataclass as its type hint declares it."""

    name: str
    hint: Any
    help: str
    required: bool


def members(kind: type[Any]) -> tuple[Member, ...]:
    """Return the fields that a mapping in the file may have, in order."""
    return _members(cast(Hashable, kind))


@cache
def _members(kind: Any) -> tuple[Member, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        Member(
            entry.name,
            *_hint_and_help(hints[entry.name]),
            entry.default is MISSING and entry.default_factory is MISSING,
        )
        for entry in fields(kind)
        if entry.name != AT
    )


def _hint_and_help(hint: Any) -> tuple[Any, str]:
    if get_origin(hint) is Annotated:
        inner, words = get_args(hint)
        return inner, str(words)
    return hint, ""


def load_typed(path: Path, kind: type[Loaded]) -> Loaded:
    """Return the file as an instance of `kind`. Raises UsageError with the file, the line and the allowed values."""
    node = _composed(path)
    if node is None:
        raise UsageError(f"{path}: the file is empty; required: {_needed(kind)}")
    found: Loaded = _Reader(path).value(node, kind, "the file")
    return found


def load_each(path: Path, kind: type[Loaded]) -> tuple[Loaded, ...]:
    """Return the file, a list, with each entry as an instance of `kind`. Raises UsageError as `load_typed` does."""
    node = _composed(path)
    found: tuple[Loaded, ...] = () if node is None else _Reader(path).value(node, tuple[kind, ...], "the file")  # type: ignore[valid-type]
    return found


def _composed(path: Path) -> yaml.Node | None:
    import yaml

    try:
        text = path.read_text(encoding="utf-8")
        check_bounds(text)
        return yaml.compose(text, Loader=Loader)
    except FileNotFoundError as error:
        raise UsageError(f"{path} does not exist") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    except RecursionError as error:
        raise UsageError(f"{path}: {TOO_DEEP}") from error
    except yaml.YAMLError as error:
        line = getattr(getattr(error, "problem_mark", None), "line", 0) + 1
        fault = "" if isinstance(error, UnboundedError) else "no YAML: "
        raise UsageError(f"{path}:{line}: {fault}{getattr(error, 'problem', None) or error}") from error


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the most similar known name, else all known names."""
    names = [str(one) for one in known]
    return did_you_mean(name, names) or f"known: {', '.join(names) or 'none'}"


def _needed(kind: type[Any]) -> str:
    return ", ".join(member.name for member in members(kind) if member.required)


class _Reader:
    """Reads nodes of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def _at(self, node: yaml.Node) -> str:
        return f"{self.path}:{node.start_mark.line + 1}"

    def _fail(self, node: yaml.Node, text: str) -> UsageError:
        return UsageError(f"{self._at(node)}: {text}")

    def value(self, node: yaml.Node, hint: Any, what: str) -> Any:
        """Return the value of a node by a type hint."""
        if is_dataclass(hint) and isinstance(hint, type):
            return self._record(node, hint, what)
        if hint is Any:
            return self._constructed(node, what)
        origin = get_origin(hint)
        if origin in (Union, types.UnionType):
            return self._one_of(node, get_args(hint), what)
        if origin is Literal:
            return self._choice(node, get_args(hint), what)
        if origin is tuple:
            return self._items(node, get_args(hint)[0], what)
        if origin is not None and issubclass(origin, Mapping):
            return self._mapping(node, get_args(hint)[1], what)
        return self._scalar(node, hint, what)

    def _one_of(self, node: yaml.Node, hints: tuple[Any, ...], what: str) -> Any:
        import yaml

        if type(None) in hints and isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null":
            return None
        rest = [hint for hint in hints if hint is not type(None)]
        lists = [hint for hint in rest if get_origin(hint) is tuple]
        if lists and isinstance(node, yaml.SequenceNode):
            return self.value(node, lists[0], what)
        records = [hint for hint in rest if is_dataclass(hint)]
        if records and isinstance(node, yaml.MappingNode):
            return self.value(node, records[0], what)
        scalars = [hint for hint in rest if hint in WORDS]
        if isinstance(node, yaml.ScalarNode) and len(scalars) > 1:
            return self._scalar_of(node, tuple(scalars), what)
        return self.value(node, rest[0], what)

    def _scalar(self, node: yaml.Node, hint: Any, what: str) -> Any:
        return self._scalar_of(node, (hint,), what)

    def _scalar_of(self, node: yaml.Node, hints: tuple[Any, ...], what: str) -> Any:
        import yaml

        value = self._constructed(node, what) if isinstance(node, yaml.ScalarNode) else node
        for hint in hints:
            if type(value) is hint:
                return value
            if hint is float and type(value) is int:
                return float(value)
            if hint is float and isinstance(value, str) and SHARE.fullmatch(value):
                return float(value.removesuffix("%")) / 100
            if hint is datetime.date and isinstance(value, datetime.datetime):
                return value.date()
        wanted = " or ".join(WORDS[hint] for hint in hints)
        given = f"{node.value!r}" if isinstance(node, yaml.ScalarNode) else "a list or mapping"
        advice = "; quote it" if str in hints and isinstance(node, yaml.ScalarNode) else ""
        raise self._fail(node, f"{what} must be {wanted}, not {given}{advice}")

    def _constructed(self, node: yaml.Node, what: str) -> Any:
        import yaml

        try:
            return yaml.SafeLoader("").construct_object(node, deep=True)
        except (ValueError, OverflowError, yaml.YAMLError) as error:
            raise self._fail(node, f"{what} cannot be {node.value!r}: {error}") from error

    def _choice(self, node: yaml.Node, choices: tuple[Any, ...], what: str) -> Any:
        value = self._scalar(node, str, what)
        if value not in choices:
            raise self._fail(node, f"{what} cannot be {value}; {suggest(value, choices)}")
        return value

    def _items(self, node: yaml.Node, hint: Any, what: str) -> tuple[Any, ...]:
        import yaml

        if not isinstance(node, yaml.SequenceNode):
            raise self._fail(node, f"{what} must be a list")
        return tuple(self.value(item, hint, f"an entry of {what}") for item in node.value)

    def _pairs(self, node: yaml.Node, what: str) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        import yaml

        if not isinstance(node, yaml.MappingNode):
            raise self._fail(node, f"{what} must be a mapping")
        pairs: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            name = self._scalar(key, str, f"a key of {what}")
            if name in pairs:
                raise self._fail(key, f"{what} has the key {name} twice")
            pairs[name] = (key, value)
        return pairs

    def _mapping(self, node: yaml.Node, hint: Any, what: str) -> dict[str, Any]:
        return {name: self.value(value, hint, name) for name, (_, value) in self._pairs(node, what).items()}

    def _record(self, node: yaml.Node, kind: type[Any], what: str) -> Any:
        pairs = self._pairs(node, what)
        known = {member.name: member for member in members(kind)}
        for name, (key, _) in pairs.items():
            if name not in known:
                raise self._fail(key, f"unknown key {name} in {what}; {suggest(name, known)}")
        missing = [member.name for member in known.values() if member.required and member.name not in pairs]
        if missing:
            own = next((pairs[name][1].value for name in ("name",) if name in pairs), None)
            raise self._fail(node, f"{what}{f' {own}' if isinstance(own, str) else ''} has no {', '.join(missing)}")
        values = {name: self.value(value, known[name].hint, name) for name, (_, value) in pairs.items()}
        if any(entry.name == AT for entry in fields(kind)):
            values[AT] = self._at(node)
        return kind(**values)


def json_schema(kind: type[Any], title: str) -> dict[str, Any]:
    """Return the JSON Schema of a file that `load_typed` reads as `kind`."""
    words = (kind.__doc__ or "").partition("\n")[0]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "description": words}
    return head | _schema_of(kind)


def _schema_of(hint: Any) -> dict[str, Any]:
    if is_dataclass(hint) and isinstance(hint, type):
        return _object_schema(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        choices = [_schema_of(one) for one in inner if one is not type(None)]
        return choices[0] if len(choices) == 1 else {"anyOf": choices}
    if origin is Literal:
        return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(inner[0])}
    if origin is not None:
        return {"type": "object", "additionalProperties": _schema_of(inner[1])}
    return {"type": SCHEMA_TYPES[hint]}


def _object_schema(kind: type[Any]) -> dict[str, Any]:
    properties = {
        member.name: _schema_of(member.hint) | ({"description": member.help} if member.help else {})
        for member in members(kind)
    }
    required = [member.name for member in members(kind) if member.required]
    return {
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": properties,
    }
