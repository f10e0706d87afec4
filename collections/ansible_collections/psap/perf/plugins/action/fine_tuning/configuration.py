# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml, write_json
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.configuration import merge_configuration
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.description import check_job, config_maps
from ansible_collections.psap.perf.plugins.modules.fine_tuning.configuration import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    base: str
    hyper_parameters: Mapping[str, Any]
    decided: Mapping[str, Any]
    job: Mapping[str, Any]
    programs: Mapping[str, tuple[str, ...]]


class ActionModule(PerfAction):
    """Create the configuration of a trainer."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Merge and record it."""
        args = context.arguments(Arguments)
        job = check_job(args.job)
        base = read_yaml(Path(self._find_needle("files", args.base)))
        configuration = merge_configuration(base, args.hyper_parameters, args.decided)
        write_json(context.directory / "src" / "config.json", configuration)
        made = config_maps(job, configuration, self._programs(args.programs))
        return VerbResult(values={"configuration": configuration, "config_maps": made})

    def _programs(self, files: Mapping[str, tuple[str, ...]]) -> dict[str, dict[str, str]]:
        """Return the text of each file of the role, or of one that includes it, by its name."""
        return {part: dict(map(self._program, given)) for part, given in files.items()}

    def _program(self, given: str) -> tuple[str, str]:
        path = Path(self._find_needle("files", given))
        return path.name, path.read_text(encoding="utf-8")
