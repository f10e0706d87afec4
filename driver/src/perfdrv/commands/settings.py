"""`perfdrv settings show|explain|check|presets|diff`: settings without running anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from perfdrv.completion import complete_flows, complete_names, complete_presets, complete_runs
from perfdrv.errors import EXIT_OK, EXIT_USAGE, UsageError
from perfdrv.lazy import SuggestingGroup
from perfdrv.run_options import Given, OrderedCommand, presets_and_pairs, shared_options
from perfdrv.session import current_project

if TYPE_CHECKING:
    from perfdrv.project import Project

settings = SuggestingGroup("settings", help="Show, explain and check settings and presets.", no_args_is_help=True)
_LAYER_OPTIONS = ("presets", "settings", "extra_vars", "site")
_as_json = click.Option(["as_json", "--json"], is_flag=True, help="Print JSON.")
_host = click.Option(["--host"], default="localhost", show_default=True, help="As this host of the site sees them.")


def _layer_options() -> list[click.Parameter]:
    return [option for option in shared_options() if option.name in _LAYER_OPTIONS]


def _site_of(project: Project, given: Given, host: str) -> str | None:
    """The site that is looked at.

    Raises:
        UsageError: its inventory knows no *host*.
    """
    from ansible_collections.psap.perf.plugins.module_utils.settings.sites import hosts_of, names_all_hosts

    site = given.site or project.default_site()
    known = hosts_of(project.content(), site) if site else ("localhost",)
    if host not in known and (site is None or names_all_hosts(project.content(), site)):
        raise UsageError(f"The site {site or '(none)'} has no host {host!r}; it has {', '.join(known)}.")
    return site


def _show(ctx: click.Context, flow: str | None, host: str, as_json: bool, **_params: Any) -> int:
    project = current_project(ctx)
    from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective

    from perfdrv.tables import print_table, value_text

    given = Given.of(ctx)
    presets, pairs = presets_and_pairs(given, project)
    known = effective(
        project.content(),
        project.flow(flow) if flow else None,
        _site_of(project, given, host),
        presets,
        pairs,
        host,
    )
    found = {name: one for name, one in known.items() if project.content().setting(name) is not None}
    if as_json:
        document = {name: {"value": one.value, "origin": one.origin} for name, one in found.items()}
        click.echo(json.dumps(document, indent=2, default=str))
    else:
        rows = [(name, value_text(one.value), one.origin) for name, one in found.items()]
        print_table(("name", "value", "origin"), rows, empty="No flow declares a setting.")
    return EXIT_OK


def _explain(ctx: click.Context, name: str, host: str, as_json: bool, **_params: Any) -> int:
    project = current_project(ctx)
    from ansible_collections.psap.perf.plugins.module_utils.settings.static import explain

    from perfdrv.tables import print_table, value_text

    given = Given.of(ctx)
    presets, pairs = presets_and_pairs(given, project)
    told = explain(
        project.content(),
        None,
        _site_of(project, given, host),
        presets,
        pairs,
        name,
        host,
    )
    if as_json:
        layers = [
            {"layer": one.kind, "value": one.value, "origin": one.origin, "wins": one.wins} for one in told.layers
        ]
        click.echo(json.dumps({"name": told.name, "value": told.value, "layers": layers}, indent=2, default=str))
        return EXIT_OK
    click.echo(f"{told.name} = {value_text(told.value)}")
    if told.option is not None:
        choices = f", one of {', '.join(map(str, told.option.choices))}" if told.option.choices else ""
        click.echo(f"{told.option.type}{choices}. {told.option.help}")
    rows = [("->" if one.wins else "", one.kind, one.key, value_text(one.value), one.origin) for one in told.layers]
    print_table(("", "layer", "name", "value", "origin"), rows, empty="No layer sets it.")
    return EXIT_OK


def _check(ctx: click.Context) -> int:
    project = current_project(ctx)
    from ansible_collections.psap.perf.plugins.module_utils.settings.check import check_project

    content = project.content()
    findings = check_project(content)
    for finding in findings:
        click.echo(str(finding))
    if findings:
        click.echo(f"{len(findings)} to correct.", err=True)
        return EXIT_USAGE
    counted = f"{len(content.flows)} flows, {len(content.roles)} commands, {len(content.presets)} presets"
    click.echo(f"{counted}, {len(content.sites)} sites: all in order.")
    return EXIT_OK


def _presets(ctx: click.Context, name: str | None) -> int:
    project = current_project(ctx)
    from ansible_collections.psap.perf.plugins.module_utils.settings.static import list_presets

    from perfdrv.tables import print_table, value_text

    if name is None:
        rows = [(one.name, ", ".join(one.extends), one.comment) for one in list_presets(project.content())]
        print_table(("name", "extends", "what it is for"), rows, empty="There are no presets.")
        return EXIT_OK
    project.preset(name)
    (preset,) = (one for one in list_presets(project.content()) if one.name == name)
    click.echo(f"{preset.name}: {preset.comment} ({preset.where})")
    if preset.extends:
        click.echo(f"extends {', '.join(preset.extends)}")
    print_table(("name", "value"), [(key, value_text(value)) for key, value in preset.sets], empty="It sets nothing.")
    return EXIT_OK


def _diff(ctx: click.Context, left: str, right: str, runs_directory: Path | None) -> int:
    project = current_project(ctx)
    from ansible_collections.psap.perf.plugins.module_utils.settings.static import diff

    from perfdrv.tables import print_table, value_text

    sides = [_values_of(project, name, runs_directory) for name in (left, right)]
    rows = [(one.name, value_text(one.left), value_text(one.right)) for one in diff(*sides)]
    print_table(("name", left, right), rows, empty="No setting differs.")
    return EXIT_OK


def _values_of(project: Project, name: str, runs_directory: Path | None) -> dict[str, Any]:
    """The settings of a run, or those that a preset leads to."""
    from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective, values_of_run

    from perfdrv.store import find_run

    content = project.content()
    if name in content.presets:
        known = effective(content, None, project.default_site(), [name])
        return {key: one.value for key, one in known.items() if content.setting(key) is not None}
    try:
        return values_of_run(find_run(project.runs_root(runs_directory), name))
    except UsageError as error:
        raise UsageError(f"{name!r} is neither a preset nor a run. {error}") from error


def _complete_side(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [*complete_presets(ctx, param, incomplete), *complete_runs(ctx, param, incomplete)]


settings.add_command(
    OrderedCommand(
        "show",
        callback=click.pass_context(_show),
        help="Show the settings of FLOW, or of all flows, with their values and where these come from.",
        params=[
            click.Argument(["flow"], required=False, shell_complete=complete_flows),
            *_layer_options(),
            _host,
            _as_json,
        ],
    )
)
settings.add_command(
    OrderedCommand(
        "explain",
        callback=click.pass_context(_explain),
        help="Show what every layer says about the setting or argument NAME, lowest first.",
        params=[click.Argument(["name"], shell_complete=complete_names), *_layer_options(), _host, _as_json],
    )
)
settings.add_command(
    click.Command(
        "check",
        callback=click.pass_context(_check),
        help="Check every declaration, preset and site of the project, without Ansible.",
    )
)
settings.add_command(
    click.Command(
        "presets",
        callback=click.pass_context(_presets),
        help="List the presets, or show what NAME sets.",
        params=[click.Argument(["name"], required=False, shell_complete=complete_presets)],
    )
)
settings.add_command(
    click.Command(
        "diff",
        callback=click.pass_context(_diff),
        help="Show the settings in which LEFT and RIGHT differ; each is a run or a preset.",
        params=[
            click.Argument(["left"], shell_complete=_complete_side),
            click.Argument(["right"], shell_complete=_complete_side),
            click.Option(
                ["runs_directory", "--runs-dir"],
                type=click.Path(file_okay=False, path_type=Path),
                envvar="PERF_RUNS_DIR",
                help="The folder of all runs.",
            ),
        ],
    )
)
