"""Check the files, arguments and tasks of every role. A new role needs no new test here.

A role is a command, or its name begins with ``shared_`` and commands include it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.naming import groups, split_role
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import (
    SHARED_ROLE,
    CommandSpec,
    Option,
    read_command,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.types import problems

PROJECT = Path(__file__).resolve().parents[3]
COLLECTION = PROJECT / "collections/ansible_collections/psap/perf"
OPENING = "command"
ROLES = sorted(path for path in (COLLECTION / "roles").iterdir() if path.is_dir() and path.name != OPENING)
COMMANDS = [role for role in ROLES if not role.name.startswith(SHARED_ROLE)]
DECLARING = [role for role in ROLES if (role / "meta/argument_specs.yml").exists()]

every_role = pytest.mark.parametrize("role", ROLES, ids=lambda role: str(role.name))
every_declaring_role = pytest.mark.parametrize("role", DECLARING, ids=lambda role: str(role.name))
every_command = pytest.mark.parametrize("role", COMMANDS, ids=lambda role: str(role.name))


def spec_of(role: Path) -> CommandSpec:
    return read_command(role, PROJECT)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def tasks_of(role: Path) -> Iterator[dict[str, Any]]:
    """Return every task and block of all task files, including nested ones."""
    for path in sorted((role / "tasks").glob("*.yml")):
        yield from flatten(read(path))


def flatten(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        yield task
        for section in ("block", "always"):
            yield from flatten(task.get(section) or [])


def nested_options(options: tuple[Option, ...]) -> Iterator[Option]:
    for option in options:
        yield option
        yield from nested_options(option.options)


@every_declaring_role
def test_role_of_shared_arguments_has_no_tasks(role: Path) -> None:
    assert role in COMMANDS or not (role / "tasks/main.yml").exists()


@every_command
def test_role_that_applies_a_namespace_declares_the_right(role: Path) -> None:
    texts = [path.read_text() for folder in ("tasks", "templates") for path in (role / folder).glob("*.*")]
    rights = role / "meta/rights.yml"
    if not rights.exists() or not any(re.search(r"apiVersion: v1(, |\n)kind: Namespace", text) for text in texts):
        return
    rules = read(rights)["rights"]
    assert [rule for rule in rules if "Namespace" in rule.get("kinds", []) and "create" in rule["verbs"]]


@every_command
def test_role_name_is_group_and_command(role: Path) -> None:
    group, command = split_role(role.name)
    assert group in groups(), "add it to meta/groups.yml"
    assert command != group


def test_every_group_has_commands_and_a_one_line_summary() -> None:
    assert set(groups()) == {split_role(role.name)[0] for role in COMMANDS}
    for summary in groups().values():
        assert summary == summary.strip(" .\n") and "\n" not in summary, summary


@every_command
def test_role_depends_on_the_command_role(role: Path) -> None:
    meta = read(role / "meta/main.yml")
    assert meta["allow_duplicates"] is True
    opening, *shared = [dependency["role"] for dependency in meta["dependencies"]]
    assert opening == "psap.perf.command"
    assert set(shared) <= {f"psap.perf.{each.name}" for each in DECLARING if each not in COMMANDS}


@every_declaring_role
def test_arguments_have_the_roles_prefix_and_a_description(role: Path) -> None:
    spec = spec_of(role)
    declared = read(role / "meta/argument_specs.yml")["argument_specs"]["main"].get("options") or {}
    assert spec.short_description
    assert not spec.short_description.endswith(".")
    for option in spec.own_arguments:
        assert option.name.startswith(f"{role.name}_"), option.name
        assert "type" in declared[option.name], option.name
    for option in nested_options(spec.own_arguments):
        assert option.help.endswith("."), f"{option.name} has no sentence for a description"
        assert option.type != "list" or option.elements, f"{option.name} does not say what it is a list of"


@every_declaring_role
def test_defaults_are_declared_in_the_specification_only(role: Path) -> None:
    spec = spec_of(role)
    assert not spec.defaults_file.exists()
    for option in spec.own_arguments:
        assert not (option.required and option.default is not None), option.name


@every_declaring_role
def test_every_default_has_its_type(role: Path) -> None:
    for option in spec_of(role).arguments:
        if not option.required:
            assert not list(problems(option, option.default)), option.name


@every_declaring_role
def test_secret_is_a_reference_without_a_default(role: Path) -> None:
    for option in spec_of(role).arguments:
        if re.search(r"password|token(?!s|izer)|secret_key|credential", option.name):
            assert option.secret, f"{option.name} looks like a secret, but is not declared as one"
        if option.secret:
            assert option.type in ("str", "dict")
            assert not option.default


@every_role
def test_task_files_are_short(role: Path) -> None:
    for path in (role / "tasks").glob("*.yml"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 120, path


@every_role
def test_assertion_is_one_condition_with_one_sentence(role: Path) -> None:
    for rule in (task["ansible.builtin.assert"] for task in tasks_of(role) if "ansible.builtin.assert" in task):
        assert set(rule) == {"that", "fail_msg", "quiet"}
        assert isinstance(rule["that"], str)


@every_role
def test_no_failure_is_hidden(role: Path) -> None:
    for task in tasks_of(role):
        assert "rescue" not in task, task["name"]
        assert task.get("failed_when") is not False, task["name"]
        assert not {"ignore_errors", "ignore_unreachable", "until", "retries", "tags"} & set(task), task["name"]


@every_role
def test_failed_wait_is_captured(role: Path) -> None:
    for task in tasks_of(role):
        if any("psap.perf.wait" in inner for inner in task.get("block") or []):
            kept = [inner for inner in task.get("always") or [] if "psap.perf.capture" in inner]
            assert kept, f"{role.name}: {task['name']}"
    for path in {*(role / "tasks").glob("*.yml")} - task_files_with_capture(role):
        direct = [task for task in read(path) if "psap.perf.wait" in task]
        assert not direct, f"{path}: a wait outside of a block whose always captures"


def task_files_with_capture(role: Path) -> set[Path]:
    """Return the task files that a block with a capture in `always` includes."""
    included = set()
    for task in tasks_of(role):
        if any("psap.perf.capture" in inner for inner in task.get("always") or []):
            included |= {inner.get("ansible.builtin.include_tasks") for inner in task["block"]}
    return {role / "tasks" / str(name) for name in included - {None}}


@every_role
def test_internal_names_have_the_roles_prefix(role: Path) -> None:
    for task in tasks_of(role):
        nested = str((task.get("ansible.builtin.include_role") or {}).get("name", role.name)).rpartition(".")[2]
        names = [*([task["register"]] if "register" in task else []), *(task.get("vars") or {})]
        for name in names:
            shared = nested.removeprefix(SHARED_ROLE)
            allowed = (f"__{internal_prefix(role)}", f"{role.name}_", f"{nested}_", f"__{shared}", "perf_")
            assert name.startswith((*allowed, *prefixes(role.name, nested))), f"{role.name}: {name}"


def prefixes(*commands: str) -> set[str]:
    """Return the prefixes of the arguments that *commands* accept, those of shared roles too."""
    options = [option for role in COMMANDS if role.name in commands for option in spec_of(role).arguments]
    return {f"{option.section}_" for option in options}


@every_command
def test_arguments_are_both_declared_and_used(role: Path) -> None:
    arguments = spec_of(role).arguments
    # Arguments of a command whose name has the same beginning belong to that command.
    longer = tuple(f"{each.name}_" for each in COMMANDS if each.name.startswith(f"{role.name}_"))
    used = {
        name.removeprefix(f"{section}_")
        for section in {role.name, *(option.section for option in arguments)}
        for name in re.findall(rf"(?<![\w_]){section}_\w+", text_of(role))
        if not name.startswith(longer)
    }
    used |= set(re.findall(r"__psap_perf_command\.arguments\.(\w+)", text_of(role)))
    used_by_others: set[str] = set()
    for other in shared_roles(role):
        # It has the command's arguments as a dictionary by their short names, or as words of its lines.
        own, others = (set(re.findall(rf"__{internal_prefix(other)}\.(\w+)", text_of(each))) for each in (role, other))
        used |= own
        used_by_others |= others | set(re.findall(r"[{](\w+)[}]", text_of(other)))
        used_by_others |= set(re.findall(rf"\b{other.name}_(\w+)", text_of(other)))
    assert used <= {option.short_name for option in arguments}
    fields = {field for verb in verbs_of(role) for field in fields_of(verb)}
    assert {option.short_name for option in arguments} <= used | used_by_others | fields


def verbs_of(role: Path) -> Iterator[Path]:
    """Yield the actions of *role* that use its arguments."""
    for name in {word for task in tasks_of(role) for word in task}:
        path = COLLECTION / "plugins/action" / f"{name.removeprefix('psap.perf.').replace('.', '/')}.py"
        if path.is_file() and re.search(r"\((Command|Destroy)Action", path.read_text(encoding="utf-8")):
            yield path


def fields_of(action: Path) -> Iterator[str]:
    """Yield the fields of the dataclasses in *action* and in its imports."""
    text = action.read_text(encoding="utf-8")
    imported = re.findall(r"^from ansible_collections\.psap\.perf\.([\w.]+) import", text, re.MULTILINE)
    paths = [action, *(COLLECTION / f"{name.replace('.', '/')}.py" for name in imported)]
    for path in filter(Path.is_file, paths):
        yield from re.findall(r"^    (\w+): ", path.read_text(encoding="utf-8"), re.MULTILINE)


def internal_prefix(role: Path) -> str:
    """Return the beginning of a role's internal names, after two underscores."""
    return role.name.removeprefix(SHARED_ROLE)


