"""Presets, settings and extra variables: the values that reach Ansible, and their order."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import click
import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError as SettingsError
from perfdrv.command_line.run_options import (
    OrderedCommand,
    RunOptions,
    extra_vars_of,
    preset_names,
    presets_and_pairs,
    shared_options,
    tag_words,
)
from perfdrv.errors import UsageError
from perfdrv.project import Project


def parse(*words: str) -> RunOptions:
    """Return the shared options of a command line."""
    seen: list[RunOptions] = []
    command = OrderedCommand(
        "x", callback=click.pass_context(lambda ctx, **_: seen.append(RunOptions.of(ctx))), params=shared_options()
    )
    command.main(list(words), standalone_mode=False)
    return seen[0]


def decode(words: tuple[str, ...]) -> list[Any]:
    """Return JSON documents decoded, files and k=v as text."""
    return [json.loads(word) if word.startswith("{") else word for word in words]


def test_order_of_the_command_line_is_kept(project: Project) -> None:
    words = extra_vars_of(parse("-s", "a=1", "-e", "b=2", "-s", "c=3", "-e", '{"d": 4}'), project)
    assert decode(words) == [{"a": "1"}, "b=2", {"c": "3"}, {"d": 4}]


def test_presets_become_one_variable_at_the_first_ones_place(project: Project) -> None:
    words = extra_vars_of(parse("-s", "a=1", "-p", "quick", "-s", "b=2", "-p", "long"), project)
    assert decode(words) == [{"a": "1"}, {"perf_presets": ["quick", "long"]}, {"b": "2"}]


def test_preset_files_and_names_keep_their_order(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    mixed = parse("-e", "@presets/long.yml", "-p", "quick")
    assert decode(extra_vars_of(mixed, project)) == [{"perf_presets": ["long", "quick"]}]
    assert preset_names(mixed, project) == ("long", "quick")


def test_preset_files_alone_are_passed_unchanged(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    words = extra_vars_of(parse("-e", "@presets/long.yml"), project)
    assert words == (f"@{project.root / 'presets' / 'long.yml'}",)


def test_presets_given_in_two_ways_are_refused(project: Project) -> None:
    with pytest.raises(UsageError, match="use only one of them"):
        extra_vars_of(parse("-p", "quick", "-e", '{"perf_presets": ["long"]}'), project)


def test_value_may_contain_any_text(project: Project) -> None:
    words = extra_vars_of(parse("-s", "a=b=c 'd' \"e\" {{ f }}"), project)
    assert decode(words) == [{"a": "b=c 'd' \"e\" {{ f }}"}]


def test_pairs_are_parsed_without_ansible(tmp_path: Path, project: Project) -> None:
    file = tmp_path / "more.yml"
    file.write_text("b: [1, 2]\n", encoding="utf-8")
    words = parse("-s", "a=1", "-p", "quick", "-e", f"@{file}", "-e", '{"c": true}', "-e", "d=x e='y z'")
    presets, pairs = presets_and_pairs(words, project)
    assert presets == ("quick",)
    assert pairs == (("a", "1"), ("b", [1, 2]), ("c", True), ("d", "x"), ("e", "y z"))


@pytest.mark.parametrize(
    "words",
    [
        ("-p", "long", "-p", "quick"),
        ("-e", "@{root}/presets/long.yml", "-e", "@{root}/presets/quick.yml"),
        ("-e", '{"perf_presets": ["long", "quick"]}'),
        ("-e", "@{root}/presets/long.yml", "-s", "perf_presets=quick"),
    ],
)
def test_presets_are_found_without_ansible_in_every_form(words: tuple[str, ...], project: Project) -> None:
    found = presets_and_pairs(parse(*(word.replace("{root}", str(project.root)) for word in words)), project)
    assert found == (("long", "quick"), ())


def test_missing_file_is_a_usage_error_without_ansible(project: Project) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        presets_and_pairs(parse("-e", "@nope.yml"), project)


def test_tags_are_split() -> None:
    assert tag_words(["prepare, test", "cleanup", ","]) == ("prepare", "test", "cleanup")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a: [1\n", "-e @wrong.yml:2: not YAML"),
        (b"a:\n\tb: 1\n", "-e @wrong.yml:2: not YAML"),
        (b"a: 1\na: 2\n", "-e @wrong.yml:2: duplicate key a, first in line 1"),
        (b"- a\n", "-e @wrong.yml must be a mapping of names to values, not a list"),
        (b"", "-e @wrong.yml must be a mapping of names to values, not empty"),
        (b"1: 2\n", "-e @wrong.yml: the name 1 is not text"),
        (b"\xff\xfe\x00", "-e @wrong.yml cannot be read"),
    ],
)
def test_invalid_variables_file_is_refused_by_its_typed_name(
    content: bytes, sentence: str, tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.yml").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        extra_vars_of(parse("-e", "@wrong.yml"), project)


def test_vault_encrypted_file_is_left_to_ansible(tmp_path: Path, project: Project) -> None:
    file = tmp_path / "vaulted.yml"
    file.write_text("$ANSIBLE_VAULT;1.1;AES256\n3132\n", encoding="utf-8")
    assert extra_vars_of(parse("-e", f"@{file}"), project) == (f"@{file}",)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("{a: [1", "-e '{a: [1': not YAML"),
        ("{a: 1, a: 2}", "-e '{a: 1, a: 2}': duplicate key a"),
        ('{"a": 1, "a": 2}', "duplicate key a"),
        ("[1, 2]", "-e '[1, 2]' must be a mapping of names to values, not a list"),
        ("{1: 2}", "the name 1 is not text"),
        ("a", "'a' has no value"),
        ("", "'' has no value"),
        ("a='b", "has an unterminated quote"),
        ("a=\udcff", "is not UTF-8"),
    ],
)
def test_invalid_variables_text_is_refused(word: str, sentence: str, project: Project) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        extra_vars_of(parse("-e", word), project)


def test_runs_directory_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_RUNS_DIR", str(tmp_path))
    assert parse().runs_directory == tmp_path
    assert parse("--runs-dir", "elsewhere").runs_directory == Path("elsewhere")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("preset_bad:\n\tdemo_seconds: 1\n", "bad.yml:2: not YAML"),
        ("", "the file is empty; define preset_bad"),
        ("- a\n", "bad.yml"),
        ("preset_bad: {demo_seconds: 1, demo_seconds: 2}\n", "duplicate key demo_seconds"),
        ("preset_other: {demo_seconds: 1}\n", "rename the variable to preset_bad"),
        ("preset_bad: {extends: [bad]}\n", "bad.yml:1"),
        ("preset_bad: {extends: [quikc]}\n", "quikc"),
        ("\x00\x01", "bad.yml"),
    ],
)
def test_invalid_preset_is_refused_before_the_run_begins(
    content: str, sentence: str, demo: Path, tmp_path: Path
) -> None:
    shutil.copytree(demo, tmp_path / "project", symlinks=True)
    (tmp_path / "project" / "presets" / "bad.yml").write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=re.escape(sentence)):
        preset_names(parse("-p", "bad"), Project(tmp_path / "project"))
