# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain, read_yaml, write_json
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.configuration import merged
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.description import checked, config_maps
from ansible_collections.psap.perf.plugins.modules.fine_tuning.configuration import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Create the configuration of a trainer."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Merge and keep it."""
        args = context.args
        job = checked(plain(args["job"]))
        base = read_yaml(Path(self._find_needle("files", args["base"])))
        configuration = merged(base, plain(args["hyper_parameters"]), plain(args["decided"]))
        write_json(context.directory / "src" / "config.json", configuration)
        made = config_maps(job, configuration, self._programs(args["programs"]))
        return VerbResult(values={"configuration": configuration, "config_maps": made})

    def _programs(self, files: dict[str, list[str]]) -> dict[str, dict[str, str]]:
        """The text of each file of the role, or of one that includes it, by its name."""
        return {part: dict(map(self._program, given)) for part, given in files.items()}

    def _program(self, given: str) -> tuple[str, str]:
        path = Path(self._find_needle("files", given))
        return path.name, path.read_text(encoding="utf-8")
