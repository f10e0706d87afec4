"""Pages of settings and presets, from their declarations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.secrets.formats import ANYTHING
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import FlowSpec, Option, as_markdown
from ansible_collections.psap.perf.plugins.module_utils.settings.static import list_presets

ALL_FLOWS = "shared"
"""The page of the settings that all flows share."""


def flow_page(project: Project, flow: FlowSpec) -> Iterator[str]:
    """Yield the lines of the page of a flow's own settings."""
    yield from (f"# Settings of {flow.name}", "", f"{flow.short_description}.", "")
    for paragraph in flow.description:
        yield from (as_markdown(paragraph), "")
    yield f"Declared in `playbooks/{flow.name}/settings.yml`; the [settings of all flows]({ALL_FLOWS}.md) apply too."
    yield from _preamble()
    for option in flow.settings:
        yield from _setting(project, option, "##")
    yield from _rules(flow)


def shared_page(project: Project, shared: FlowSpec) -> Iterator[str]:
    """Yield the lines of the page of the settings that all flows share, grouped by the first word of their names."""
    yield from ("# Settings of all flows", "", f"All are declared in `playbooks/{shared.name}/settings.yml`.")
    yield from _preamble()
    for section, options in groupby(sorted(shared.settings, key=lambda one: one.section), lambda one: one.section):
        yield from ("", f"## {section}_\u2026")
        for option in options:
            yield from _setting(project, option, "###")
    yield from _rules(shared)


def _preamble() -> Iterator[str]:
    yield ""
    yield "Presets, sites and the command line can set every setting ([precedence](../settings.md#precedence))."
    yield "Comments on pull requests can set only those that allow it ([pull requests](../ci.md))."


def _rules(flow: FlowSpec) -> Iterator[str]:
    if flow.rules:
        yield from ("", "## Rules", "", "Values that violate a rule are refused before anything is changed.", "")
        yield from ("| rule | message |", "|---|---|")
        yield from (f"| {_code(_cell(rule.test))} | {_cell(rule.message)} |" for rule in flow.rules)


def _setting(project: Project, option: Option, level: str) -> Iterator[str]:
    yield from ("", f"{level} `{option.name}`", "")
    for paragraph in option.description:
        yield from (as_markdown(paragraph), "")
    yield f":type: {_type(option)}"
    yield f":default: {'none; required' if option.required else _code(option.default)}"
    if option.choices:
        yield f":choices: {', '.join(map(_code, option.choices))}"
    if option.dimension:
        yield f":matrix: {_dimension(option)}"
    if option.arguments:
        yield f":sets: {', '.join(_argument(project, name) for name in option.arguments)}"
    if option.secret:
        format_ = "" if option.secret_format == ANYTHING else f", in the format `{option.secret_format}`"
        yield f":secret: a reference such as `env:NAME`{format_} ([secrets](../settings.md#secrets))"
    yield f":pull request: {'allowed' if option.pull_request else 'not allowed'}"
    if option.compare:
        yield f":comparison: {_COMPARE[option.compare]}"


_COMPARE = {"key": "runs are compared where it is equal", "ignore": "ignored"}


def _type(option: Option) -> str:
    return f"{option.type} of {option.elements}" if option.elements else option.type


def _dimension(option: Option) -> str:
    if option.varies:
        return "a list of values is an axis"
    leaves = "every leaf" if "*" in option.dimension else ", ".join(f"`{leaf}`" for leaf in option.dimension)
    return f"a list of values is an axis, of {leaves}"


def _argument(project: Project, name: str) -> str:
    role = project.role_of(name)
    return f"[`{name}`](../collection/{role}_role.rst)"


def _code(value: Any) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    fence = "``" if "`" in text else "`"
    return f"{fence}{' ' * (len(fence) - 1)}{text}{' ' * (len(fence) - 1)}{fence}"


def presets_page(project: Project) -> Iterator[str]:
    """Yield the lines of the page of all presets: their purposes, the presets that they extend, and their settings."""
    yield from ("# Presets", "", "Generated from `presets/*.yml`. Selection and precedence are described in")
    yield "[settings, presets and secrets](settings.md#presets); `perfdrv settings preset NAME` shows one."
    for preset in list_presets(project):
        yield from ("", f"## `{preset.name}`", "", f"{preset.comment[:1].upper()}{preset.comment[1:]}.", "")
        if preset.extends:
            yield from (f"It extends {', '.join(f'[`{name}`](#{name})' for name in preset.extends)}.", "")
        if preset.sets:
            yield from ("| setting | value |", "|---|---|")
        for key, value in preset.sets:
            yield f"| [`{key}`]({_place(project, key.partition('.')[0])}) | {_cell(_code(value))} |"


def _place(project: Project, setting: str) -> str:
    flow = next((name for name in project.flows if project.flow(name).setting(setting)), ALL_FLOWS)
    return f"settings/{flow}.md#{setting}"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")
