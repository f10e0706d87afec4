"""The options that `perfdrv run` and `perfdrv toolbox` share, and their conversion to extra vars."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError as SettingsError
from ansible_collections.psap.perf.plugins.module_utils.settings.files import (
    COMMAND_LINE,
    read_yaml_document,
    read_yaml_text,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import names_in
from ansible_collections.psap.perf.plugins.module_utils.settings.static import resolve_presets
from perfanalysis.files.local_path import LocalPath

from perfdrv.ansible.request import json_vars, key_values, preset_vars
from perfdrv.command_line.completion import complete_presets, complete_settings, complete_sites
from perfdrv.errors import UsageError
from perfdrv.project import Project

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
_ORDER_KEY = "perfdrv.order"
_ORDERED = ("presets", "settings", "extra_vars")
_PRESETS_VARIABLE = "perf_presets"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Values of the shared options.

    Attributes:
        overrides: (option, text) of each `-p`, `-s` and `-e`, in the order of the command line.
        arguments: Of a command of the toolbox, by their full names.
    """

    overrides: tuple[tuple[str, str], ...] = ()
    site: str | None = None
    runs_directory: Path | None = None
    check: bool = False
    diff: bool = False
    verbosity: int = 0
    arguments: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, ctx: click.Context) -> RunOptions:
        """Return the options of a parsed command line."""
        params = ctx.params
        values = {name: iter(params[name]) for name in _ORDERED}
        return cls(
            overrides=tuple((name, next(values[name])) for name in ctx.meta.get(_ORDER_KEY, ())),
            site=params["site"],
            runs_directory=params.get("runs_directory"),
            check=params.get("check", False),
            # --check shows what would change as differences
            diff=params.get("diff", False) or params.get("check", False),
            verbosity=params.get("verbosity", 0),
        )


class OrderedCommand(click.Command):
    """A command that remembers the order of all `-p`, `-s` and `-e`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line and remember the order."""
        _values, _rest, order = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta[_ORDER_KEY] = [parameter.name for parameter in order if parameter.name in _ORDERED]
        return super().parse_args(ctx, args)


def together(options: Sequence[Callable[[Decorated], Decorated]]) -> Callable[[Decorated], Decorated]:
    """Return one decorator that adds all of these options."""

    def add(function: Decorated) -> Decorated:
        for option in reversed(options):
            function = option(function)
        return function

    return add


_LAYERS: list[Callable[[Any], Any]] = [
    click.option(
        "-p",
        "--preset",
        "presets",
        multiple=True,
        metavar="PRESET",
        shell_complete=complete_presets,
        help="Preset, a named set of settings; repeatable, later presets win.",
    ),
    click.option(
        "-s",
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        shell_complete=complete_settings,
        help="Value of a setting, converted to its declared type; repeatable.",
    ),
    click.option(
        "-e",
        "--extra-vars",
        "extra_vars",
        multiple=True,
        metavar="@FILE|K=V|JSON",
        help="Extra variables, as for ansible-playbook; they override everything else.",
    ),
    click.option(
        "-i",
        "--site",
        "site",
        metavar="SITE",
        shell_complete=complete_sites,
        help="Inventory: a folder below inventories/, or a path.",
    ),
]
_RUN: list[Callable[[Any], Any]] = [
    click.option(
        "--runs-dir",
        "runs_directory",
        type=LocalPath(file_okay=False),
        envvar="PERF_RUNS_DIR",
        show_envvar=True,
        help="Folder of all runs. [default: runs/ of the project]",
    ),
    click.option("--check", is_flag=True, help="Change nothing; show what would change, with the differences."),
    click.option("--diff", is_flag=True, help="Show the differences that the run makes, or would make."),
    click.option("-v", "--verbose", "verbosity", count=True, help="Show Ansible's output; -vvv shows more."),
]
jobs_option = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of cells of the matrix that run concurrently.",
)
layer_options = together(_LAYERS)
run_options = together([*_LAYERS, *_RUN])


def shared_options() -> list[click.Parameter]:
    """Return new click options, for a command that is built at run time."""

    @click.command()
    @run_options
    def made(**_params: Any) -> None: ...

    return made.params


def extra_vars_of(given: RunOptions, project: Project) -> tuple[str, ...]:
    """Return what follows each `-e` of ansible-playbook.

    All presets are one variable at the place of the first preset. Files of presets, given with `-e @FILE`, are added to
    it by name, so that the order of all presets is kept.

    Raises:
        UsageError: A setting has no `=`, a preset is unknown, a file is missing, or presets are given in two ways.
    """
    announced = [(kind, text, _announced_preset(kind, text, project)) for kind, text in given.overrides]
    by_name = any(kind == "presets" for kind, _text in given.overrides)
    names = [project.preset(name) for _kind, _text, name in announced if name is not None]
    words: list[str] = []
    for kind, text, name in announced:
        if name is not None and by_name:
            if names:
                words.append(preset_vars(names))
            names = []
        elif kind == "settings":
            words.append(_setting(text))
        else:
            words.append(_extra(text, by_name))
    if given.arguments:
        words.append(json_vars(given.arguments))
    for word in words:
        _refuse_bytes(word)
    return tuple(words)


