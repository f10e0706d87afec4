"""Checks of the declarations: names, defaults and rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.secrets.formats import ANYTHING
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import Finding, wrong_value
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.rules import names_in_expression
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import CommandSpec, FlowSpec, Option


def check_declarations(project: Project) -> Iterator[Finding]:
    """Yield the problems of flows' settings and commands' arguments.

    A finding about a file that cannot be read is ``fatal``: no other check is possible.
    """
    try:
        flows = [project.flow(name) for name in project.flows]
        shared = project.shared
        commands = list(project.every_command)
    except UsageError as error:
        where, _colon, message = str(error).partition(": ")
        yield Finding(where, message, fatal=True)
        return
    every_flow = [*flows, *([] if shared is None else [shared])]
    for flow in every_flow:
        yield from _check_names(project, flow, is_shared=flow is shared)
        yield from _check_rules(project, flow, is_shared=flow is shared)
    yield from _check_twice(project, every_flow)
    for command in commands:
        yield from _check_command(command)
    for name, problem in project.ambiguous_roles.items():
        yield Finding(name, problem)


def _check_names(project: Project, flow: FlowSpec, *, is_shared: bool) -> Iterator[Finding]:
    for option in flow.settings:
        place = str(option.where)
        if not is_shared and not option.name.startswith(flow.name + "_"):
            yield Finding(place, f"{option.name} must begin with {flow.name}_, the name of its flow")
        role = project.role_of(option.name)
        if role is not None:
            yield Finding(
                place,
                f"{option.name} looks like an argument of the command {role}; rename the setting so that it does not "
                f"begin with {role}_",
            )
        yield from _check_option(option)


def _check_option(option: Option) -> Iterator[Finding]:
    place = str(option.where)
    if not option.description:
        yield Finding(place, f"{option.name} has no description")
    if option.secret and option.default not in (None, "", {}):
        yield Finding(place, f"{option.name} is a secret; only an empty default is allowed")
    if option.secret_format != ANYTHING and not option.secret:
        yield Finding(place, f"{option.name} has a secret_format but not no_log; add no_log or remove secret_format")
    if option.secret and option.pull_request:
        yield Finding(place, f"{option.name} is a secret, which a pull request cannot set; remove pull_request")
    if option.default is not None:
        yield from wrong_value(option, option.default, place)


def _check_rules(project: Project, flow: FlowSpec, *, is_shared: bool) -> Iterator[Finding]:
    options = flow.settings if is_shared else project.settings_of(flow.name)
    known = {option.name for option in options}
    for rule in flow.rules:
        try:
            unknown = sorted(names_in_expression(rule.test) - known)
        except UsageError as error:
            yield Finding(str(rule.where), str(error))
            continue
        for name in unknown:
            yield Finding(str(rule.where), f"the rule reads {name}, which is not a setting of {flow.name}")


def _check_twice(project: Project, flows: list[FlowSpec]) -> Iterator[Finding]:
    own = set(project.flows)
    first: dict[str, Option] = {}
    bound: dict[str, list[Option]] = {}
    for flow in flows:
        for option in flow.settings:
            if option.name in first:
                yield Finding(str(option.where), f"{option.name} is already declared in {first[option.name].where}")
            first.setdefault(option.name, option)
            for argument in option.arguments:
                for other in bound.setdefault(argument, []):
                    # settings of different flows may bind one argument, but a shared setting is in all flows
                    if other.section == option.section or not {other.section, option.section} <= own:
                        yield Finding(
                            str(option.where), f"{argument} is already bound to {other.name}; remove one of the two"
                        )
                bound[argument].append(option)


def _check_command(command: CommandSpec) -> Iterator[Finding]:
    short_names = Counter(argument.short_name for argument in command.arguments)
    for argument in command.own_arguments:
        if not argument.name.startswith(command.role + "_"):
            yield Finding(str(argument.where), f"{argument.name} must begin with {command.role}_, the name of its role")
        if short_names[argument.short_name] > 1:
            yield Finding(str(argument.where), f"{argument.name} has the short name of a shared argument; rename it")
        yield from _check_option(argument)
