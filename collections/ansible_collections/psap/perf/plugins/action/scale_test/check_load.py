# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load_check import (
    check_load,
    fewest_workloads,
    pods_of,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command
from ansible_collections.psap.perf.plugins.modules.scale_test.check_load import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import (
    argument_spec,
    command_arguments,
    command_spec,
)
from ansible_collections.psap.perf.plugins.plugin_utils.scale_test import found_file
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_ROLE = Path(__file__).resolve().parents[3] / "roles" / "scale_test_submit"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the matrix."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arguments:
    settings: Mapping[str, Any]
    cells: tuple[Cell, ...]


class ActionModule(PerfAction):
    """Refuse settings that only the submission would refuse, before anything changes."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Check the settings in every cell."""
        args = context.arguments(Arguments)
        cells = [cell.values for cell in args.cells]
        check_load(
            args.settings,
            cells,
            lambda folder, named: found_file(self._found, folder, named),
            _other_arguments(context, args.settings),
            context.check_interrupted,
        )
        pods = [[asdict(kind) for kind in cell] for cell in pods_of(args.settings, cells)]
        return VerbResult(values={"pods": pods, "workloads": fewest_workloads(args.settings, cells)})

    def _found(self, folder: str, named: str) -> str:
        """Return the path that the command will find: its search starts in its role."""
        places = [str(_ROLE), str(_ROLE / "tasks")]
        return str(self._loader.path_dwim_relative_stack(places, folder, named))


def _other_arguments(context: VerbContext, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the validated arguments of the command that are not settings."""
    command = read_command(_ROLE, _ROLE)
    own = [option for option in command.arguments if f"scale_test_{option.short_name}" not in settings]
    command = replace(command, arguments=tuple(own))
    values = {option.short_name: value for option, value in command_arguments(command, context.variables)}
    checked = ArgumentSpecValidator(command_spec(command)).validate(values)
    if checked.error_messages:
        raise UsageError(f"{command.role}: {'; '.join(checked.error_messages)}")
    return dict(checked.validated_parameters)
