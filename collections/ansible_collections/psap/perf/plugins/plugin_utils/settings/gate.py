"""The check at a run's start: the values of every host against the declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible.errors import AnsibleError
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.bindings import (
    arguments_over_settings,
    presets_over_bindings,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import (
    Finding,
    hidden_value,
    missing_value,
    unknown_name,
    wrong_together,
    wrong_value,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import (
    BASE,
    DEFAULT,
    EXTRA,
    MISSING,
    PRESET,
    Layer,
    SettledValue,
    settle,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.record import RecordedValue
from ansible_collections.psap.perf.plugins.module_utils.settings.secret_states import secret_problem
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import where

_MAGIC = frozenset(
    (
        "environment",
        "group_names",
        "groups",
        "hostvars",
        "inventory_dir",
        "inventory_file",
        "inventory_hostname",
        "inventory_hostname_short",
        "omit",
        "play_hosts",
        "playbook_dir",
        "role_name",
        "role_names",
        "role_path",
        "vars",
    )
)
_PLAY = "a play or include"


@dataclass(frozen=True, slots=True)
class HostSettings:
    """One host's variables, raw and rendered on access, and the layers below plays."""

    host: str
    raw: Mapping[str, Any]
    rendered: Mapping[str, Any]
    layers: list[Layer]


class SettingsGate:
    """Checks the settings of a flow, or the arguments of a single command."""

    def __init__(
        self,
        project: Project,
        flow: str | None,
        command: str | None,
        secret: Callable[[str], str],
        *,
        incomplete: bool = False,
    ) -> None:
        """Prepare the check of a flow or a command.

        Args:
            project: The project that declares the settings.
            flow: The flow; None for a command.
            command: The role of a single command; None for a flow.
            secret: Returns the value of a reference, or raises UsageError if it is missing.
            incomplete: Whether values may be without their credentials, as in a run that is only cleaned up.

        Raises:
            UsageError: If the flow or command does not exist.
        """
        self._project = project
        self._flow = None if flow is None else project.flow(flow)
        self._wanted = (
            {option.name: option for option in project.settings_of(flow)}
            if flow is not None
            else {option.name: option for option in project.command(command or "").arguments}
        )
        self._secret = secret
        self._incomplete = incomplete

    def check(self, hosts: list[HostSettings], more: Iterable[Finding] = ()) -> dict[str, dict[str, RecordedValue]]:
        """Return each host's settings.

        Args:
            hosts: The hosts to check.
            more: Findings in addition to those about values.

        Raises:
            UsageError: If there are problems; the message lists each once.
        """
        findings: dict[str, None] = dict.fromkeys(map(str, more))
        recorded: dict[str, dict[str, RecordedValue]] = {}
        for one in hosts:
            values = recorded[one.host] = {}
            for finding in self._check_host(one, values):
                findings[str(finding)] = None
        if findings:
            raise UsageError("\n".join(findings))
        return recorded

    def _check_host(self, host: HostSettings, recorded: dict[str, RecordedValue]) -> Iterator[Finding]:
        settled = settle(host.layers)
        yield from self._unknown_names(host, settled)
        yield from presets_over_bindings(self._project, host.layers)
        if self._flow is not None:
            yield from arguments_over_settings(self._project, self._flow.name, host.layers)
        else:
            absent = (option for option in self._wanted.values() if option.required and option.name not in host.raw)
            yield from (missing_value(option, str(COMMAND_LINE)) for option in absent)
        wrong = False
        for option in self._checked(host, settled):
            origin = _origin(host.raw[option.name], settled.get(option.name), self._project)
            for finding in self._check_value(host, option, origin, recorded):
                wrong = True
                yield finding
        if self._flow is not None and not wrong:
            origins = {name: one.origin for name, one in recorded.items()}
            yield from wrong_together(
                self._project, self._flow, {name: one.value for name, one in recorded.items()}, origins
            )

    def _check_value(
        self, host: HostSettings, option: Option, origin: str, recorded: dict[str, RecordedValue]
    ) -> Iterator[Finding]:
        try:
            value = plain(host.rendered[option.name])
        except AnsibleError as error:
            if option.required and MISSING in str(error):
                # the setting has only its default, which applies to flows
                yield missing_value(option, str(COMMAND_LINE))
                return
            yield Finding(origin, f"{option.name} cannot be rendered: {error}")
            return
        recorded[option.name] = RecordedValue(value, origin, option.secret, option.compare)
        if value is None and option.required:
            yield missing_value(option, origin)
            return
        found = list(wrong_value(option, value, origin))
        if not self._incomplete and (hidden := hidden_value(option, value, origin)) is not None:
            found.append(hidden)
        yield from found
        if option.secret and not found:
            for name, reference in option.references(value):
                if problem := secret_problem(option, reference, self._secret):
                    yield Finding(origin, f"{name}: {problem}")

    def _checked(self, host: HostSettings, settled: Mapping[str, SettledValue]) -> Iterator[Option]:
        """Yield the options to check: the flow's or command's own, and every argument that more than a binding sets."""
        for name in host.raw:
            if name in self._wanted:
                yield self._wanted[name]
            elif name in settled and settled[name].kind not in (BASE, DEFAULT):
                option = self._project.option(name)
                if option is not None:
                    yield option

    def _unknown_names(self, host: HostSettings, settled: Mapping[str, SettledValue]) -> Iterator[Finding]:
        strict = {
            one.variable: (".".join((one.variable, *one.path)), str(one.where))
            for source in host.layers
            if source.kind in (PRESET, EXTRA)
            for one in source.assignments
        }
        for name in {**host.raw, **strict}:
            if name in _MAGIC or "." in name:
                continue
            if name in strict:
                key, place = strict[name]
            else:
                key, place = str(name), _origin(host.raw[name], settled.get(name), self._project)
            finding = unknown_name(self._project, key, place, must_be_ours=name in strict)
            if finding is not None:
                yield finding


def _origin(raw: Any, settled: SettledValue | None, project: Project) -> str:
    """Return where the value in force comes from: its layer, or a play or include above the layers."""
    if settled is not None and (settled.value is raw or plain(settled.value) == plain(raw)):
        return settled.origin
    place = where(raw, project.root)
    return _PLAY if place is None else str(place)
