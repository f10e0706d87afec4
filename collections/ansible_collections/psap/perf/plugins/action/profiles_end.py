# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError
from ansible_collections.psap.perf.plugins.module_utils.profiling.results import FAILURE_FILE, FILE, check_profiles
from ansible_collections.psap.perf.plugins.modules.profiles_end import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Arguments:
    directory: str
    timeout: Seconds


class ActionModule(PerfAction):
    """Wait for profiles."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def perform(self, context: VerbContext) -> VerbResult:
        """Wait until the list of profiles is written."""
        args = context.arguments(Arguments)
        artifacts = Path(args.directory) / "artifacts"
        end = time.monotonic() + args.timeout
        while not (artifacts / FILE).is_file():
            context.check_interrupted()
            if (artifacts / FAILURE_FILE).is_file():
                raise DataQualityError((artifacts / FAILURE_FILE).read_text(encoding="utf-8").strip())
            if time.monotonic() > end:
                raise DataQualityError(
                    f"no profiles after {args.timeout:g} s: the process that fetches them was killed, or a component "
                    "does not respond"
                )
            time.sleep(_POLL_S)
        document = read_json(artifacts / FILE)
        check_profiles(document)
        return VerbResult(values={"profiles": document["profiles"]})
