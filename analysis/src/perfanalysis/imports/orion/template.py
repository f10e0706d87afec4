"""Read a YAML file that may be a Jinja2 template; every mapping knows its line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from perfanalysis.errors import UsageError


class Located(dict[str, Any]):
    """A mapping with the line of the file it begins at, from 1."""

    line: int = 0


class _Loader(yaml.SafeLoader):
    """Safe, and with lines."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Located:
    loader.flatten_mapping(node)
    found = Located((str(key), value) for key, value in loader.construct_mapping(node, deep=True).items())
    found.line = node.start_mark.line + 1
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_template(path: Path, variables: Mapping[str, Any]) -> Any:
    """What the file holds, its `{{ variables }}` replaced: by the given ones, else by the environment's in lower case.

    The template is rendered in Jinja2's sandbox. Raises UsageError naming file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    rendered = _rendered(text, {**{name.lower(): text for name, text in os.environ.items()}, **variables}, path)
    try:
        return yaml.load(rendered, Loader=_Loader)  # noqa: S506 - derived from the safe loader
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f":{error.problem_mark.line + 1}"
        raise UsageError(f"{path}{line}: it is no YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"{path}: it is no YAML: {' '.join(str(error).split())}") from error


def _rendered(text: str, variables: Mapping[str, Any], path: Path) -> str:
    if "{" not in text:
        return text
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False)
    try:
        return environment.from_string(text).render(variables)
    except jinja2.UndefinedError as error:
        hint = "give it by --orion-vars, or in the environment in upper case"
        raise UsageError(f"{path}: a variable is missing: {error.message}; {hint}") from error
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"{path}:{error.lineno}: it is no Jinja2 template: {error.message}") from error
    except Exception as error:  # an expression of a template can raise anything
        raise UsageError(f"{path}: it cannot be rendered: {type(error).__name__}: {error}") from error


def read_variables(text: str | None) -> Mapping[str, Any]:
    """A JSON object of variables for the templates; none for None. Raises UsageError."""
    if text is None:
        return {}
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--orion-vars is no JSON: {error}") from error
    if not isinstance(loaded, dict):
        raise UsageError('--orion-vars must be a JSON object, such as {"version": "4.20"}')
    return loaded
