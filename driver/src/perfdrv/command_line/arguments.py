"""Options of the command line, built from declared arguments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import CommandSpec, Option, as_text
from ansible_collections.psap.perf.plugins.module_utils.settings.types import convert_text, problems
from click.shell_completion import CompletionItem

COLLIDING_PREFIX = "argument-"


class DeclaredType(click.ParamType[Any]):
    """A type that converts and refuses a text as the collection does for `-e name=text`."""

    def __init__(self, option: Option) -> None:
        self.option = option
        self.name = option.type

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value in its declared type; a path becomes absolute, relative to the working directory."""
        try:
            converted = convert_text(self.option, value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)
        wrong = next(problems(self.option, converted), None)
        if wrong is not None:
            leaf, sentence = wrong
            self.fail(f"{leaf} {sentence}".strip(), param, ctx)
        return _from_here(converted) if self.option.type == "path" else converted

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """Return the placeholder of the value in the help."""
        if self.option.choices:
            return "[" + "|".join(str(choice) for choice in self.option.choices) + "]"
        return self.option.type.upper()

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the choices that begin with the text."""
        texts = [str(choice) for choice in self.option.choices]
        return [CompletionItem(text) for text in texts if text.startswith(incomplete)]


def _from_here(path: str) -> str:
    """Return an absolute path, because Ansible would resolve it from the playbook's folder.

    An empty path means none; the path of a template is known to Ansible only.
    """
    return path if path == "" or "{{" in path else str(Path(path).expanduser().absolute())


def command_options(spec: CommandSpec, taken: Collection[str]) -> list[click.Option]:
    """Return one option for each argument of a command.

    Args:
        taken: Long options that the command line has already, such as `--check`.
    """
    words = option_words(spec, taken)
    return [_option(argument, words) for argument in spec.arguments]


def option_words(spec: CommandSpec, taken: Collection[str]) -> dict[str, str]:
    """Return the long option of each argument by the argument's name.

    Args:
        taken: As in :func:`command_options`.
    """
    return {argument.name: f"--{_word(argument, taken)}" for argument in spec.arguments}


def with_option_names(text: str, words: Mapping[str, str]) -> str:
    """Return *text* with the options of :func:`option_words` in place of the names of arguments."""
    return re.sub(r"\w+", lambda found: words.get(found[0], found[0]), text)


def given_arguments(spec: CommandSpec, ctx: click.Context) -> dict[str, Any]:
    """Return the arguments on the command line by their full names, without those that are not given."""
    return {
        argument.name: ctx.params[argument.name]
        for argument in spec.arguments
        if ctx.get_parameter_source(argument.name) is click.core.ParameterSource.COMMANDLINE
    }


def _word(argument: Option, taken: Collection[str]) -> str:
    word = argument.short_name.replace("_", "-")
    return COLLIDING_PREFIX + word if {f"--{word}", f"--no-{word}"} & set(taken) else word


def _option(argument: Option, words: Mapping[str, str]) -> click.Option:
    word = words[argument.name]
    flag = argument.type == "bool"
    return click.Option(
        [argument.name, f"{word}/--no-{word.removeprefix('--')}" if flag else word],
        type=click.BOOL if flag else DeclaredType(argument),
        # click's `required` would refuse a value from a preset or a site; Ansible checks that there is one
        default=None,
        help=with_option_names(_help(argument), words),
    )


def _help(argument: Option) -> str:
    notes = []
    if argument.required:
        notes.append("required")
    if argument.default is not None:
        notes.append(f"default: {shown_default(argument.default)}")
    if argument.secret:
        what = "each value a reference" if argument.type == "dict" else "a reference"
        notes.append(f"{what}: file:NAME, env:NAME or vault:NAME")
    if argument.elements:
        notes.append(f"a list of {argument.elements}")
    if argument.options:
        notes.append(f"keys: {as_text(argument.keys)}")
    return argument.help + (f"  [{'; '.join(notes)}]" if notes else "")


def shown_default(value: Any) -> str:
    """Return a default as a user would type it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value or "''"
    return str(value)


def long_options(parameters: Iterable[click.Parameter]) -> set[str]:
    """Return all option strings of parameters."""
    return {name for parameter in parameters for name in (*parameter.opts, *parameter.secondary_opts)}
