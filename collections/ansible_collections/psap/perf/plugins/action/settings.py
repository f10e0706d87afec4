# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible.plugins.loader import vars_loader
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain, write_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, CONCLUDE
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import cells
from ansible_collections.psap.perf.plugins.module_utils.settings.record import connection, settings_document
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option
from ansible_collections.psap.perf.plugins.modules.settings import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.settings.extra_vars import REPLAYED_RUN
from ansible_collections.psap.perf.plugins.plugin_utils.settings.gate import HostSettings, SettingsGate
from ansible_collections.psap.perf.plugins.plugin_utils.settings.preset_layers import MARKER, PresetLayers
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

SETTINGS_FILE = "settings.yml"


@dataclass(frozen=True, slots=True)
class Arguments:
    flow: str | None
    command: str | None


class ActionModule(PerfAction):
    """Check and record all settings before anything changes."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ansible's entry point; keeps the variables as they are before rendering, with their origins."""
        self._raw: Mapping[str, Any] = task_vars or {}
        return super().run(tmp, task_vars)

    def perform(self, context: VerbContext) -> VerbResult:
        """Report all problems, or write ``settings.yml``."""
        args = context.arguments(Arguments)
        flow, command = args.flow, args.command
        if (flow is None) == (command is None):
            raise UsageError("psap.perf.settings accepts either flow or command")
        if MARKER not in self._raw:
            raise UsageError(
                "the vars plugin psap.perf.presets is not enabled, so presets and defaults are missing; run in the "
                "project's folder, or set ANSIBLE_CONFIG to an ansible.cfg with "
                "vars_plugins_enabled = host_group_vars, psap.perf.presets"
            )
        layers: PresetLayers = vars_loader.get("psap.perf.presets").layers
        layers.check_files()
        gate = SettingsGate(layers.project, flow, command, secret=context.secret, incomplete=_only_cleans(context))
        unfit = [] if flow is None else layers.unfit_presets(flow, context.host)
        recorded = gate.check(self._hosts(context, layers), unfit)
        here = recorded[context.host]
        _check_export({name: one.value for name, one in here.items()}, context)
        others = {host: values for host, values in recorded.items() if host != context.host}
        values = {name: one.value for name, one in here.items()}
        presets = context.variables[MARKER]
        facts = {}
        if not _is_further_attempt(context):
            connected = connection(plain(layers.extra))
            write_yaml(context.run_directory / SETTINGS_FILE, settings_document(here, others, connected))
            facts = {"run_facts": {"presets": presets}}
        chosen = [] if flow is None else _cells(context, layers.project.settings_of(flow), values)
        role = {} if command is None else {"role": layers.project.role(command).full_name}
        return VerbResult(values={"settings": values, "presets": presets, "cells": chosen, **role, **facts})

    def _hosts(self, context: VerbContext, layers: PresetLayers) -> list[HostSettings]:
        """Return this host, then all others of the inventory."""
        hostvars = self._raw["hostvars"]
        found = [HostSettings(context.host, self._raw, context.variables, layers.layers(context.host))]
        for host in hostvars:
            if host != context.host:
                raw = hostvars.raw_get(host)
                found.append(HostSettings(host, raw, hostvars[host], layers.layers(host)))
        return found


def _check_export(values: Mapping[str, Any], context: VerbContext) -> None:
    """Refuse an export that cannot succeed, before anything is measured."""
    settings = ExportSettings.of(values)
    if settings.to:
        Store(settings.access(context.secret), settings.place(context.run).bucket).close()
        settings.terms()


def _cells(context: VerbContext, options: Sequence[Option], values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of the matrix that this process runs."""
    found = cells(options, values, values.get("matrix_skip_if") or [], values.get("matrix_experiments") or [])
    only = context.variables.get("perf_cells")
    return [asdict(cell) for cell in found if only is None or cell.index in {int(index) for index in only}]


def _only_cleans(context: VerbContext) -> bool:
    """Return whether the run only cleans up, which needs no complete values."""
    return {CLEANUP, CONCLUDE}.issuperset(context.variables["ansible_run_tags"])


def _is_further_attempt(context: VerbContext) -> bool:
    """Return whether this is a further attempt at a run, whose settings and origins are already recorded."""
    replayed = context.variables.get(REPLAYED_RUN)
    run = context.run_directory
    return replayed is not None and Path(str(replayed)).name == run.name and (run / SETTINGS_FILE).is_file()
