# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.run.judging import check, judge
from ansible_collections.psap.perf.plugins.modules.scale_test.judge import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Judge recordings against thresholds."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Check the thresholds; measure and judge when there is a recording."""
        thresholds, recording = context.args["thresholds"], context.args["recording"]
        names = check(thresholds, None if context.args["allow_unjudged"] else context.args["workloads"])
        if recording is None:
            return VerbResult()
        if context.check_mode:
            return VerbResult(skipped=f"check mode: would judge {', '.join(names)}")
        output = context.directory / "artifacts"
        document = judge(Path(recording), thresholds, output, unjudged_allowed=context.args["allow_unjudged"])
        return VerbResult(values={"verdict": document, "file": str(output / "verdict.json")})
