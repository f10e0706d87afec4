"""`perfdrv settings show|explain|check|presets|preset|diff`: settings and presets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.settings.check import check_project
from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE
from ansible_collections.psap.perf.plugins.module_utils.settings.fitting import presets_of, unfit_preset
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import Layer
from ansible_collections.psap.perf.plugins.module_utils.settings.site import LOCALHOST
from ansible_collections.psap.perf.plugins.module_utils.settings.static import (
    all_layers,
    diff,
    effective,
    explain,
    list_presets,
    resolve_presets,
    values_of_run,
)
from click.shell_completion import CompletionItem

from perfdrv.ansible.sites import read_inventories, read_site
from perfdrv.command_line.completion import (
    complete_flows,
    complete_hosts,
    complete_names,
    complete_presets,
    complete_runs,
)
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.run_options import OrderedCommand, RunOptions, layer_options, presets_and_pairs
from perfdrv.command_line.session import current_project, runs_dir_option
from perfdrv.command_line.tables import print_table, value_text
from perfdrv.errors import EXIT_OK, EXIT_USAGE, UsageError
from perfdrv.project import Project
from perfdrv.runs.store import find_run

settings = SuggestingGroup("settings", help="Show, explain and check settings and presets.", no_args_is_help=True)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
# where flows run: playbooks/flow.yml
_FLOW_HOST = "sutest"
_host = click.option(
    "--host",
    shell_complete=complete_hosts,
    help=f"Show the values of this host of the site. [default: {_FLOW_HOST}, on which flows run]",
)


def _below_presets(project: Project, given: RunOptions, host: str | None) -> tuple[Layer, ...]:
    """Return the layers that the site gives to *host*, by default to the host on which flows run.

    Raises:
        UsageError: Ansible cannot read the site's inventory, or the site has no such host.
    """
    site = read_site(project, given.site)
    return site.layers_of(host or (_FLOW_HOST if _FLOW_HOST in site.hosts else LOCALHOST))


def _refuse_unfit(project: Project, flow: str, presets: Sequence[str]) -> None:
    """Refuse presets that change nothing of *flow*, as a run does."""
    content = project.content()
    for name in presets:
        assignments = resolve_presets(content, [(name, COMMAND_LINE)])
        if finding := unfit_preset(content, flow, name, COMMAND_LINE, assignments):
            raise UsageError(str(finding))


@settings.command("show", cls=OrderedCommand, short_help="Show settings with values and origins.")
@click.argument("flow", required=False, shell_complete=complete_flows)
@layer_options
@_host
@_as_json
@click.pass_context
def show_command(ctx: click.Context, /, flow: str | None, host: str | None, as_json: bool, **_layers: Any) -> None:
    """Show the settings of FLOW, or of all flows, with their values and the origins of the values."""
    project = current_project(ctx)

    given = RunOptions.of(ctx)
    presets, pairs = presets_and_pairs(given, project)
    named = project.flow(flow) if flow else None
    if named is not None:
        _refuse_unfit(project, named, presets)
    known = effective(project.content(), named, _below_presets(project, given, host), presets, pairs)
    found = {name: one for name, one in known.items() if project.content().setting(name) is not None}
    if as_json:
        document = {name: {"value": one.value, "origin": one.origin} for name, one in found.items()}
        click.echo(json.dumps(document, indent=2, default=str))
    else:
        rows = [(name, value_text(one.value), one.origin) for name, one in found.items()]
        print_table(("name", "value", "origin"), rows, empty="No flow declares a setting.")


@settings.command("explain", cls=OrderedCommand, short_help="Show a setting in every layer.")
@click.argument("name", shell_complete=complete_names)
@layer_options
@_host
@_as_json
@click.pass_context
def explain_command(ctx: click.Context, /, name: str, host: str | None, as_json: bool, **_layers: Any) -> None:
    """Show the value of the setting or argument NAME in every layer, lowest layer first."""
    project = current_project(ctx)

    given = RunOptions.of(ctx)
    below = _below_presets(project, given, host)
    known = all_layers(project.content(), None, below, *presets_and_pairs(given, project))
    found = explain(project.content(), None, known, name)
    if as_json:
        layers = [
            {"layer": one.kind, "value": one.value, "origin": one.origin, "wins": one.wins} for one in found.layers
        ]
        click.echo(json.dumps({"name": found.name, "value": found.value, "layers": layers}, indent=2, default=str))
        return
    click.echo(f"{found.name} = {value_text(found.value)}")
    if found.option is not None:
        choices = f", one of {', '.join(map(str, found.option.choices))}" if found.option.choices else ""
        click.echo(f"{found.option.type}{choices}. {found.option.help}")
    rows = [("->" if one.wins else "", one.kind, one.key, value_text(one.value), one.origin) for one in found.layers]
    print_table(("", "layer", "name", "value", "origin"), rows, empty="No layer sets this name.")


@settings.command("check")
@click.pass_context
def check_command(ctx: click.Context) -> int:
    """Check every declaration, preset and site of the project; no cluster is needed."""
    project = current_project(ctx)

    content = project.content()
    no_site, *sites = read_inventories(project, [None, *map(str, content.sites.values())])
    findings = check_project(content, dict(zip(content.sites, sites, strict=True)), no_site)
    for finding in findings:
        click.echo(str(finding))
    if findings:
        click.echo(f"Problems found: {len(findings)}.", err=True)
        return EXIT_USAGE
    counted = f"{len(content.flows)} flows, {len(content.roles)} commands, {len(content.presets)} presets"
    click.echo(f"{counted}, {len(content.sites)} sites: no problems found.")
    return EXIT_OK


@settings.command("presets")
@click.argument("flow", required=False, shell_complete=complete_flows)
@click.pass_context
def presets_command(ctx: click.Context, flow: str | None) -> None:
    """List the presets that fit FLOW, or all presets."""
    project = current_project(ctx)

    content = project.content()
    names = content.presets if flow is None else presets_of(content, project.flow(flow))
    rows = [(one.name, ", ".join(one.extends), one.comment) for one in list_presets(content) if one.name in names]
    print_table(("name", "extends", "purpose"), rows, empty="The project has no presets.")


@settings.command("preset")
@click.argument("name", shell_complete=complete_presets)
@click.pass_context
def preset_command(ctx: click.Context, name: str) -> None:
    """Show the settings of the preset NAME."""
    project = current_project(ctx)

    project.preset(name)
    (preset,) = (one for one in list_presets(project.content()) if one.name == name)
    click.echo(f"{preset.name}: {preset.comment} ({preset.where})")
    if preset.extends:
        click.echo(f"extends {', '.join(preset.extends)}")
    print_table(
        ("name", "value"), [(key, value_text(value)) for key, value in preset.sets], empty="The preset sets nothing."
    )


def _complete_side(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [*complete_presets(ctx, param, incomplete), *complete_runs(ctx, param, incomplete)]


@settings.command("diff", short_help="Show the settings that differ.")
@click.argument("left", shell_complete=_complete_side)
@click.argument("right", shell_complete=_complete_side)
@runs_dir_option
@click.pass_context
def diff_command(ctx: click.Context, left: str, right: str, runs_dir: Path | None) -> None:
    """Show the settings that differ between LEFT and RIGHT, each a run or a preset."""
    project = current_project(ctx)

    sides = [_values_of(project, name, runs_dir) for name in (left, right)]
    rows = [(one.name, value_text(one.left), value_text(one.right)) for one in diff(*sides)]
    print_table(("name", left, right), rows, empty="No setting differs.")


def _values_of(project: Project, name: str, runs_directory: Path | None) -> dict[str, Any]:
    """Return the settings of a run, or those with a preset applied."""
    content = project.content()
    if name in content.presets:
        known = effective(content, None, read_site(project, None).layers_of(), [name])
        return {key: one.value for key, one in known.items() if content.setting(key) is not None}
    try:
        return values_of_run(find_run(project.runs_root(runs_directory), name))
    except UsageError as error:
        raise UsageError(f"{name!r} is neither a preset nor a run: {error}") from error
