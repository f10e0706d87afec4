"""Writes ``docs/commands``: a page for each group of commands, from the argument specifications of the roles.

Run it after changing a specification: ``python docs/generate_commands.py``. A test says when that was forgotten.
``--readmes FOLDER`` writes the README.md of each role below a copy of the collection's ``roles`` instead, for Galaxy.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfdrv.collection import activate

if TYPE_CHECKING:
    from ansible_collections.psap.perf.plugins.module_utils.settings.specs import CommandSpec, Option

PROJECT = Path(__file__).resolve().parent.parent
FOLDER = PROJECT / "docs/commands"
NOTE = "<!-- made by docs/generate_commands.py from the roles' meta/argument_specs.yml -->"


def pages() -> dict[str, str]:
    """The pages by file name."""
    activate(PROJECT)
    # the collection can be imported once activate() has said where it is
    from ansible_collections.psap.perf.plugins.module_utils.base.naming import groups

    commands = commands_by_group()
    lines = {"README": _index(commands), **{name: _page(name, groups()[name], own) for name, own in commands.items()}}
    return {f"{name}.md": "\n".join(page) + "\n" for name, page in lines.items()}


def commands_by_group() -> dict[str, dict[str, CommandSpec]]:
    """The commands by group, then by their names without it; the collection must be active."""
    from ansible_collections.psap.perf.plugins.module_utils.base.naming import split_role
    from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

    project = Project(PROJECT)
    groups: dict[str, dict[str, CommandSpec]] = defaultdict(dict)
    for role in sorted(project.roles):
        group, command = split_role(role)
        groups[group][command] = project.command(role)
    return dict(sorted(groups.items()))


def _index(groups: Mapping[str, Mapping[str, CommandSpec]]) -> Iterator[str]:
    yield from ("# Commands", "", NOTE, "")
    yield "Each is a role of the collection, and runs alone or in a flow. `perfdrv commands` lists them too."
    yield ""
    yield from ("| group | command | what it does |", "|---|---|---|")
    for group, commands in groups.items():
        for command, spec in commands.items():
            words = _words(command)
            yield f"| {_words(group)} | [{words}]({group}.md#{words}) | {spec.short_description} |"


def _page(group: str, told: str, commands: Mapping[str, CommandSpec]) -> Iterator[str]:
    yield from (f"# Commands of {_words(group)}", "", NOTE, "", f"{told}.")
    for command, spec in commands.items():
        yield from ("", f"## {_words(command)}", "")
        yield from _section(group, command, spec)


def _section(group: str, command: str, spec: CommandSpec) -> Iterator[str]:
    yield f"{spec.short_description}."
    for paragraph in spec.description:
        yield from ("", _markdown(paragraph))
    yield from ("", "```console", f"$ {example(group, command, spec)}", "```", "")
    yield from _arguments(spec)


def example(group: str, command: str, spec: CommandSpec) -> str:
    """How the command is called with nothing but what it needs."""
    required = (f"--{_option(argument)} {_placeholder(argument)}" for argument in spec.arguments if argument.required)
    return " ".join(["perfdrv toolbox", _words(group), _words(command), *required])


def _arguments(spec: CommandSpec) -> Iterator[str]:
    if not spec.arguments:
        yield f"It has no arguments. Role: `psap.perf.{spec.role}`."
        return
    yield f"Role: `psap.perf.{spec.role}`; in playbooks and presets an argument is `{spec.role}_<argument>`."
    yield ""
    yield from ("| argument | type | default | what it is |", "|---|---|---|---|")
    for argument in spec.arguments:
        description = _markdown(" ".join(argument.description)).replace("|", "\\|")
        yield f"| `{argument.short_name}` | {_type(argument)} | {_default(argument)} | {description} |"


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


def _option(argument: Option) -> str:
    return _words(argument.short_name)


def _words(name: str) -> str:
    return name.replace("_", "-")


def _markdown(text: str) -> str:
    from ansible_collections.psap.perf.plugins.module_utils.settings.specs import as_markdown

    return as_markdown(text)


def write_readmes(roles: Path) -> None:
    """Write the README.md of each role to its folder below *roles*; one without arguments is for other roles."""
    activate(PROJECT)
    for group, commands in commands_by_group().items():
        for command, spec in commands.items():
            lines = [f"# psap.perf.{spec.role}", "", *_section(group, command, spec)]
            (roles / spec.role / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for folder in sorted(roles.iterdir()):
        if not (folder / "README.md").exists():
            text = f"# psap.perf.{folder.name}\n\nInternal: commands depend on it or include it.\n"
            (folder / "README.md").write_text(text, encoding="utf-8")


def write_pages() -> None:
    """Write the pages; remove those of groups that are gone."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Write the pages, or the READMEs."""
    parser = argparse.ArgumentParser(description="Write docs/commands from the roles' argument specifications.")
    parser.add_argument(
        "--readmes", type=Path, metavar="FOLDER", help="write README.md of each role below FOLDER instead"
    )
    roles: Path | None = parser.parse_args().readmes
    write_readmes(roles) if roles else write_pages()


if __name__ == "__main__":
    main()