def text_of(role: Path) -> str:
    """Return the text of all task files of a role."""
    paths = sorted(path for part in ("tasks", "templates", "vars") for path in (role / part).glob("*"))
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def shared_roles(role: Path) -> list[Path]:
    """Return the shared roles that *role* includes or depends on."""
    names = {str((task.get("ansible.builtin.include_role") or {}).get("name")) for task in tasks_of(role)}
    names |= {dependency["role"] for dependency in read(role / "meta/main.yml")["dependencies"]}
    return [each for each in ROLES if each not in COMMANDS and f"psap.perf.{each.name}" in names]


@every_declaring_role
def test_images_are_pinned(role: Path) -> None:
    for option in spec_of(role).own_arguments:
        if option.name.endswith("image") and option.default:
            pinned = r"[\w.-]+\.\w+/[\w./-]+(:(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})"
            assert re.fullmatch(pinned, option.default), option.name


@every_command
def test_every_command_has_a_scenario(role: Path) -> None:
    group, _command = split_role(role.name)
    scenario = PROJECT / "molecule" / group
    texts = {path.name: path.read_text(encoding="utf-8") for path in scenario.glob("*.yml")}
    assert role.name in texts["molecule.yml"]
    assert any(
        role.name in text for name, text in texts.items() if name.startswith(("converge", "not_idempotent", "prepare"))
    )
    assert any(role.name in text for name, text in texts.items() if name.startswith("failing")), "the failing case"