def presets_and_pairs(given: RunOptions, project: Project) -> tuple[tuple[str, ...], tuple[tuple[str, Any], ...]]:
    """Return the names of all presets, and everything else as (name, value), without Ansible.

    Raises:
        UsageError: A setting has no `=`, a preset is unknown, or a file cannot be read.
    """
    names: list[str] = []
    pairs: list[tuple[str, Any]] = []
    for kind, text in given.overrides:
        announced = _announced_preset(kind, text, project)
        if announced is not None:
            names.append(announced)
            continue
        for name, value in _pairs(kind, text):
            if name == _PRESETS_VARIABLE:
                names += names_in(value, COMMAND_LINE)
            else:
                pairs.append((name, value))
    return tuple(map(project.preset, names)), (*pairs, *given.arguments.items())


def _pairs(kind: str, text: str) -> list[tuple[str, Any]]:
    if kind == "settings":
        return [_split(text)]
    if text.lstrip().startswith(("@", "{", "[")):
        return list(_mapping(text).items())
    _split(text)
    _refuse_open_quotes(text)
    return list(key_values(text).items())


def preset_names(given: RunOptions, project: Project) -> tuple[str, ...]:
    """Return the names of all presets, in the order of the command line.

    Raises:
        UsageError: A preset is unknown, not well formed, or extends itself.
    """
    announced = [_announced_preset(kind, text, project) for kind, text in given.overrides]
    names = tuple(project.preset(name) for name in announced if name is not None)
    resolve_presets(project.content(), [(name, COMMAND_LINE) for name in names])
    return names


def _announced_preset(kind: str, text: str, project: Project) -> str | None:
    if kind == "presets":
        return text
    if kind == "extra_vars" and text.startswith("@"):
        path = Path(text[1:]).expanduser().absolute()
        if path.parent == project.root / "presets" and path.suffix == ".yml":
            return path.stem
    return None


def _setting(text: str) -> str:
    name, value = _split(text)
    return json_vars({name: value})


def _refuse_bytes(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{text!r} is not UTF-8") from error


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"{text!r} has no value: write KEY=VALUE")
    return name.strip(), value


def _extra(text: str, presets_by_name: bool) -> str:
    """Return the text that Ansible gets for one `-e`, if it is well formed."""
    if text.startswith("@"):
        _mapping(text)
        return f"@{_file(text)}"
    if presets_by_name and _PRESETS_VARIABLE in text:
        raise UsageError(f"presets are given with -p and with {_PRESETS_VARIABLE}: use only one of them")
    if text.lstrip().startswith(("{", "[")):
        _mapping(text)
    else:
        _split(text)
        _refuse_open_quotes(text)
    return text


def _refuse_open_quotes(text: str) -> None:
    """Refuse an unterminated quote: Ansible accepts several K=V in one text, and quotes around values with spaces."""
    try:
        shlex.split(text)
    except ValueError as error:
        raise UsageError(f"-e {text!r} has an unterminated quote: write it as JSON") from error


def _file(text: str) -> Path:
    path = Path(text[1:]).expanduser().absolute()
    if not path.is_file():
        kind = (
            "it is a folder"
            if path.is_dir()
            else "it is not a regular file"
            if path.exists()
            else "the file does not exist"
        )
        raise UsageError(f"-e {text}: {kind}; write @ and the path of a YAML or JSON file")
    return path


def _mapping(text: str) -> dict[str, Any]:
    """Return the names and values of `@FILE`, or of a text that begins like JSON; YAML is accepted, as by Ansible.

    A file that ansible-vault encrypted has none, because only Ansible can read it.
    """
    file = text.startswith("@")
    shown = f"-e {text}" if file else f"-e {text!r}"
    try:
        value = read_yaml_document(_file(text), Path.cwd()).data["document"] if file else read_yaml_text(text)
    except SettingsError as error:
        raise UsageError(f"-e @{error}" if file else f"{shown}: {error}") from error
    if value is None and file and _file(text).stat().st_size:
        return {}
    if not isinstance(value, dict):
        raise UsageError(f"{shown} must be a mapping of names to values, not {_shown_type(value)}")
    for name in value:
        if not isinstance(name, str):
            raise UsageError(f"{shown}: the name {name!r} is not text")
    return value


def _shown_type(value: Any) -> str:
    return "empty" if value is None else f"a {type(value).__name__}"


def tag_words(values: Sequence[str]) -> tuple[str, ...]:
    """Return the tags of options that are repeatable and may contain commas."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())
