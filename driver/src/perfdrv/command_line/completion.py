"""Completion of values: flows, presets, sites, settings, runs.

An error would be printed into the user's command line, so outside a project the completers return nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem
from perfanalysis.files.runs_folder import LATEST, run_names

from perfdrv.ansible.sites import read_site
from perfdrv.command_line.session import current_project, current_runs_root
from perfdrv.errors import UsageError

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _complete(names: Callable[[click.Context, str], Iterable[str]]) -> Completer:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
        try:
            known = list(names(ctx, incomplete))
        except UsageError:
            return []
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]

    return complete


def _runs(ctx: click.Context, _incomplete: str) -> list[str]:
    return [*run_names(current_runs_root(ctx, ctx.params.get("runs_dir") or ctx.params.get("runs_directory"))), LATEST]


def _settings(ctx: click.Context, incomplete: str) -> Iterable[str]:
    """Return `NAME=` for the settings of the flow, or of all flows if none is given; after `NAME=`, its values."""
    content = current_project(ctx).content()
    name, equals, _value = incomplete.partition("=")
    if equals:
        option = content.setting(name) or content.argument(name)
        values = () if option is None else ("true", "false") if option.type == "bool" else option.choices
        return [f"{name}={value}" for value in values]
    # while an option has no value yet, click does not assign the arguments before it
    flow = next((word for word in (ctx.params.get("flow"), *ctx.args) if word in content.flows), None)
    names = content.names if flow is None else [option.name for option in content.settings_of(flow)]
    return [f"{name}=" for name in names]


def _hosts(ctx: click.Context, _incomplete: str) -> Iterable[str]:
    return sorted(read_site(current_project(ctx), ctx.params.get("site")).hosts)


complete_presets = _complete(lambda ctx, _: current_project(ctx).content().presets)
complete_flows = _complete(lambda ctx, _: current_project(ctx).content().flows)
complete_sites = _complete(lambda ctx, _: current_project(ctx).content().sites)
complete_names = _complete(lambda ctx, _: current_project(ctx).content().names)
complete_hosts = _complete(_hosts)
complete_runs = _complete(_runs)
complete_settings = _complete(_settings)
