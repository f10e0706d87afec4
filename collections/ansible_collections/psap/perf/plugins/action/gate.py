# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import error_for_exit_code
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import failures_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


class ActionModule(PerfAction):
    """Fail if a task failed before in this attempt."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the failures that the callback recorded."""
        environment = RunEnvironment.read()
        failures = failures_of(context.run_directory, environment.attempt)
        if failures:
            first = failures[0]
            raise error_for_exit_code(
                first.exit_code, f"not started, because this failed before: {first.what}: {first.why}"
            )
        context.check_interrupted()
        return VerbResult()
