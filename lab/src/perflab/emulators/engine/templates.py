"""Jinja2 in the values of a `product.yaml`, as in Ansible: checked when loaded, compiled once.

A text that is one `{{ … }}` becomes the value of the expression: a list, a number. Any other text with `{{ … }}` or `{%
… %}` becomes text. A key whose value is undefined is omitted; fields of undefined values are undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.runtime import Context
from jinja2.utils import missing

from perflab.emulators.engine.functions import FUNCTIONS
from perflab.emulators.engine.product import Path_, ProductError, ProductFile

_SCOPE = "scope of the template"
_CONSTANTS = {"true": True, "false": False}


class Scope:
    """The names of a template, with values, or with templates that are evaluated on first access."""

    def __init__(self, values: Mapping[str, Any], lazy: Mapping[str, Template], parent: Scope | None = None) -> None:
        """Other names are looked up in *parent*."""
        self.values = dict(values)
        self._lazy = lazy
        self._parent = parent
        self._known: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        """Return the value of a name, or `missing`."""
        if name in self.values:
            return self.values[name]
        if name in self._known:
            return self._known[name]
        if name in self._lazy:
            self._known[name] = missing
            self._known[name] = self._lazy[name](self)
            return self._known[name]
        return self._parent.find(name) if self._parent else missing

    def with_item(self, item: Any) -> Scope:
        """Return this scope with an `item`."""
        return Scope({"item": item}, {}, self)

    def refresh(self, **values: Any) -> None:
        """Set values and evaluate lazy values again."""
        self.values |= values
        self._known.clear()


Template = Callable[[Scope], Any]


class _Context(Context):
    def resolve_or_missing(self, key: str) -> Any:
        found = self.parent[_SCOPE].find(key)
        return found if found is not missing else self.parent.get(key, missing)


class _Environment(jinja2.Environment):
    context_class = _Context

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a key of an object of the API, even if dictionaries have a method of that name."""
        if isinstance(obj, dict):
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)


