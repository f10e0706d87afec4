"""The presets for a flow, and those that do not change it."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE, Where
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import Finding
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Assignment
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import resolve_presets


def presets_of(project: Project, flow: str) -> tuple[str, ...]:
    """Return the presets for *flow*: they set its own settings, or only shared ones.

    Raises:
        UsageError: If a preset is not well formed, or presets extend each other in a loop.
    """
    flows = {name: _flows_of(project, resolve_presets(project, [(name, COMMAND_LINE)])) for name in project.presets}
    return tuple(name for name, found in flows.items() if flow in found or not found)


# shared settings that name dimensions, which other flows do not have
_NAMING_DIMENSIONS = ("matrix_experiments", "matrix_skip_if")


def unfit_preset(
    project: Project, flow: str, name: str, where: Where, assignments: Iterable[Assignment]
) -> Finding | None:
    """Return the finding for a preset that only changes other flows than *flow*; None if it changes *flow*.

    The declared default of a shared setting is not a change, nor is a setting that names dimensions.

    Args:
        project: The project that declares the settings.
        flow: The flow for which the preset is given.
        name: The preset.
        where: The place where it is given.
        assignments: The assignments of it and of the presets that it extends.
    """
    assignments = tuple(assignments)
    others = _flows_of(project, assignments)
    if not others or flow in others or any(_changes_all_flows(project, one) for one in assignments):
        return None
    return Finding(
        str(where),
        f"the preset {name} does not change {flow}, only {' and '.join(others)}; "
        f"perfdrv settings presets {flow} lists the presets that fit",
    )


def _flows_of(project: Project, assignments: Iterable[Assignment]) -> list[str]:
    """Return the flows whose own settings a preset sets."""
    variables = {one.variable for one in assignments}
    return [flow for flow in project.flows if any(one.name in variables for one in project.flow(flow).settings)]


def _changes_all_flows(project: Project, one: Assignment) -> bool:
    if one.variable in _NAMING_DIMENSIONS or any(
        project.flow(flow).setting(one.variable) is not None for flow in project.flows
    ):
        return False
    option = project.option(one.variable)
    return option is None or bool(one.path) or bool(one.value != option.default)
