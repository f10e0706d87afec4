"""Options from declared arguments: types, help, collisions; only passed ones are sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result
from perfdrv.command_line.arguments import command_options, given_arguments
from perfdrv.commands.toolbox import CommandGroup, make_command
from perfdrv.project import Project


def parse(project: Project, *words: str) -> dict[str, Any]:
    """Return the arguments of demo_greet that the command line contains."""
    spec = project.content().command("demo_greet")
    command = click.Command("greet", params=list(command_options(spec, {"--check"})))
    with command.make_context("greet", list(words)) as context:
        return given_arguments(spec, context)


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ([], {}),
        (["--name", "Ada"], {"demo_greet_name": "Ada"}),
        (["--count", "2"], {"demo_greet_count": 2}),
        (["--count", "1"], {"demo_greet_count": 1}),
        (["--pause", "2"], {"demo_greet_pause": 2.0}),
        (["--loud"], {"demo_greet_loud": True}),
        (["--no-loud"], {"demo_greet_loud": False}),
        (["--tone", "cool"], {"demo_greet_tone": "cool"}),
        (["--titles", "[a, b]"], {"demo_greet_titles": ["a", "b"]}),
        (["--labels", "{a: 1}"], {"demo_greet_labels": {"a": 1}}),
        (["--card", "/tmp/x.png"], {"demo_greet_card": "/tmp/x.png"}),
        (["--card", ""], {"demo_greet_card": ""}),
        (["--card", "{{ folder }}/x.png"], {"demo_greet_card": "{{ folder }}/x.png"}),
        (["--count", "{{ 1 + 1 }}"], {"demo_greet_count": "{{ 1 + 1 }}"}),
        (["--argument-check", "x"], {"demo_greet_check": "x"}),
    ],
)
def test_only_passed_options_are_sent_in_their_type(
    words: list[str], arguments: dict[str, Any], project: Project
) -> None:
    assert parse(project, *words) == arguments


def test_path_is_relative_to_the_users_folder(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    assert parse(project, "--card", "../x.png") == {"demo_greet_card": f"{tmp_path}/../x.png"}
    assert parse(project, "--card", "~/x.png") == {"demo_greet_card": "/home/ada/x.png"}


@pytest.mark.parametrize("words", [["--count", "x"], ["--titles", "{a: 1}"], ["--labels", "[1]"], ["--tone", "hot"]])
def test_invalid_value_is_refused(words: list[str], project: Project) -> None:
    with pytest.raises(click.BadParameter, match="must be"):
        parse(project, *words)


def test_help_shows_description_type_choices_and_defaults(perfdrv: Callable[..., Result]) -> None:
    text = " ".join(perfdrv("toolbox", "demo", "greet", "--help").output.split())
    assert "Say hello as often as asked." in text
    assert "--name STR Who is greeted. [required]" in text
    assert "--count INT How often. [default: 1]" in text
    assert "--tone [warm|cool]" in text
    assert "--loud / --no-loud Whether to shout. [default: false]" in text
    assert "a reference: file:NAME, env:NAME or vault:NAME" in text


def test_help_lists_the_keys_of_a_dictionary(project: Project) -> None:
    spec = project.content().command("demo_greet")
    key = replace(spec.arguments[0], name="speed", description=("How fast.",))
    argument = replace(spec.arguments[0], type="dict", options=(key,), required=False)
    (option,) = command_options(replace(spec, arguments=(argument,)), set())
    assert "keys: speed: How fast]" in str(option.help)


def test_help_names_other_options_as_they_are_typed(project: Project) -> None:
    spec = project.content().command("demo_greet")
    name, *others = spec.arguments
    texts = ("Repeats demo_greet_count times, and demo_greet_check decides.",)
    spec = replace(spec, description=texts, arguments=(replace(name, description=("Not demo_greet_loud.",)), *others))
    command = make_command("greet", spec)
    assert command.help is not None
    assert command.help.endswith("Repeats --count times, and --argument-check decides.")
    assert (command.params[0].help or "").startswith("Not --loud.")


def test_group_help_summarizes_its_commands(perfdrv: Callable[..., Result]) -> None:
    assert "Commands of the group demo." in perfdrv("toolbox", "demo", "--help").output
    assert CommandGroup("nfd-operator", {}).help == "Deploy and undeploy the Node Feature Discovery operator."


def test_every_command_has_an_option_for_each_argument(repository: Project) -> None:
    content = repository.content()
    assert content.roles
    for role in content.roles:
        spec = content.command(role)
        command = make_command("x", spec)
        names = [name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)]
        assert len(names) == len(set(names)), role
        help_text = command.get_help(click.Context(command))
        assert all(f"--{argument.short_name.replace('_', '-')}" in help_text for argument in spec.arguments), role


def test_option_names_may_have_underscores(perfdrv: Callable[..., Result]) -> None:
    assert perfdrv("toolbox", "demo", "greet", "--help").exit_code == 0
    assert perfdrv("toolbox", "--help").exit_code == 0
    assert perfdrv("commands", "demo").output.count("demo ") >= 4


def test_show_args_prints_the_origin_of_each_argument(perfdrv: Callable[..., Result]) -> None:
    result = perfdrv("toolbox", "demo", "tidy", "--show-args")
    assert result.exit_code == 0
    assert "note" in result.output
    assert "playbooks/demo/settings.yml:5" in result.output
    given = perfdrv("toolbox", "demo", "tidy", "--note", "now", "--show-args").output
    assert given.splitlines()[1].split() == ["note", "now", "command", "line"]


def test_show_args_lists_missing_arguments(perfdrv: Callable[..., Result]) -> None:
    assert "required, but not set" in perfdrv("toolbox", "demo", "greet", "--show-args").output
