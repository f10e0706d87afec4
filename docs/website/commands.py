"""Commands on pages: by group, with an example, and as the README of a role on Galaxy.

``python -m docs.website.commands FOLDER`` completes FOLDER, a copy of the roles, for Galaxy: it writes the README.md of
each role, and its defaults/main.yml with the defaults that the vars plugin otherwise provides.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from perfdrv.collection import activate

if TYPE_CHECKING:
    from ansible_collections.psap.perf.plugins.module_utils.settings.specs import CommandSpec, Option

PROJECT = Path(__file__).resolve().parents[2]


def commands_by_group() -> dict[str, dict[str, CommandSpec]]:
    """Return the commands by group, then by their names without the group; the collection must be active."""
    from ansible_collections.psap.perf.plugins.module_utils.base.naming import split_role
    from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

    project = Project(PROJECT)
    groups: dict[str, dict[str, CommandSpec]] = defaultdict(dict)
    for role in sorted(project.roles):
        group, command = split_role(role)
        groups[group][command] = project.command(role)
    return dict(sorted(groups.items()))


def example(group: str, command: str, spec: CommandSpec) -> str:
    """Return the shortest command line that runs the command."""
    required = (f"--{words(one.short_name)} {_placeholder(one)}" for one in spec.arguments if one.required)
    return " ".join(["perfdrv toolbox", words(group), words(command), *required])


def words(name: str) -> str:
    """Return a name in the spelling of the command line."""
    return name.replace("_", "-")


def write_readmes(roles: Path) -> None:
    """Write the README.md of each role to its folder below *roles*."""
    activate(PROJECT)
    for group, commands in commands_by_group().items():
        for command, spec in commands.items():
            text = "\n".join(_readme(group, command, spec)).rstrip()
            (roles / spec.role / "README.md").write_text(f"{text}\n", encoding="utf-8")
    for folder in sorted(roles.iterdir()):
        if not (folder / "README.md").exists():
            text = f"# psap.perf.{folder.name}\n\nInternal: commands depend on it or include it.\n"
            (folder / "README.md").write_text(text, encoding="utf-8")


def write_defaults(roles: Path) -> None:
    """Write the defaults of each role's arguments to its folder below *roles*."""
    activate(PROJECT)
    # the collection can be imported after activate()
    from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

    project = Project(PROJECT)
    for spec in map(project.command, (*project.roles, *project.shared_roles)):
        defaults = {option.name: option.default for option in spec.own_optional}
        if defaults:
            file = roles / spec.defaults_file.relative_to(project.collection / "roles")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(yaml.safe_dump(defaults, explicit_start=True, sort_keys=False), encoding="utf-8")


def _readme(group: str, command: str, spec: CommandSpec) -> Iterator[str]:
    # the collection can be imported after activate()
    from ansible_collections.psap.perf.plugins.module_utils.settings.specs import as_markdown

    yield from (f"# psap.perf.{spec.role}", "", f"{spec.short_description}.")
    for paragraph in spec.description:
        yield from ("", as_markdown(paragraph))
    yield from ("", "```console", f"$ {example(group, command, spec)}", "```", "")
    if not spec.arguments:
        yield "This role has no arguments."
        return
    for section, arguments in itertools.groupby(spec.arguments, lambda argument: argument.section):
        yield f"In playbooks and presets each of these arguments is `{section}_<argument>`."
        yield from ("", "| argument | type | default | description |", "|---|---|---|---|")
        yield from map(_row, arguments)
        yield ""


def _row(argument: Option) -> str:
    # the collection can be imported after activate()
    from ansible_collections.psap.perf.plugins.module_utils.settings.specs import as_markdown

    keys = (f"Keys: {argument.keys}.",) if argument.options else ()
    description = as_markdown(" ".join([*argument.description, *keys])).replace("|", "\\|")
    return f"| `{argument.short_name}` | {_type(argument)} | {_default(argument)} | {description} |"


def _type(argument: Option) -> str:
    if argument.secret:
        return "dict of secrets" if argument.type == "dict" else "secret"
    if argument.choices:
        return " or ".join(f"`{choice}`" for choice in argument.choices)
    return f"{argument.type} of {argument.elements}" if argument.elements else argument.type


def _default(argument: Option) -> str:
    return "**required**" if argument.required else f"`{_literal(argument.default)}`"


def _literal(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def _placeholder(argument: Option) -> str:
    return "env:NAME" if argument.secret and argument.type != "dict" else argument.short_name.upper()


if __name__ == "__main__":
    write_readmes(Path(sys.argv[1]))
    write_defaults(Path(sys.argv[1]))