class Compiler:
    """Compiles the values of one product."""

    def __init__(self, file: ProductFile, functions: Mapping[str, Callable[..., Any]]) -> None:
        """*functions* are the product's own, in addition to those of the engine."""
        self.file = file
        self._compiled: dict[str, Template] = {}
        # objects of the API, not HTML
        self._environment = _Environment(
            undefined=jinja2.ChainableUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
        )
        for name, function in {**FUNCTIONS, **functions}.items():
            self._environment.globals[name] = function
            self._environment.filters[name] = function
            self._environment.tests[name] = function
        # a key with this value is omitted, as with `omit` of Ansible
        self._environment.globals["omit"] = self._environment.undefined(name="omit")

    def value(self, value: Any, path: Path_, names: Iterable[str]) -> Template:
        """Return a template of a value of any form; *names* are those that it may use."""
        known = frozenset(names)
        if _is_constant(value):
            return lambda _scope: value
        if isinstance(value, str):
            return self._text(value, path, known)
        if isinstance(value, dict):
            fields = {key: self.value(each, (*path, key), known) for key, each in value.items()}
            return lambda scope: {key: each for key, make in fields.items() if not _is_undefined(each := make(scope))}
        if isinstance(value, list):
            items = [self.value(each, (*path, index), known) for index, each in enumerate(value)]
            return lambda scope: [each for make in items if not _is_undefined(each := make(scope))]
        return lambda _scope: value

    def test(self, expression: str, path: Path_, names: Iterable[str]) -> Callable[[Scope], bool]:
        """Return a template of a bare expression, as in `when`."""
        evaluate = self._expression(expression, path, frozenset(names))
        return lambda scope: bool(evaluate(scope))

    def variables(self, values: Mapping[str, Any], path: Path_, names: Iterable[str]) -> dict[str, Template]:
        """Return templates of variables; one that is a mapping of `loop`, `key` and `value` becomes a dictionary."""
        known = frozenset(names) | values.keys()
        return {name: self._variable(value, (*path, name), known) for name, value in values.items()}

    def _variable(self, value: Any, path: Path_, known: frozenset[str]) -> Template:
        if not (isinstance(value, dict) and value.keys() == {"loop", "key", "value"}):
            return self.value(value, path, known)
        loop = self.value(value["loop"], (*path, "loop"), known)
        key = self.value(value["key"], (*path, "key"), known | {"item"})
        one = self.value(value["value"], (*path, "value"), known | {"item"})

        def evaluate(scope: Scope) -> dict[str, Any]:
            scopes = [scope.with_item(item) for item in loop(scope) or ()]
            return {key(each): one(each) for each in scopes}

        return evaluate

    def _text(self, text: str, path: Path_, known: frozenset[str]) -> Template:
        parsed = self._checked(text, path, known)
        return self._placed(self._lazily(text.strip() if _is_one_expression(parsed) else text), path)

    def _expression(self, text: str, path: Path_, known: frozenset[str]) -> Template:
        if text in _CONSTANTS:
            return lambda _scope: _CONSTANTS[text]
        whole = f"{{{{ {text.strip()} }}}}"
        self._checked(whole, path, known)
        return self._placed(self._lazily(whole), path)

    def _checked(self, text: str, path: Path_, known: frozenset[str]) -> nodes.Template:
        """Return the parsed text after checking that its names, filters and tests exist."""
        environment = self._environment
        try:
            parsed = environment.parse(text.strip())
        except jinja2.TemplateSyntaxError as error:
            raise ProductError(f"{self.file.place(path)}: {error.message}") from error
        found = list(parsed.find_all(nodes.Name))
        own = {each.name for each in found if each.ctx != "load"}
        unknown = {each.name for each in found} - own - known - environment.globals.keys()
        unknown |= {f"filter {each.name}" for each in parsed.find_all(nodes.Filter)} - _prefixed(environment.filters)
        unknown |= {f"test {each.name}" for each in parsed.find_all(nodes.Test)} - _prefixed(environment.tests, "test")
        if unknown:
            raise ProductError(f"{self.file.place(path)}: unknown: {', '.join(sorted(unknown))}")
        return parsed

    def _lazily(self, text: str) -> Template:
        """Compile a text on first evaluation, and once for all its uses: many are never needed."""

        def evaluate(scope: Scope) -> Any:
            if text not in self._compiled:
                self._compiled[text] = self._compile(text)
            return self._compiled[text](scope)

        return evaluate

    def _compile(self, text: str) -> Template:
        if _is_one_expression(self._environment.parse(text.strip())):
            expression = self._environment.compile_expression(text.strip()[2:-2], undefined_to_none=False)
            return lambda scope: expression({_SCOPE: scope})
        template = self._environment.from_string(text)
        return lambda scope: template.render({_SCOPE: scope})

    def _placed(self, evaluate: Template, path: Path_) -> Template:
        place = self.file.place(path)

        def evaluated(scope: Scope) -> Any:
            try:
                return evaluate(scope)
            except ProductError:
                raise
            except Exception as error:
                raise ProductError(f"{place}: {error}") from error

        return evaluated


def _prefixed(names: Iterable[str], kind: str = "filter") -> set[str]:
    return {f"{kind} {name}" for name in names}


def _is_constant(value: Any) -> bool:
    if isinstance(value, str):
        return "{{" not in value and "{%" not in value
    if isinstance(value, dict):
        return all(map(_is_constant, value.values()))
    return not isinstance(value, list) or all(map(_is_constant, value))


def _is_one_expression(template: nodes.Template) -> bool:
    if len(template.body) != 1 or not isinstance(template.body[0], nodes.Output):
        return False
    parts = template.body[0].nodes
    return len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData)


def _is_undefined(value: Any) -> bool:
    return isinstance(value, jinja2.Undefined)
