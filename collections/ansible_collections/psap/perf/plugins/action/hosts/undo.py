# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.hosts import records
from ansible_collections.psap.perf.plugins.modules.hosts.undo import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.hosts import HostAction
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    patience: Seconds


class ActionModule(HostAction):
    """Undo what killed commands left on the host."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Undo each recorded work on the host; without a record, the host is not contacted."""
        patience_s = float(context.arguments(Arguments).patience)
        unfinished = records.unfinished(context.run_directory, self.host_of(context), self.becomes)
        for command, work in unfinished:
            if not context.check_mode:
                request = {
                    "patience": patience_s,
                    "directory": work.directory,
                    "environment": dict(work.environment),
                    "left": [list(argv) for argv in work.left],
                }
                self.on_host(context, "psap.perf.hosts.undo", request)
                records.end(command)
        directories = [work.directory for _at, work in unfinished]
        return VerbResult(changed=bool(unfinished), values={"directories": directories})
