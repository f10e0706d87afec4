"""JSON Schema from dataclasses: the types say what a document holds, and nobody writes it down a second time."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from inspect import getdoc
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from perfanalysis.results.payload.model import About, Payload

PLAIN: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
Schema = dict[str, Any]


def payload_schema() -> Schema:
    """The schema of psap.perf/payload/1."""
    return schema_of(Payload, "psap.perf/payload/1")


def schema_of(document: type, title: str) -> Schema:
    """The schema of a dataclass; those that it holds stand in `$defs`. TypeError names a type that JSON has not."""
    definitions: dict[str, Schema] = {}
    whole = _object(document, definitions)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return {**head, **whole, "$defs": dict(sorted(definitions.items()))}


def _object(document: type, definitions: dict[str, Schema]) -> Schema:
    hints = get_type_hints(document, include_extras=True)
    fields = [each.name for each in dataclasses.fields(document)]
    return {
        "description": " ".join((getdoc(document) or "").split()),
        "type": "object",
        "required": fields,
        "properties": {name: _of(hints[name], definitions) for name in fields},
        **getattr(document, "RULES", {}),
    }


def _of(hint: Any, definitions: dict[str, Schema]) -> Schema:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        about: About = arguments[1]
        return {**_of(arguments[0], definitions), **about.rules, "description": about.text}
    if hint is Any:
        return {}
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"type": [PLAIN[part] for part in arguments]}
    if origin is tuple:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        values = _of(arguments[1], definitions)
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        definitions.setdefault(hint.__name__, {})
        definitions[hint.__name__] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    raise TypeError(f"{hint} has no counterpart in JSON Schema")
