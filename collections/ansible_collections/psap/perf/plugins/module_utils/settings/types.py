"""Values and their declared types: conversion of texts of the command line, and validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.settings.files import VAULTED, is_template, read_yaml_text
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option

_TRUE = frozenset(("y", "yes", "on", "1", "true", "t"))
_FALSE = frozenset(("n", "no", "off", "0", "false", "f"))
_ARTICLES = {"int": "an int", "str": "text (str)", "path": "a path", "raw": "anything"}
_NULLS = frozenset(("null", "~", "none", ""))


def convert_text(option: Option, text: str) -> Any:
    """Return the value of *text*, as in ``-e name=text``, for *option*.

    A template is not converted. A dimension also accepts a list in YAML's flow style, ``[1, 2]``.

    Raises:
        ValueError: If *text* is not a value of the declared type.
    """
    if is_template(text):
        return text
    if option.varies and text.lstrip().startswith("["):
        return [_convert_item(option, item) for item in _yaml(text, list, option)]
    return _convert(option, text)


def convert_leaf(option: Option, path: tuple[str, ...], text: str) -> Any:
    """Return the value of *text*, as in ``-e dictionary.leaf=text``, for the leaf at *path* of *option*.

    If the leaf is not declared, the text is read as YAML: ``4`` is a number, ``[1, 2]`` a list.

    Raises:
        ValueError: If *text* is not a value of the leaf's declared type.
    """
    if is_template(text):
        return text
    if not path:
        return convert_text(option, text)
    nested = next((one for one in option.options if one.name == path[0]), None)
    if nested is not None:
        if ".".join(path) in option.dimension and text.lstrip().startswith("["):
            return [_convert_item(nested, item) for item in _yaml(text, list, nested)]
        return convert_leaf(nested, path[1:], text)
    try:
        return load_yaml(str.__str__(text))
    except yaml.YAMLError:
        return text


def problems(option: Option, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the problems of *value*: a dotted leaf, empty for the value itself, and the end of a sentence."""
    if option.varies and isinstance(value, list):
        if not value:
            yield "", "is an empty list of values; pass at least one"
        for item in value:
            yield from _scalar_problems(option, item, "")
    else:
        yield from _scalar_problems(option, value, "")


def _scalar_problems(option: Option, value: Any, leaf: str) -> Iterator[tuple[str, str]]:
    if is_template(value) or value == VAULTED:
        return
    if value is None:
        if option.default is not None or option.required:
            yield leaf, f"is null, but must be {type_text(option.type)}"
        return
    if not _CHECKS[option.type](value):
        yield leaf, f"must be {type_text(option.type)}, but is {shown(value)}"
        return
    if option.choices and option.type != "list" and value not in option.choices:
        yield leaf, _choice_text(option, value)
    if option.type == "list":
        yield from _element_problems(option, value, leaf)
    if option.type == "dict" and option.options:
        yield from _key_problems(option, value, leaf)


def _element_problems(option: Option, value: list[Any], leaf: str) -> Iterator[tuple[str, str]]:
    kind = option.elements or "raw"
    for item in value:
        if is_template(item):
            continue
        if not _CHECKS[kind](item):
            yield leaf, f"must be a list whose items are {type_text(kind)}, but one is {shown(item)}"
        elif option.choices and item not in option.choices:
            yield leaf, _choice_text(option, item)
        elif kind == "dict" and option.options:
            yield from _key_problems(option, item, leaf)


def _key_problems(option: Option, value: dict[str, Any], leaf: str) -> Iterator[tuple[str, str]]:
    known = {nested.name: nested for nested in option.options}
    for key, item in value.items():
        path = f"{leaf}.{key}" if leaf else str(key)
        if key not in known:
            names = ", ".join(known)
            yield path, f"is unknown{did_you_mean(str(key), known) or f'; the keys are {names}'}"
        elif path in option.dimension and isinstance(item, list):
            for single in item:
                yield from _scalar_problems(known[key], single, path)
        else:
            yield from _scalar_problems(known[key], item, path)
    for nested in option.options:
        if nested.required and nested.name not in value:
            yield (f"{leaf}.{nested.name}" if leaf else nested.name), "is required"


def _choice_text(option: Option, value: Any) -> str:
    choices = ", ".join(str(choice) for choice in option.choices)
    return f"must be one of {choices}, but is {shown(value)}{did_you_mean(str(value), map(str, option.choices))}"


def type_text(kind: str) -> str:
    """Return a declared type in words."""
    return _ARTICLES.get(kind, f"a {kind}")


def shown(value: Any) -> str:
    """Return a value for a message: short, and with its type unless it is text."""
    if isinstance(value, str):
        return f"the text {str(value)[:60]!r}"
    text = str(value)
    return f"{text[:60]}{'…' if len(text) > 60 else ''} ({_type_name(value)})"


def _type_name(value: Any) -> str:
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (list, "list"), (dict, "dict")):
        if isinstance(value, kind):
            return name
    return type(value).__name__


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_float(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "path": lambda value: isinstance(value, str),
    "int": _is_int,
    "float": _is_float,
    "bool": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "dict": lambda value: isinstance(value, dict),
    "raw": lambda _value: True,
}


def _convert(option: Option, text: str) -> Any:
    if option.default is None and option.type not in ("str", "path", "raw") and text.strip().lower() in _NULLS:
        return None
    if option.type in ("int", "float", "bool"):
        return _convert_scalar(option.type, text)
    if option.type in ("list", "dict"):
        return _yaml(text, list if option.type == "list" else dict, option)
    return text


def _convert_item(option: Option, item: Any) -> Any:
    """Return an item of a list of values; a number is refused as text, since YAML reads ``2.10`` as a number."""
    if option.type == "float" and _is_int(item):
        return float(item)
    return _convert(option, item) if isinstance(item, str) else item


def _convert_scalar(kind: str, text: str) -> Any:
    word = text.strip()
    if kind == "bool":
        if word.lower() in _TRUE | _FALSE:
            return word.lower() in _TRUE
        raise ValueError(f"must be a bool (true or false), but is {shown(text)}")
    try:
        return int(word) if kind == "int" else float(word)
    except ValueError as error:
        raise ValueError(f"must be {type_text(kind)}, but is {shown(text)}") from error


def _yaml(text: str, kind: type, option: Option) -> Any:
    example = "'[1, 2]'" if kind is list else "'{key: value}'"
    try:
        value = read_yaml_text(text)
    except UsageError as error:
        raise ValueError(f"is not well-formed YAML: {shown(text)}, {error}; write it as {example}") from error
    if not isinstance(value, kind):
        raise ValueError(f"must be {type_text(option.type)}, but is {shown(text)}; write it as {example}")
    return value
