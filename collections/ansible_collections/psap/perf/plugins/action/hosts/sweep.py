# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.hosts import records
from ansible_collections.psap.perf.plugins.modules.hosts.sweep import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(HostAction):
    """Undo what was noted and not ended."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Ask the host for each; where nothing is noted it is not asked."""
        unfinished = records.unfinished(context.run_directory, self.host_of(context), self.becomes)
        for command, work in unfinished:
            if not context.check_mode:
                asked = {
                    "patience": seconds(context.args["patience"]),
                    "directory": work.directory,
                    "environment": dict(work.environment),
                    "left": [list(argv) for argv in work.left],
                }
                self.on_host(context, "psap.perf.hosts.sweep", asked)
                records.end(command)
        directories = [work.directory for _at, work in unfinished]
        return VerbResult(changed=bool(unfinished), values={"directories": directories})
