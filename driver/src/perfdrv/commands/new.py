"""`perfdrv new flow|command|kpi|package`: new files of a project, or of a package, as copies of tested ones."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import click
from ansible_collections.psap.perf.plugins.module_utils.base.naming import groups, split_role
from click.shell_completion import CompletionItem
from perfanalysis.errors import UsageError as DeclarationError
from perfanalysis.files.local_path import LocalPath
from perfanalysis.workloads.declared.loading import declaration, load_workload
from perfanalysis.workloads.declared.model import Statistic
from perfanalysis.workloads.kpis import Direction

from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.session import current_project
from perfdrv.commands.creating import (
    GROUPS,
    KINDS,
    Files,
    checked_name,
    flow_of_project,
    has_roles_path,
    is_clone,
    refuse_like_another,
    renamed,
    role_of_project,
    template,
    template_files,
    with_group,
    with_kpi,
    with_line_like,
    with_roles_path,
    with_scenario_of,
    with_tasks,
)
from perfdrv.errors import UsageError, unknown
from perfdrv.project import Project

_TEMPLATE_ONLY = "\n## As a template\n"
# first words of commands that change nothing; the copied command changes the cluster
_READING = ("capture", "has", "watch")
_LONGEST_TEXT = 100
_PACKAGE = Path(__file__).resolve().parents[1] / "starter" / "package"
_EXAMPLE = "perf_example"

new = SuggestingGroup(
    "new",
    help="Create a flow, a command, a KPI or a package that extends psap.perf, as copies of tested files.",
    no_args_is_help=True,
)


@new.command("flow", short_help="Create a flow.")
@click.argument("name")
@click.pass_context
def flow_command(ctx: click.Context, name: str) -> None:
    """Create the flow NAME, which you can run immediately.

    It is a copy of the smallest flow: a playbook with settings, a check, a preparation and a cell; a preset; a command
    that measures, with its molecule scenario; a kind of workload with KPIs and plots; tests; a page. Change it in small
    steps, and run it after each one.

    In a project of the installed collection, the copy is the playbook, its settings and tasks, and the preset; it runs
    the command of the copied flow.

    \b
    perfdrv new flow my_flow
    perfdrv run my_flow --site lab -p my_flow
    """
    project = current_project(ctx)
    name = checked_name("flow", name)
    copied = template(project)
    refuse_like_another(project, "flow", name)
    if not is_clone(project):
        _flow_of_project(project, name, copied)
        return
    files = Files(project.root)
    names = {copied["name"]: name}
    for path, text in template_files(project, [*copied["flow"], *copied["role"], *copied["scenario"]]):
        # the page's section about the template does not apply to the copy
        files.add(Path(renamed(str(path), names)), renamed(text.partition(_TEMPLATE_ONLY)[0], names))
    about = groups()[copied["name"]]
    files.change(GROUPS, lambda text: with_group(text, name, about))
    command = copied["command"]
    files.change(Path(copied["list"]), lambda text: with_line_like(text, command, renamed(command, names)))
    files.write()
    _print_files(
        files,
        f"perfdrv run {name} --site lab -p {name}    # on a lab: perflab up",
        f"ansible-playbook playbooks/{name}.yml -i inventories/lab -e @presets/{name}.yml    # the same",
        "perfdrv settings check",
        "make check",
        f"make molecule SCENARIOS={name}; python -m pytest tests/integration/flows/test_{name}.py",
    )


def _flow_of_project(project: Project, name: str, copied: Mapping[str, Any]) -> None:
    """Write a flow beside those of the installed collection."""
    files = Files(project.root)
    for path, text in flow_of_project(project, copied["name"], copied["command"], name):
        files.add(path, text)
    files.write()
    _print_files(
        files,
        f"perfdrv run {name} --site lab -p {name}    # on a lab: perflab up",
        f"ansible-playbook playbooks/{name}.yml -i inventories/lab -e @presets/{name}.yml    # the same",
        "perfdrv settings check",
    )


def _complete_groups(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in groups() if name.startswith(incomplete)]


@new.command("command", short_help="Create a command of the toolbox.")
@click.argument("group", shell_complete=_complete_groups)
@click.argument("name")
@click.option("--about", help="Purpose of a new GROUP, in one line.")
@click.pass_context
def command_command(ctx: click.Context, group: str, name: str, about: str | None) -> None:
    """Create the command NAME of GROUP, a role that you can run immediately.

    It is a copy of a small command, which applies a template, waits, captures the result and deletes the objects. The
    copy has argument specifications, the required rights, and a part of GROUP's molecule scenario.

    In a project of the installed collection, the copy is the role, in roles/, and a new GROUP has one word.

    \b
    perfdrv new command cluster start_pods
    perfdrv toolbox cluster start-pods --help
    """
    project = current_project(ctx)
    group, name = checked_name("group", group), checked_name("command", name)
    copied = template(project)
    role = f"{group}_{name}"
    _refuse_role(project, group, name)
    if not is_clone(project):
        _command_of_project(project, group, name, copied, about)
        return
    files = Files(project.root)
    old_group, old_name = split_role(copied["command"])
    names = {copied["command"]: role, f"{old_group}__{old_name}": f"{group}__{name}"}
    for path, text in template_files(project, copied["role"]):
        files.add(Path(renamed(str(path), names)), renamed(text, names))
    scenario = list(template_files(project, copied["scenario"]))
    if group in groups():
        _join_scenario(files, scenario, group, name, names)
    else:
        line = _one_line(about or groups()[old_group], "--about")
        files.change(GROUPS, lambda given: with_group(given, group, line))
        for path, text in scenario:
            files.add(
                Path("molecule", group, path.name), renamed(text, {**names, f"name: {old_group}": f"name: {group}"})
            )
    files.change(Path(copied["list"]), lambda text: with_line_like(text, copied["command"], role))
    files.write()
    words = role[len(group) + 1 :].replace("_", "-")
    _print_files(
        files,
        f"perfdrv toolbox {group.replace('_', '-')} {words} --help",
        f"perfdrv toolbox {group.replace('_', '-')} {words} --site lab    # on a lab: perflab up",
        "make check",
        f"make molecule SCENARIOS={group}",
    )


def _command_of_project(project: Project, group: str, name: str, copied: Mapping[str, Any], about: str | None) -> None:
    """Write the role of a command into a project of the installed collection."""
    if about is not None:
        raise UsageError("a group in a project has no description: omit --about")
    if group not in groups() and "_" in group:
        raise UsageError(f"invalid group {group!r}: use one word, because the project's roles are {group}_NAME")
    files = Files(project.root)
    for path, text in role_of_project(project, copied["command"], f"{group}_{name}"):
        files.add(path, text)
    if not has_roles_path(project.root / "ansible.cfg"):
        files.change(Path("ansible.cfg"), with_roles_path)
    files.write()
    words = f"{group} {name}".replace("_", "-")
    _print_files(
        files,
        f"perfdrv toolbox {words} --help",
        f"perfdrv toolbox {words} --site lab    # on a lab: perflab up",
        "perfdrv settings check",
    )


def _refuse_role(project: Project, group: str, name: str) -> None:
    role = f"{group}_{name}"
    if group not in groups():
        refuse_like_another(project, "group", group)
    longer = [
        other for other in groups() if other != group and len(other) > len(group) and f"{role}_".startswith(other)
    ]
    if longer:
        raise UsageError(f"{role!r} would be a command of the group {longer[0]}: pass that group, or another name")
    if name.split("_")[0] in _READING:
        words = ", ".join(_READING)
        raise UsageError(f"commands whose names begin with {words} change nothing, but the copied one does: rename it")
    begins = [option.name for option in project.content().every_setting if option.name.startswith(f"{role}_")]
    if begins:
        raise UsageError(f"the setting {begins[0]} begins like an argument of {role!r}: choose another name")


def _join_scenario(
    files: Files, scenario: Iterable[tuple[Path, str]], group: str, name: str, names: dict[str, str]
) -> None:
    """Add a file of each part to an existing scenario, except converge, which must change nothing when repeated."""
    folder = Path("molecule", group)
    if not (files.root / folder / "molecule.yml").is_file():
        raise UsageError(f"group {group} has no scenario to add to: {folder}/molecule.yml is missing")
    files.change(folder / "molecule.yml", lambda text: with_scenario_of(text, f"{group}_{name}"))
    for path, text in scenario:
        part = path.stem
        if part in ("molecule", "converge"):
            continue
        own = f"{part}_{name}.yml"
        files.add(folder / own, renamed(text, names))
        title = f"{part.capitalize()}, {group}_{name}"
        if (files.root / folder / path.name).is_file():
            files.change(folder / path.name, lambda given, t=title, o=own: with_tasks(given, t, o))  # type: ignore[misc]
        else:
            files.add(folder / path.name, with_tasks("---", title, own).replace("---\n\n", "---\n"))


def _kinds(project: Project) -> dict[str, Path]:
    return {path.parent.name: path for path in sorted((project.root / KINDS).glob("*/workload.yml"))}


def _complete_kinds(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    try:
        known = _kinds(current_project(ctx))
    except UsageError:
        return []
    return [CompletionItem(name) for name in known if name.startswith(incomplete)]


def _complete_columns(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    try:
        known = _kinds(current_project(ctx))
        # while an option has no value yet, click does not assign the arguments before it
        kind = next((word for word in (ctx.params.get("kind"), *ctx.args) if word in known), None)
        tables = declaration(known[kind].parent).tables if kind else {}
    except (UsageError, DeclarationError):
        return []
    names = [f"{table}.{column.name}" for table, declared in tables.items() for column in declared.columns]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@new.command("kpi", short_help="Declare a KPI.")
@click.argument("kind", shell_complete=_complete_kinds)
@click.argument("name")
@click.option("--of", "column", required=True, metavar="TABLE.COLUMN", shell_complete=_complete_columns,
              help="Column from which the KPI is computed.")  # fmt: skip
@click.option("--statistic", required=True, type=click.Choice(get_args(Statistic)), help="Statistic of the column.")
@click.option("--unit", required=True, help="Unit, such as seconds, bytes, ratio, pods or requests/s.")
@click.option("--direction", required=True, type=click.Choice(get_args(Direction)), help="Which values are better.")
@click.option("--about", required=True, help="Description of the KPI, in one line.")
@click.option(
    "--where", "wheres", multiple=True, metavar="COLUMN=VALUE", help="Use only rows with this value; repeatable."
)
@click.pass_context
def kpi_command(
    ctx: click.Context,
    kind: str,
    name: str,
    column: str,
    statistic: str,
    unit: str,
    direction: str,
    about: str,
    wheres: tuple[str, ...],
) -> None:
    """Declare the KPI NAME of the kind of workload KIND.

    A KPI is computed from a column of a table in the kind's workload.yml. Reports, thresholds, comparisons and
    histories then contain it, also for earlier runs. A flow that perfdrv new flow created has a kind of the same name.

    \b
    perfdrv new kpi my_flow pod_running_p95 --of pods.running_after_s --statistic p95 \\
        --unit seconds --direction lower --about "Time of a pod until it runs, P95"
    """
    project = current_project(ctx)
    name = checked_name("KPI", name)
    known = _kinds(project)
    path = known.get(kind.replace("-", "_"))
    if path is None:
        text = unknown("declared kind of workload", kind, known, f"ls {KINDS}")
        raise UsageError(f"{text}; for a kind written in Python, add a function to its kpis.py: docs/writing.md")
    lines = [
        f"  - name: {name}",
        f"    help: {json.dumps(_one_line(about, '--about'), ensure_ascii=False)}",
        f"    unit: {json.dumps(unit, ensure_ascii=False)}",
        f"    direction: {direction}",
        f"    of: {json.dumps(column)}",
        f"    statistic: {statistic}",
    ]
    if wheres:
        pairs = (_pair(text) for text in wheres)
        lines.append("    where: {" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in pairs) + "}")
    files = Files(project.root)
    files.change(path.relative_to(project.root), lambda text: with_kpi(text, lines))
    _refuse_declaration(path, files.changed[path.relative_to(project.root)])
    files.write()
    _print_files(
        files,
        "perfanalysis kpi latest    # of the latest run",
        f"perfanalysis judge latest --threshold {name}=LIMIT",
        "make check",
    )


@new.command("package", short_help="Create a Python package that extends psap.perf.")
@click.argument("name")
@click.argument("folder", metavar="[DIR]", required=False, type=LocalPath(file_okay=False))
def package_command(name: str, folder: Path | None) -> None:
    """Create the Python package NAME in DIR, by default a folder of its name.

    It adds a command, a function after each run, a kind of workload, an importer, a CI system and a load generator by
    entry points, and a command of the toolbox, a flow and a preset by a collection. It tests them. Remove what you do
    not need.

    \b
    perfdrv new package my_extension
    pip install --editable my_extension
    """
    name = checked_name("package", name)
    files = Files(folder or Path(name))
    for path in sorted(path for path in _PACKAGE.rglob("*") if path.is_file()):
        # .txt keeps tools from reading the files of the template as modules of perfdrv
        target = str(path.relative_to(_PACKAGE)).removesuffix(".txt")
        files.add(Path(renamed(target, _names_of(name))), renamed(path.read_text(encoding="utf-8"), _names_of(name)))
    files.root.mkdir(parents=True, exist_ok=True)
    files.write()
    _print_files(files, f"pip install --editable {files.root}", f"cd {files.root}", "python -m pytest")


def _names_of(package: str) -> dict[str, str]:
    return {_EXAMPLE: package, _EXAMPLE.upper(): package.upper()}


def _refuse_declaration(path: Path, text: str) -> None:
    """Refuse a declaration that cannot be loaded, by loading a copy of the kind."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, path.parent.name)
        shutil.copytree(path.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / path.name).write_text(text, encoding="utf-8")
        try:
            load_workload(copy)
        except DeclarationError as error:
            raise UsageError(f"{str(error).replace(str(copy), str(path.parent))}; nothing was written") from error


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"--where {text!r} has no value: write COLUMN=VALUE")
    return key, value if value in ("true", "false") or value.isdecimal() else json.dumps(value, ensure_ascii=False)


def _one_line(text: str, option: str) -> str:
    if not text.strip() or "\n" in text or len(text) > _LONGEST_TEXT or text.endswith(".") or ": " in text:
        raise UsageError(
            f"{option} {text!r} must be one line of at most {_LONGEST_TEXT} characters, without a full stop"
        )
    return text.strip()


def _print_files(files: Files, *commands: str) -> None:
    for path in files.added:
        click.echo(f"created  {path}")
    for path in files.changed:
        click.echo(f"changed  {path}")
    click.echo("next:")
    for command in commands:
        click.echo(f"  {command}")
