# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.judging import check, judge
from ansible_collections.psap.perf.plugins.modules.scale_test.judge import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    thresholds: Mapping[str, Any]
    recording: str | None
    workloads: int | None
    allow_unjudged: bool


class ActionModule(PerfAction):
    """Judge recordings against thresholds."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Check the thresholds, and judge the recording if one is passed."""
        args = context.arguments(Arguments)
        names = check(args.thresholds, None if args.allow_unjudged else args.workloads)
        if args.recording is None:
            return VerbResult()
        if context.check_mode:
            return VerbResult(skipped=f"check mode: would judge {', '.join(names)}")
        output = context.directory / "artifacts"
        document = judge(Path(args.recording), args.thresholds, output, unjudged_allowed=args.allow_unjudged)
        return VerbResult(values={"verdict": document, "file": str(output / "verdict.json")})
