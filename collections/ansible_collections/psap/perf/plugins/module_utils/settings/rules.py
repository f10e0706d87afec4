"""Conditions over several settings, as Jinja expressions."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jinja2
import jinja2.meta
import jinja2.sandbox
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.files import is_template
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import cells
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option, Rule

_ENVIRONMENT = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined)


@functools.cache
def _compile(expression: str) -> Any:
    return _ENVIRONMENT.compile_expression(expression, undefined_to_none=False)


@functools.cache
def names_in_expression(expression: str) -> frozenset[str]:
    """Return the variables that *expression* reads.

    Raises:
        UsageError: If *expression* is not a Jinja expression.
    """
    try:
        _compile(expression)
        return frozenset(jinja2.meta.find_undeclared_variables(_ENVIRONMENT.parse("{{ (" + expression + ") }}")))
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"invalid Jinja expression {expression!r}: {error.message}") from error


def holds(expression: str, values: Mapping[str, Any]) -> bool:
    """Return whether *expression* is true for *values*.

    Raises:
        UsageError: If *expression* is not a Jinja expression, or cannot be evaluated for these values.
    """
    try:
        return bool(_compile(expression)(**values))
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"invalid Jinja expression {expression!r}: {error.message}") from error
    except (jinja2.TemplateError, ArithmeticError, TypeError, ValueError) as error:
        raise UsageError(f"cannot evaluate {expression!r}: {error}") from error


def broken_rules(
    rules: Iterable[Rule], options: Iterable[Option], values: Mapping[str, Any]
) -> Iterator[tuple[Rule, str]]:
    """Yield the rules that a cell violates, each once, with the message to show.

    A rule over a null or a template, whose value is not known yet, is skipped.
    """
    declared = list(options)
    experiments = values.get("matrix_experiments") or ()
    for rule in rules:
        used = names_in_expression(rule.test)
        known = {name: values[name] for name in used if name in values}
        if len(known) < len(used) or any(value is None or _open(value) for value in known.values()):
            continue
        for cell in cells([option for option in declared if option.name in used], known, (), experiments):
            combined = {**known, **cell.values}
            if not holds(rule.test, combined):
                shown = ", ".join(f"{name} is {combined[name]}" for name in sorted(used))
                yield rule, f"{rule.message} ({shown})"
                break


def _open(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_open(item) for item in value.values())
    if isinstance(value, list):
        return any(_open(item) for item in value)
    return is_template(value)
